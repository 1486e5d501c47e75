import type { ServerView } from "@/api/types";
import { messageOf } from "@/components/error-note";
import { StatusIcon } from "@/components/status-icon";
import { Badge, toneText } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { useNow } from "@/components/use-now";
import { cn } from "@/lib/cn";
import { transportNames } from "@/lib/servers";
import { lookOf, type StateLook, serverSentence } from "@/lib/status";
import { type ReviewRow, willSave } from "../lib/review";

const saving: StateLook = { word: "Saving", shape: "ring", tone: "info", live: true };
const notAdded: StateLook = { word: "Not added", shape: "triangle-x", tone: "danger", live: false };
const skipped: StateLook = { word: "Skipped", shape: "slash", tone: "neutral", live: false };

interface ConnectRowsProps {
  rows: readonly ReviewRow[];
  servers: readonly ServerView[];
  onOpen: (name: string) => void;
}

/** The last step: every row with the live state of its server. */
export function ConnectRows({ rows, servers, onOpen }: ConnectRowsProps) {
  const now = useNow(true);
  return (
    <ul className="grid grid-cols-1 gap-2" aria-label="Servers that were added">
      {rows.map((row) => {
        const view = row.state === "saved" ? servers.find((s) => s.spec.name === row.spec.name) : undefined;
        const look = !willSave(row)
          ? skipped
          : row.state === "failed"
            ? notAdded
            : view
              ? lookOf(view)
              : saving;
        const sentence =
          row.state === "failed" ? messageOf(row.error) : view ? serverSentence(view, now) : look.word;
        return (
          <li
            key={row.key}
            data-testid="connect-row"
            className="flex items-start gap-2 rounded-lg border border-line bg-surface p-3"
          >
            <StatusIcon look={look} label={look.word} className="mt-0.5" />
            <div className="grid min-w-0 flex-1 gap-0.5">
              <span className="flex items-center gap-2">
                <span className="min-w-0 truncate font-medium font-mono text-xs">{row.spec.name}</span>
                <Badge className="h-4">{transportNames[row.spec.transport]}</Badge>
              </span>
              <span
                className={cn(
                  "text-sm [overflow-wrap:anywhere]",
                  look.tone === "neutral" || look.tone === "success" ? "text-ink-2" : toneText[look.tone],
                )}
              >
                {sentence}
              </span>
            </div>
            {row.state === "saved" && (
              <Button size="sm" aria-label={`Open ${row.spec.name}`} onClick={() => onOpen(row.spec.name)}>
                Open
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** "3 added, 1 needs sign-in, 1 skipped". */
export function connectSummary(rows: readonly ReviewRow[], servers: readonly ServerView[]): string {
  const saved = rows.filter((r) => r.state === "saved");
  const states = saved.map((r) => servers.find((s) => s.spec.name === r.spec.name)?.status.state);
  const count = (n: number, words: string) => (n > 0 ? `${n} ${words}` : "");
  const signIn = states.filter((s) => s === "needs_sign_in").length;
  const values = states.filter((s) => s === "needs_values").length;
  const failed = states.filter((s) => s === "failed" || s === "crash_loop").length;
  return [
    `${saved.length} added`,
    count(states.filter((s) => s === "connected").length, "connected"),
    count(signIn, signIn === 1 ? "needs sign-in" : "need sign-in"),
    count(values, values === 1 ? "needs values" : "need values"),
    count(failed, "failed"),
    count(rows.filter((r) => willSave(r) && r.state === "failed").length, "not added"),
    count(rows.filter((r) => !willSave(r)).length, "skipped"),
  ]
    .filter(Boolean)
    .join(", ");
}
