import { Play, Square } from "lucide-react";
import { type KeyboardEvent, type RefObject, useId, useImperativeHandle } from "react";
import type { ToolView } from "@/api/types";
import { ChunkList } from "@/components/chunks";
import { CodeEditor } from "@/components/code-editor";
import { ErrorNote } from "@/components/error-note";
import { TextBlock } from "@/components/json-view";
import { useChunks } from "@/components/run-context";
import { SchemaForm } from "@/components/schema-form";
import { StatusIcon } from "@/components/status-icon";
import { ResultContent } from "@/components/tool-result";
import { toneText } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Tab, TabList, TabPanel, Tabs } from "@/components/ui/tabs";
import { useNow } from "@/components/use-now";
import { cn } from "@/lib/cn";
import { formatBytes, formatElapsed, formatMillis } from "@/lib/format";
import { isRecord, pretty } from "@/lib/json";
import { isMod, modName } from "@/lib/platform";
import { callLooks } from "@/lib/status";
import { type Execute, useTrial } from "../hooks/use-trial";

interface TryItProps {
  view: ToolView;
  /** The calls that wait for an approval. */
  waiting?: ReadonlySet<string>;
  onServer?: () => void;
  /** Makes the call in another way than by the tool's reference. */
  execute?: Execute;
  /** Lets what stands around it start a run. */
  runRef?: RefObject<(() => void) | null>;
}

/** Runs one tool by hand: a form from its schema, or raw JSON. */
export function TryIt({ view, waiting, onServer, execute, runRef }: TryItProps) {
  const { tool } = view;
  const { trial, problem, running, run, cancel, setMode, change, canForm } = useTrial(tool, execute);
  useImperativeHandle(runRef, () => () => void run());
  const chunks = useChunks(trial.callId ?? "");
  const now = useNow(running, 500);
  const problemId = useId();
  const prefix = useId();

  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Enter" && isMod(e)) {
      e.preventDefault();
      e.stopPropagation();
      void run();
    } else if (e.key === "Escape" && running) {
      e.preventDefault();
      e.stopPropagation();
      cancel();
    }
  };

  return (
    <section
      aria-label={`Try ${tool.ref.name}`}
      className="grid grid-cols-1 gap-3"
      onKeyDown={onKeyDown}
      data-testid="try-it"
    >
      {canForm && (
        <div className="flex gap-1" role="group" aria-label="How to write the arguments">
          {(["form", "json"] as const).map((m) => (
            <Button
              key={m}
              size="sm"
              variant={trial.mode === m ? "secondary" : "ghost"}
              aria-pressed={trial.mode === m}
              onClick={() => setMode(m)}
            >
              {m === "form" ? "Form" : "Raw JSON"}
            </Button>
          ))}
        </div>
      )}
      {trial.mode === "form" && isRecord(tool.inputSchema) ? (
        <SchemaForm
          idPrefix={prefix}
          schema={tool.inputSchema}
          value={trial.args}
          disabled={running}
          onChange={(args) => change({ args })}
        />
      ) : (
        <CodeEditor
          language="json"
          lint
          label="Arguments as JSON"
          className="h-40"
          describedBy={problem ? problemId : undefined}
          invalid={problem !== ""}
          value={trial.text}
          onChange={(text) => change({ text })}
        />
      )}
      <div className="flex flex-wrap items-center gap-2">
        {running ? (
          <Button onClick={cancel} aria-keyshortcuts="Escape">
            <Square className="size-3! fill-current" /> Cancel
          </Button>
        ) : (
          <Button
            variant="primary"
            disabled={problem !== "" || !!tool.broken}
            aria-describedby={problem ? problemId : undefined}
            onClick={() => void run()}
            title={`${modName}+Enter`}
          >
            <Play /> Run
          </Button>
        )}
        {problem && !running && (
          <p id={problemId} className="min-w-0 text-ink-2 text-xs [overflow-wrap:anywhere]">
            {problem}
          </p>
        )}
        {running && (
          <p className="nums text-ink-2 text-sm" role="timer" aria-live="off">
            {waiting?.has(trial.callId ?? "") ? "Waiting for your approval" : "Running"},{" "}
            {formatElapsed(now - (trial.startedAt ?? now))}
          </p>
        )}
      </div>
      {tool.broken && <p className="text-danger text-sm">{tool.broken}</p>}
      <ChunkList chunks={chunks} />
      {trial.error !== undefined && (
        <ErrorNote
          error={trial.error}
          title={`${tool.ref.name} could not be run.`}
          onRetry={() => void run()}
        />
      )}
      {trial.output && <Outcome key={trial.callId} view={view} output={trial.output} onServer={onServer} />}
    </section>
  );
}

interface OutcomeProps {
  view: ToolView;
  output: NonNullable<ReturnType<typeof useTrial>["trial"]["output"]>;
  onServer?: () => void;
}

function Outcome({ output, onServer }: OutcomeProps) {
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
