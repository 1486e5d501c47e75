import type { Chunk } from "@/api/types";
import { formatTime } from "@/lib/format";

/** The newest progress among the chunks of a call. */
export function lastProgress(chunks: readonly Chunk[]): Chunk | undefined {
  return chunks.findLast((c) => c.kind === "progress");
}

export function progressText(c: Chunk): string {
  const n =
    c.progress === undefined ? "" : c.total ? `${trim(c.progress)} of ${trim(c.total)}` : trim(c.progress);
  return [n, c.message].filter(Boolean).join(", ");
}

function trim(n: number): string {
  return Number.isInteger(n) ? String(n) : n.toFixed(1);
}

export function ProgressBar({ chunk }: { chunk: Chunk }) {
  const known = chunk.progress !== undefined && chunk.total !== undefined && chunk.total > 0;
  if (!known) return null;
  const share = Math.max(0, Math.min(1, (chunk.progress ?? 0) / (chunk.total ?? 1)));
  return (
    <div
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      aria-valuetext={progressText(chunk)}
      className="h-1.5 w-full overflow-hidden rounded-full border border-line bg-sunken"
    >
      <div className="h-full bg-accent" style={{ width: `${share * 100}%` }} />
    </div>
  );
}

/** What a running call said so far. */
export function ChunkList({ chunks }: { chunks: readonly Chunk[] }) {
  if (chunks.length === 0) return null;
  const progress = lastProgress(chunks);
  return (
    <div className="grid grid-cols-1 gap-1.5">
      {progress && <ProgressBar chunk={progress} />}
      <ol
        aria-label="Progress and log of the call"
        className="grid max-h-40 gap-0.5 overflow-y-auto font-mono text-xs"
      >
        {chunks.slice(-50).map((c) => (
          <li key={c.seq} className="flex gap-2">
            <span className="nums shrink-0 text-ink-3">{formatTime(c.at)}</span>
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {c.kind === "log" && c.level && <span className="mr-1 text-ink-3">{c.level}</span>}
              {c.kind === "progress" ? progressText(c) : c.message}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
