import { useEffect, useRef } from "react";
import { CopyButton } from "@/components/copy-button";
import { ErrorNote } from "@/components/error-note";
import { useServerLog } from "../queries";

/** The latest lines of a server's log. */
export function ServerActivity({ name }: { name: string }) {
  const log = useServerLog(name);
  const end = useRef<HTMLDivElement>(null);
  const lines = log.data ?? [];
  const count = lines.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines show themselves
  useEffect(() => {
    end.current?.scrollIntoView?.({ block: "nearest" });
  }, [count]);
  if (log.error)
    return (
      <ErrorNote error={log.error} title="The log could not be read." onRetry={() => void log.refetch()} />
    );
  if (lines.length === 0)
    return <p className="text-ink-2 text-sm">Nothing logged yet. Lines appear when the server starts.</p>;
  return (
    <div className="grid grid-cols-1 gap-2">
      <div className="flex items-center justify-between">
        <h4 className="font-medium text-sm">Latest lines</h4>
        <CopyButton wide text={lines.join("\n")} label="Copy log" />
      </div>
      <div
        role="log"
        aria-label={`Log of ${name}`}
        className="rounded-md border border-line bg-sunken p-3 font-mono text-xs leading-normal"
      >
        {lines.map((l, i) => (
          <div key={i} className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            {l}
          </div>
        ))}
        <div ref={end} />
      </div>
    </div>
  );
}
