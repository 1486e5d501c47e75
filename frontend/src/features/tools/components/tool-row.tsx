import { ChevronRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import type { ToolView } from "@/api/types";
import { TextBlock } from "@/components/json-view";
import { ToolBadges } from "@/components/tool-badges";
import { Badge } from "@/components/ui/badge";
import { Callout } from "@/components/ui/callout";
import { Switch } from "@/components/ui/switch";
import { Tab, TabList, TabPanel, Tabs } from "@/components/ui/tabs";
import { HoverTip } from "@/components/ui/tooltip";
import { cn } from "@/lib/cn";
import { pretty } from "@/lib/json";
import { parameterRows } from "@/lib/schema";
import { aboutTokens } from "@/lib/tokens";
import { toolKey } from "../lib/keys";
import { useToolsStore } from "../store";
import { TryIt } from "./try-it";

const effects = {
  allow: { word: "runs freely", tone: "neutral" },
  ask: { word: "asks first", tone: "warning" },
  deny: { word: "blocked", tone: "danger" },
} as const;

interface ToolRowProps {
  view: ToolView;
  waiting?: ReadonlySet<string>;
  onServer?: () => void;
  off?: boolean;
  onToggle?: (on: boolean) => void;
  control?: ReactNode;
}

/** One tool: its name, what its server says of it, and a way to try it. */
export function ToolRow({ view, waiting, onServer, off, onToggle, control }: ToolRowProps) {
  const { tool } = view;
  const key = toolKey(tool.ref);
  const open = useToolsStore((s) => s.open[key]) ?? false;
  const setOpen = useToolsStore((s) => s.setOpen);
  const bodyId = useId();
  const effect = effects[view.decision.effect];
  return (
    <div className="rounded-md border border-line bg-surface" data-tool={tool.ref.name}>
      <div className="flex items-center gap-2 pr-2">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={bodyId}
          onClick={() => setOpen(key, !open)}
          className="flex min-h-12 min-w-0 flex-1 items-center gap-3 rounded-md px-3 py-1.5 text-left hover:bg-hover"
        >
          <span className="grid min-w-0 flex-1">
            <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
              <span
                className={cn(
                  "min-w-0 truncate font-medium font-mono text-xs",
                  tool.broken && "line-through",
                  off && "text-ink-3",
                )}
              >
                {tool.ref.name}
              </span>
              {view.alias && view.alias !== tool.ref.name && !view.alias.endsWith(`__${tool.ref.name}`) && (
                <HoverTip text="Models know it by this name.">
                  <span className="min-w-0 truncate font-mono text-ink-3 text-xs">{view.alias}</span>
                </HoverTip>
              )}
              {tool.title !== tool.ref.name && (
                <span className="min-w-0 truncate text-ink-3 text-xs">{tool.title}</span>
              )}
            </span>
            <span dir="auto" className={cn("truncate text-xs", tool.broken ? "text-danger" : "text-ink-2")}>
              {tool.broken || firstSentence(tool.description)}
            </span>
          </span>
          <span className="flex shrink-0 flex-wrap justify-end gap-1">
            {off && <Badge>off</Badge>}
            {view.notOffered && !tool.broken && (
              <HoverTip text={`Not offered to models: ${view.notOffered}`}>
                <Badge tone="warning">not for models</Badge>
              </HoverTip>
            )}
            <ToolBadges annotations={tool.annotations} />
            {effect && !off && !control && view.decision.effect !== "allow" && (
              <HoverTip text={view.decision.why}>
                <Badge tone={effect.tone}>{effect.word}</Badge>
              </HoverTip>
            )}
          </span>
          <HoverTip text="About what its definition costs a model, in tokens">
            <span className="nums min-w-18 shrink-0 text-right text-ink-3 text-xs">
              <span className="sr-only">about </span>
              {aboutTokens(tool).toLocaleString("en-US")} tokens
            </span>
          </HoverTip>
          <ChevronRight className={cn("size-4 shrink-0 text-ink-3", open && "rotate-90")} aria-hidden />
        </button>
        {control}
        {onToggle && <Switch aria-label={`${tool.ref.name} on`} checked={!off} onCheckedChange={onToggle} />}
      </div>
      {open && (
        <div id={bodyId} className="border-line border-t px-3 pt-1 pb-3">
          <Body view={view} waiting={waiting} onServer={onServer} />
        </div>
      )}
    </div>
  );
}

function firstSentence(text: string): string {
  return text.split("\n").find((l) => l.trim()) ?? "";
}

function Body({ view, waiting, onServer }: ToolRowProps) {
  const { tool } = view;
  const rows = parameterRows(tool.inputSchema);
  return (
    <Tabs defaultValue="try" className="grid grid-cols-1 gap-3">
      {(view.notOffered || (view.warnings?.length ?? 0) > 0) && (
        <Callout tone="warning" title={view.notOffered ? "Not offered to models." : "Too long."}>
          {[view.notOffered, ...(view.warnings ?? [])].filter(Boolean).join(" ")}
        </Callout>
      )}
      <TabList aria-label={`About ${tool.ref.name}`}>
        <Tab value="try">Try it</Tab>
        <Tab value="about">Description</Tab>
        <Tab value="schema">Schema</Tab>
      </TabList>
      <TabPanel value="try">
        <TryIt view={view} waiting={waiting} onServer={onServer} />
      </TabPanel>
      <TabPanel value="about" className="grid grid-cols-1 gap-3">
        <p dir="auto" className="whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
          {tool.description || "The server gives no description."}
        </p>
        {rows.length > 0 && (
          <dl className="grid grid-cols-1 gap-2">
            {rows.map((r) => (
              <div key={r.name} className="grid grid-cols-1 gap-0.5 border-line border-l-2 pl-2">
                <dt className="flex flex-wrap items-baseline gap-2 font-mono text-xs">
                  {r.name} <span className="text-ink-3">{r.type}</span>
                  {r.required && <span className="font-sans text-ink-3">required</span>}
                </dt>
                {r.description && (
                  <dd dir="auto" className="text-ink-2 text-xs">
                    {r.description}
                  </dd>
                )}
              </div>
            ))}
          </dl>
        )}
        {view.alias && view.alias !== tool.ref.name && (
          <p className="text-ink-2 text-xs">
            Models call it <span className="font-mono">{view.alias}</span>.
          </p>
        )}
        {view.decision.why && <p className="text-ink-2 text-xs">{view.decision.why}</p>}
      </TabPanel>
      <TabPanel value="schema" className="grid grid-cols-1 gap-2">
        <TextBlock json label="Input schema" text={pretty(tool.inputSchema)} />
        {tool.outputSchema !== undefined && (
          <TextBlock json label="Output schema" text={pretty(tool.outputSchema)} />
        )}
      </TabPanel>
    </Tabs>
  );
}
