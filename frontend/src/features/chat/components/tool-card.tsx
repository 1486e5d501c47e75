import { ChevronRight, Square } from "lucide-react";
import { memo, useId } from "react";
import { Arguments } from "@/components/arguments";
import { ChunkList, lastProgress, ProgressBar, progressText } from "@/components/chunks";
import { useChunks } from "@/components/run-context";
import { StatusIcon } from "@/components/status-icon";
import { ResultContent } from "@/components/tool-result";
import { toneText } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { useNow } from "@/components/use-now";
import { cn } from "@/lib/cn";
import { formatBytes, formatElapsed, formatMillis, millisSince } from "@/lib/format";
import { argumentSummary } from "@/lib/json";
import { type CallFacts, callLooks, callSentence, isOpen } from "@/lib/status";
import { useChatStore } from "../store";

export interface CardActions {
  onCancel(callId: string): void;
  /** Opens the tool with the call's arguments in the Tools dialog. */
  onTry(call: CallFacts): void;
  onServer(name: string): void;
  /** Puts a sentence into the composer. */
  onAskAgain(call: CallFacts): void;
  onApproval(callId: string): void;
}

/** How much of the arguments shows while they are written. */
const tail = 60;

/** One call of a run, in whatever state it is. */
export const ToolCard = memo(function ToolCard({ call, actions }: { call: CallFacts; actions: CardActions }) {
  const bodyId = useId();
  const chosen = useChatStore((s) => s.open[call.callId]);
  const setOpen = useChatStore((s) => s.setOpen);
  const chunks = useChunks(call.callId);
  const running = isOpen(call.status);
  const now = useNow(running);
  const look = callLooks[call.status];
  const open = chosen ?? false;
  const name = call.ref?.name ?? call.alias;
  const progress = running ? lastProgress(chunks) : undefined;
  const time = running
    ? call.startedAt && formatElapsed(millisSince(call.startedAt, now))
    : call.millis !== undefined && formatMillis(call.millis);
  const size = call.result?.bytes ? formatBytes(call.result.bytes) : "";
  const sentence = callSentence(call);
  const images = call.result?.content.filter((c) => c.type === "image");
  const pictures = images?.length ? images : undefined;

  return (
    <div
      role="group"
      aria-label={`${name}: ${look.word}`}
      data-call={call.callId}
      data-status={call.status}
      className="rounded-md border border-line bg-surface"
    >
      <div className="flex items-center">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={bodyId}
          onClick={() => setOpen(call.callId, !open)}
          className="flex min-h-9 min-w-0 flex-1 items-center gap-2 rounded-md px-2.5 py-1 text-left text-sm hover:bg-hover"
        >
          <StatusIcon look={look} />
          <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
            <span className="min-w-0 max-w-full truncate font-mono text-xs">
              {call.ref?.server && <span className="text-ink-3">{call.ref.server} / </span>}
              <span className="font-medium">{name}</span>
            </span>
            {call.status === "done" ? (
              <span className="min-w-0 flex-1 truncate text-ink-3 text-xs">
                {argumentSummary(call.arguments)}
              </span>
            ) : (
              <span className={cn("min-w-28 flex-1 truncate text-xs", toneText[look.tone])} title={sentence}>
                {call.status === "preparing" || look.word === sentence
                  ? sentence
                  : sentenceWith(look.word, sentence)}
                {call.status === "preparing" && (
                  <span className="ml-2 font-mono text-ink-3">{call.arguments.slice(-tail)}</span>
                )}
              </span>
            )}
          </span>
          <span className="nums shrink-0 whitespace-nowrap text-ink-3 text-xs">
            {[call.status === "done" ? look.word : "", time, size].filter(Boolean).join(" · ")}
          </span>
          <ChevronRight className={cn("size-4 shrink-0 text-ink-3", open && "rotate-90")} aria-hidden />
        </button>
        {call.status === "running" && (
          <Button size="sm" variant="ghost" className="mr-1" onClick={() => actions.onCancel(call.callId)}>
            <Square className="size-3! fill-current" /> Cancel
          </Button>
        )}
        {call.status === "waiting" && (
          <Button size="sm" variant="ghost" className="mr-1" onClick={() => actions.onApproval(call.callId)}>
            Answer
          </Button>
        )}
      </div>
      {progress && !open && (
        <div className="grid grid-cols-1 gap-1 px-2.5 pb-2">
          <ProgressBar chunk={progress} />
          <p className="nums truncate text-ink-2 text-xs">{progressText(progress)}</p>
        </div>
      )}
      {!open && pictures && (
        <div className="px-2.5 pb-2.5 [&_img]:max-h-52">
          <ResultContent result={{ content: pictures }} />
        </div>
      )}
      {open && (
        <div id={bodyId} className="grid grid-cols-1 gap-3 border-line border-t px-3 py-3">
          <section className="grid grid-cols-1 gap-1.5" aria-label="Arguments">
            <h4 className="font-medium text-ink-3 text-xs">Arguments</h4>
            <Arguments value={call.arguments} />
          </section>
          {chunks.length > 0 && <ChunkList chunks={chunks} />}
          {call.error && (
            <p className={cn("text-sm [overflow-wrap:anywhere]", toneText[look.tone])}>{call.error}</p>
          )}
          {call.result && (
            <section className="grid grid-cols-1 gap-1.5" aria-label="Result">
              <h4 className="font-medium text-ink-3 text-xs">Result</h4>
              <ResultContent result={call.result} />
            </section>
          )}
          {!running && <CardFooter call={call} actions={actions} />}
        </div>
      )}
    </div>
  );
});

function sentenceWith(word: string, sentence: string): string {
  return sentence.toLowerCase().startsWith(word.toLowerCase().split(" ")[0] ?? "")
    ? sentence
    : `${word}. ${sentence}`;
}

function CardFooter({ call, actions }: { call: CallFacts; actions: CardActions }) {
  const server = call.ref?.server;
  const bad = call.status !== "done";
  return (
    <div className="flex flex-wrap gap-2">
      {call.ref && (
        <Button size="sm" onClick={() => actions.onTry(call)}>
          {bad ? "Edit and run" : "Run again…"}
        </Button>
      )}
      {server && bad && (
        <Button size="sm" onClick={() => actions.onServer(server)}>
          Open server {server}
        </Button>
      )}
      {bad && (
        <Button size="sm" onClick={() => actions.onAskAgain(call)}>
          Ask again
        </Button>
      )}
    </div>
  );
}
