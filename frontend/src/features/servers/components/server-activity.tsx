import { useVirtualizer } from "@tanstack/react-virtual";
import {
  ArrowDown,
  ArrowUp,
  ChevronRight,
  Copy,
  FileText,
  Pause,
  Play,
  RotateCcw,
  Trash2,
} from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Activity } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { TextBlock } from "@/components/json-view";
import { copyAndTell, toastError } from "@/components/toast";
import { Button, IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { cn } from "@/lib/cn";
import { formatBytes, formatMillis } from "@/lib/format";
import { pretty, prettyText } from "@/lib/json";
import {
  type ActivityGroup,
  commandOf,
  filterActivity,
  groupNames,
  type Replay,
  replayOf,
} from "../lib/activity";
import { useActivity } from "../queries";
import { LogDialog } from "./log-dialog";

interface ServerActivityProps {
  name: string;
  onReplay: (replay: Replay) => void;
}

const groups = Object.keys(groupNames) as ActivityGroup[];

/** One timeline of what happened with a server: events, output, and the messages both ways. */
export function ServerActivity({ name, onReplay }: ServerActivityProps) {
  const { query, clear } = useActivity(name);
  const [hidden, setHidden] = useState<ReadonlySet<ActivityGroup>>(new Set());
  const [search, setSearch] = useState("");
  const [paused, setPaused] = useState<readonly Activity[]>();
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [logOpen, setLogOpen] = useState(false);
  const live = query.data ?? [];
  const all = paused ?? live;
  const shown = useMemo(() => filterActivity(all, hidden, search), [all, hidden, search]);
  const toggle = (set: ReadonlySet<ActivityGroup>, g: ActivityGroup) => {
    const next = new Set(set);
    if (!next.delete(g)) next.add(g);
    return next;
  };
  if (query.error)
    return (
      <ErrorNote
        error={query.error}
        title="The activity could not be read."
        onRetry={() => void query.refetch()}
      />
    );
  return (
    <div className="flex h-full min-h-0 flex-col gap-2" data-testid="activity">
      <div className="flex flex-wrap items-center gap-2">
        <Input
          type="search"
          className="min-w-40 flex-1"
          aria-label={`Search the activity of ${name}`}
          placeholder="Search activity"
          value={search}
          onChange={(e) => setSearch(e.target.value)}
        />
        <div className="flex gap-1" role="group" aria-label="What is shown">
          {groups.map((g) => (
            <Button
              key={g}
              size="sm"
              variant={hidden.has(g) ? "ghost" : "secondary"}
              aria-pressed={!hidden.has(g)}
              onClick={() => setHidden((h) => toggle(h, g))}
            >
              {groupNames[g]}
            </Button>
          ))}
        </div>
        <Button size="sm" aria-pressed={!!paused} onClick={() => setPaused(paused ? undefined : live)}>
          {paused ? <Play /> : <Pause />} {paused ? "Go on" : "Pause"}
        </Button>
        <IconButton
          size="icon-sm"
          label="Copy what is shown as JSON, without secrets"
          onClick={() => void copyAndTell(pretty(shown), `Copied ${shown.length} entries, without secrets`)}
        >
          <Copy />
        </IconButton>
        <IconButton size="icon-sm" label="Show the log file" onClick={() => setLogOpen(true)}>
          <FileText />
        </IconButton>
        <IconButton
          size="icon-sm"
          label="Clear the activity"
          onClick={() => clear().then(() => setPaused(undefined), toastError)}
        >
          <Trash2 />
        </IconButton>
      </div>
      {logOpen && <LogDialog name={name} onClose={() => setLogOpen(false)} />}
      {paused && live.at(-1)?.seq !== paused.at(-1)?.seq && (
        <p className="text-ink-2 text-xs" role="status">
          There is more since you paused.
        </p>
      )}
      {shown.length === 0 ? (
        <p className="text-ink-2 text-sm">
          {all.length === 0
            ? "Nothing has happened yet. Entries appear when the server starts."
            : "Nothing here matches. Change the search or what is shown."}
        </p>
      ) : (
        <Timeline
          name={name}
          entries={shown}
          follow={!paused}
          open={open}
          onOpen={(seq, on) =>
            setOpen((s) => {
              const next = new Set(s);
              if (on) next.add(seq);
              else next.delete(seq);
              return next;
            })
          }
          onReplay={onReplay}
        />
      )}
    </div>
  );
}

interface TimelineProps {
  name: string;
  entries: readonly Activity[];
  follow: boolean;
  open: ReadonlySet<number>;
  onOpen: (seq: number, open: boolean) => void;
  onReplay: (replay: Replay) => void;
}

function Timeline({ name, entries, follow, open, onOpen, onReplay }: TimelineProps) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: () => 26,
    overscan: 20,
    getItemKey: (i) => entries[i]?.seq ?? i,
  });
  const last = entries.at(-1)?.seq;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new entries show themselves to those who look at the end
  useEffect(() => {
    if (follow && atEnd.current) rows.scrollToIndex(entries.length - 1, { align: "end" });
  }, [last, follow]);
  return (
    <div
      ref={box}
      role="log"
      aria-live="off"
      aria-label={`Activity of ${name}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
      tabIndex={0}
      onScroll={(e) => {
        const el = e.currentTarget;
        atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < 40;
      }}
      className="min-h-0 flex-1 overflow-y-auto rounded-md border border-line bg-sunken font-mono text-xs"
    >
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => {
          const entry = entries[row.index];
          return (
            entry && (
              <div
                key={row.key}
                ref={rows.measureElement}
                data-index={row.index}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <Entry
                  entry={entry}
                  open={open.has(entry.seq)}
                  onOpen={(on) => onOpen(entry.seq, on)}
                  onReplay={onReplay}
                />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

interface EntryProps {
  entry: Activity;
  open: boolean;
  onOpen: (open: boolean) => void;
  onReplay: (replay: Replay) => void;
}

const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

function Entry({ entry: a, open, onOpen, onReplay }: EntryProps) {
  const time = <span className="nums shrink-0 text-ink-3">{clock.format(new Date(a.at))}</span>;
  if (a.kind !== "sent" && a.kind !== "received") {
    const word = a.kind === "event" ? "" : a.kind === "log" ? `log ${a.level ?? ""}` : a.kind;
    return (
      <div className="flex items-start gap-3 px-3 py-1">
        {time}
        <span
          className={cn(
            "min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]",
            a.kind === "event" && "text-ink-2",
          )}
        >
          {word && <span className="mr-2 text-ink-3">{word}</span>}
          {a.text}
        </span>
      </div>
    );
  }
  const sent = a.kind === "sent";
  const Arrow = sent ? ArrowUp : ArrowDown;
  const what = a.answer ? (a.failed ? "error" : "result") : a.id ? "request" : "notification";
  const replay = open ? replayOf(a) : undefined;
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => onOpen(!open)}
        className="flex w-full items-center gap-3 px-3 py-1 text-left hover:bg-hover"
      >
        {time}
        <Arrow className={cn("size-3.5 shrink-0", sent ? "text-info" : "text-success")} aria-hidden />
        <span className="sr-only">{sent ? "to the server" : "from the server"}</span>
        <span className="min-w-0 flex-1 truncate">
          {a.method || "(unknown)"} <span className={a.failed ? "text-danger" : "text-ink-3"}>{what}</span>
          {a.id && <span className="text-ink-3"> #{a.id}</span>}
        </span>
        {a.millis !== undefined && a.millis !== null && (
          <span className="nums shrink-0 text-ink-2">
            {a.millis < 1 ? `${a.millis} ms` : formatMillis(a.millis)}
          </span>
        )}
        <span className="nums w-16 shrink-0 text-right text-ink-3">{formatBytes(a.bytes ?? 0)}</span>
        <ChevronRight className={cn("size-3.5 shrink-0 text-ink-3", open && "rotate-90")} aria-hidden />
      </button>
      {open && (
        <div className="grid grid-cols-1 gap-2 px-3 pt-1 pb-3">
          {replay && (
            <div className="flex flex-wrap gap-2 font-sans">
              <Button size="sm" onClick={() => onReplay(replay)}>
                <RotateCcw /> Call again…
              </Button>
              <Button size="sm" onClick={() => void copyAndTell(commandOf(replay), "Copied as a command")}>
                <Copy /> Copy as a command
              </Button>
            </div>
          )}
          {a.cut && (
            <p className="font-sans text-ink-2">
              Only the begin and the end of this message were kept; it had {formatBytes(a.bytes ?? 0)}.
            </p>
          )}
          <TextBlock
            json={!a.cut}
            label={`${a.method ?? ""} ${what}`}
            text={a.cut ? a.text : prettyText(a.text)}
          />
        </div>
      )}
    </div>
  );
}
