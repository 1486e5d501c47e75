import { Play, Square } from "lucide-react";
import { type KeyboardEvent, type RefObject, useId, useImperativeHandle } from "react";
import type { ToolView } from "@/api/types";
import { ChunkList } from "@/components/chunks";
import { CodeEditor } from "@/components/code-editor";
import { ErrorNote } from "@/components/error-note";
import { useChunks } from "@/components/run-context";
import { SchemaForm } from "@/components/schema-form";
import { StatusIcon } from "@/components/status-icon";
import { Button } from "@/components/ui/button";
import { useNow } from "@/components/use-now";
import { formatElapsed, formatMillis } from "@/lib/format";
import { isRecord } from "@/lib/json";
import { isMod, modName } from "@/lib/platform";
import { callLooks } from "@/lib/status";
import { type Execute, isRunning, useTrial } from "../hooks/use-trial";
import type { Run, Trial } from "../store";
import { BatchRun } from "./batch";
import { Outcome } from "./outcome";
import { SavedRequests } from "./saved-requests";

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

const modeNames: Record<Trial["mode"], string> = { form: "Form", json: "Raw JSON", batch: "Rows" };

/** Runs one tool by hand: a form from its schema, raw JSON, or many rows at once. */
export function TryIt({ view, waiting, onServer, execute, runRef }: TryItProps) {
  const { tool } = view;
  const { trial, value, problem, shown, running, run, cancel, setMode, change, load, canForm } = useTrial(
    tool,
    execute,
  );
  useImperativeHandle(runRef, () => () => void run());
  const chunks = useChunks(shown?.callId ?? "");
  const problemId = useId();
  const prefix = useId();
  const modes = (["form", "json", "batch"] as const).filter((m) => m !== "form" || canForm);

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
      <div className="flex flex-wrap gap-1" role="group" aria-label="How to write the arguments">
        {modes.map((m) => (
          <Button
            key={m}
            size="sm"
            variant={trial.mode === m ? "secondary" : "ghost"}
            aria-pressed={trial.mode === m}
            onClick={() => setMode(m)}
          >
            {modeNames[m]}
          </Button>
        ))}
      </div>
      {trial.mode === "batch" ? (
        <BatchRun view={view} waiting={waiting} execute={execute} onServer={onServer} />
      ) : (
        <>
          {trial.mode === "form" && isRecord(tool.inputSchema) ? (
            <SchemaForm
              idPrefix={prefix}
              schema={tool.inputSchema}
              value={trial.args}
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
            <Button
              variant="primary"
              disabled={problem !== "" || !!tool.broken}
              aria-describedby={problem ? problemId : undefined}
              onClick={() => void run()}
              title={`${modName}+Enter`}
            >
              <Play /> Run
            </Button>
            {running && (
              <Button onClick={cancel} aria-keyshortcuts="Escape">
                <Square className="size-3! fill-current" /> Cancel
              </Button>
            )}
            {!execute && (
              <SavedRequests toolRef={tool.ref} value={isRecord(value) ? value : undefined} onLoad={load} />
            )}
            {problem && (
              <p id={problemId} className="min-w-0 text-ink-2 text-xs [overflow-wrap:anywhere]">
                {problem}
              </p>
            )}
            {shown && running && <Elapsed run={shown} waiting={waiting?.has(shown.callId) ?? false} />}
          </div>
          {tool.broken && <p className="text-danger text-sm">{tool.broken}</p>}
          {trial.runs.length > 1 && (
            <RunList
              runs={trial.runs}
              shown={shown?.callId}
              waiting={waiting}
              onShow={(callId) => change({ shown: callId })}
            />
          )}
          <ChunkList chunks={chunks} />
          {shown?.error !== undefined && (
            <ErrorNote
              error={shown.error}
              title={`${tool.ref.name} could not be run.`}
              onRetry={() => void run()}
            />
          )}
          {shown?.output && <Outcome key={shown.callId} output={shown.output} onServer={onServer} />}
        </>
      )}
    </section>
  );
}

function Elapsed({ run, waiting }: { run: Run; waiting: boolean }) {
  const now = useNow(true, 500);
  return (
    <p className="nums text-ink-2 text-sm" role="timer" aria-live="off">
      {waiting ? "Waiting for your approval" : "Running"}, {formatElapsed(now - run.startedAt)}
    </p>
  );
}

interface RunListProps {
  runs: readonly Run[];
  shown?: string;
  waiting?: ReadonlySet<string>;
  onShow: (callId: string) => void;
}

/** The runs of one tool, the newest first; several may be under way. */
function RunList({ runs, shown, waiting, onShow }: RunListProps) {
  return (
    <div className="flex flex-wrap gap-1" role="group" aria-label="Runs">
      {runs.map((r, i) => {
        const status = isRunning(r)
          ? waiting?.has(r.callId)
            ? "waiting"
            : "running"
          : (r.output?.status ?? "failed");
        const look = callLooks[status];
        return (
          <Button
            key={r.callId}
            size="sm"
            variant={r.callId === shown ? "secondary" : "ghost"}
            aria-pressed={r.callId === shown}
            onClick={() => onShow(r.callId)}
          >
            <StatusIcon look={look} />
            {`Run ${runs.length - i}: ${look.word}`}
            {r.output && <span className="nums text-ink-3">{formatMillis(r.output.millis)}</span>}
          </Button>
        );
      })}
    </div>
  );
}
