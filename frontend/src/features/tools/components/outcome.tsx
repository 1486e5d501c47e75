import type { ExecuteOutput } from "@/api/types";
import { TextBlock } from "@/components/json-view";
import { StatusIcon } from "@/components/status-icon";
import { ResultContent } from "@/components/tool-result";
import { toneText } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Tab, TabList, TabPanel, Tabs } from "@/components/ui/tabs";
import { cn } from "@/lib/cn";
import { formatBytes, formatMillis } from "@/lib/format";
import { pretty } from "@/lib/json";
import { callLooks } from "@/lib/status";

interface OutcomeProps {
  output: ExecuteOutput;
  onServer?: () => void;
}

/** What a call came to: rendered, structured, raw, and as a model would see it. */
export function Outcome({ output, onServer }: OutcomeProps) {
  const look = callLooks[output.status];
  const r = output.result;
  const has = (r?.content?.length ?? 0) > 0 || r?.structuredContent !== undefined;
  return (
    <div className="grid grid-cols-1 gap-2" data-testid="outcome">
      <p className={cn("flex items-center gap-2 font-medium text-sm", toneText[look.tone])} role="status">
        <StatusIcon look={look} />
        {look.word}
        <span className="nums font-normal text-ink-3">
          {[formatMillis(output.millis), r?.bytes ? formatBytes(r.bytes) : ""].filter(Boolean).join(" · ")}
        </span>
      </p>
      {output.error && (
        <div className="flex items-start gap-2">
          <p className="min-w-0 flex-1 text-danger text-sm [overflow-wrap:anywhere]">{output.error}</p>
          {onServer && (output.status === "failed" || output.status === "timeout") && (
            <Button size="sm" onClick={onServer}>
              Show log
            </Button>
          )}
        </div>
      )}
      <Tabs defaultValue={has ? "rendered" : "model"} className="grid grid-cols-1 gap-2">
        <TabList aria-label="Result" className="flex-wrap">
          <Tab value="rendered">Rendered</Tab>
          <Tab value="structured" disabled={r?.structuredContent === undefined}>
            Structured
          </Tab>
          <Tab value="raw">Raw</Tab>
          <Tab value="model">What a model would see</Tab>
        </TabList>
        <TabPanel value="rendered">
          {has ? <ResultContent result={r} /> : <p className="text-ink-3 text-sm">No result.</p>}
        </TabPanel>
        <TabPanel value="structured">
          <TextBlock json label="Structured result" text={pretty(r?.structuredContent)} />
        </TabPanel>
        <TabPanel value="raw">
          <TextBlock json label="Raw result" text={pretty(r)} />
        </TabPanel>
        <TabPanel value="model">
          <TextBlock label="Text for the model" text={output.modelText} />
        </TabPanel>
      </Tabs>
    </div>
  );
}
