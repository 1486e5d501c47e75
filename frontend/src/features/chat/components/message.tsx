import { ChevronRight } from "lucide-react";
import { memo } from "react";
import { CopyButton } from "@/components/copy-button";
import { Markdown } from "@/components/markdown";
import { Button } from "@/components/ui/button";
import { Callout } from "@/components/ui/callout";
import { cn } from "@/lib/cn";
import { formatFull, formatWhen } from "@/lib/format";
import type { Block, Entry } from "../lib/timeline";
import { useChatStore } from "../store";
import type { CardActions } from "./tool-card";
import { ToolGroup } from "./tool-group";

interface MessageProps {
  entry: Entry;
  actions: CardActions;
  /** Replies of one run stand close; the last of them says when it was written. */
  continues: boolean;
  ends: boolean;
  /** Only the last failed reply can be asked for again. */
  onRetry?: () => void;
}

export const MessageView = memo(function MessageView({
  entry,
  continues,
  ends,
  actions,
  onRetry,
}: MessageProps) {
  const text = entry.blocks
    .map((b) => (b.kind === "text" ? b.text : ""))
    .join("\n\n")
    .trim();
  if (entry.role === "user") {
    return (
      <article aria-label="You" className="group relative flex flex-col items-end">
        <div className="max-w-[85%] whitespace-pre-wrap rounded-lg border border-line bg-raised px-3 py-2 [overflow-wrap:anywhere]">
          {entry.blocks.map((b, i) => (
            <UserBlock key={i} block={b} />
          ))}
        </div>
        <Meta entry={entry} text={text} className="right-0" />
      </article>
    );
  }
  return (
    <article
      aria-label="Reply"
      aria-busy={entry.live}
      className={cn("group relative grid grid-cols-1 min-w-0 gap-2.5", continues && "-mt-5.5")}
    >
      {entry.blocks.map((b, i) => (
        <BlockView
          key={i}
          block={b}
          id={`${entry.id}-${i}`}
          live={entry.live && i === entry.blocks.length - 1}
          actions={actions}
        />
      ))}
      {entry.live && entry.blocks.length === 0 && <Waiting />}
      {entry.stopped && <p className="text-ink-3 text-xs">Stopped. The reply is not complete.</p>}
      {entry.error && (
        <Callout
          tone="danger"
          title="The model could not answer."
          actions={
            onRetry && (
              <Button size="sm" onClick={onRetry}>
                Try again
              </Button>
            )
          }
        >
          {entry.error}
        </Callout>
      )}
      {!entry.live && ends && text && <Meta entry={entry} text={text} />}
    </article>
  );
});

function Waiting() {
  return (
    <p className="flex items-center gap-2 text-ink-3 text-sm">
      <span className="size-2 animate-pulse rounded-full bg-accent" aria-hidden />
      Waiting for the model…
    </p>
  );
}

function Meta({ entry, text, className }: { entry: Entry; text: string; className?: string }) {
  return (
    <div
      className={cn(
        "absolute top-full flex h-7 items-center gap-1.5 text-ink-3 text-xs opacity-0 focus-within:opacity-100 group-hover:opacity-100",
        className,
      )}
    >
      <time dateTime={entry.at} title={formatFull(entry.at)} className="nums">
        {formatWhen(entry.at)}
      </time>
      {entry.origin && <span className="font-mono">{entry.origin}</span>}
      {text && <CopyButton text={text} label="Copy message" />}
    </div>
  );
}

function UserBlock({ block }: { block: Block }) {
  if (block.kind === "text") {
    return <p className={block.text.startsWith("/") ? "font-mono text-[13px]" : undefined}>{block.text}</p>;
  }
  if (block.kind === "image") {
    return (
      <img
        src={`data:${block.mimeType};base64,${block.data}`}
        alt="Attached by you"
        className="max-h-60 rounded-md"
      />
    );
  }
  return null;
}

function BlockView({
  block,
  id,
  live,
  actions,
}: {
  block: Block;
  id: string;
  live: boolean;
  actions: CardActions;
}) {
  switch (block.kind) {
    case "text":
      return <Markdown text={block.text} streaming={live} />;
    case "reasoning":
      return <Reasoning id={id} text={block.text} live={live} />;
    case "image":
      return (
        <img
          src={`data:${block.mimeType};base64,${block.data}`}
          alt="Made by the model"
          className="max-h-80 rounded-md border border-line"
        />
      );
    case "calls":
      return <ToolGroup calls={block.calls} actions={actions} />;
  }
}

function Reasoning({ id, text, live }: { id: string; text: string; live: boolean }) {
  const open = useChatStore((s) => s.open[id]) ?? false;
  const setOpen = useChatStore((s) => s.setOpen);
  return (
    <div className="grid grid-cols-1 gap-1">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(id, !open)}
        className="flex h-7 items-center gap-1.5 justify-self-start rounded-md px-1.5 text-ink-3 text-xs hover:bg-hover"
      >
        <ChevronRight className={cn("size-3.5", open && "rotate-90")} aria-hidden />
        {live ? "Thinking…" : "Thought"}
      </button>
      {open && (
        <div className="whitespace-pre-wrap border-line border-l-2 pl-3 text-ink-2 text-sm">{text}</div>
      )}
    </div>
  );
}
