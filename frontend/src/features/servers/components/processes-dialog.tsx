import { ErrorNote } from "@/components/error-note";
import { Dialog } from "@/components/ui/dialog";
import { useNow } from "@/components/use-now";
import { formatAgo, formatBytes, formatFull, formatMillis } from "@/lib/format";
import { useProcesses } from "../queries";

/** What runs on this computer for a server, anew every two seconds. */
export function ProcessesDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { data, error, refetch } = useProcesses(name);
  const now = useNow(true, 2000);
  const list = data?.processes ?? [];
  const own = new Set(list.map((p) => p.pid));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Processes of ${name}`}
      description="The program that was started, and all that it started. Secrets are masked."
      className="w-[min(860px,calc(100vw-32px))]"
    >
      <div className="grid min-h-0 grid-cols-1 gap-2 overflow-y-auto px-4 pb-4" data-testid="processes">
        {error && !data && (
          <ErrorNote error={error} title="The processes could not be read." onRetry={() => void refetch()} />
        )}
        {!data && !error && <p className="text-ink-3 text-sm">Reading the processes…</p>}
        {data?.runsElsewhere && (
          <p className="text-sm [overflow-wrap:anywhere]">
            Runs elsewhere: <span className="font-mono text-xs">{data.runsElsewhere}</span>
          </p>
        )}
        {data && !data.runsElsewhere && list.length === 0 && (
          <p className="text-ink-2 text-sm">Nothing of {name} runs now.</p>
        )}
        {list.length > 0 && (
          <table className="nums w-full border-collapse text-left text-sm">
            <thead className="text-ink-3 text-xs">
              <tr>
                <th className="py-1 pr-3 font-medium whitespace-nowrap" scope="col">
                  Command
                </th>
                <th className="py-1 pr-3 text-right font-medium whitespace-nowrap" scope="col">
                  PID
                </th>
                <th className="py-1 pr-3 text-right font-medium whitespace-nowrap" scope="col">
                  Memory
                </th>
                <th className="py-1 pr-3 text-right font-medium whitespace-nowrap" scope="col">
                  CPU time
                </th>
                <th className="py-1 font-medium whitespace-nowrap" scope="col">
                  Started
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map((p) => (
                <tr key={p.pid} className="border-line border-t align-top">
                  <td
                    className={`w-full py-1.5 pr-3 font-mono text-xs [overflow-wrap:anywhere] ${own.has(p.parentPid) ? "pl-4" : ""}`}
                  >
                    {own.has(p.parentPid) && <span className="sr-only">started by {p.parentPid}: </span>}
                    {p.command || "Its command line is not told."}
                  </td>
                  <td className="whitespace-nowrap py-1.5 pr-3 text-right">{p.pid}</td>
                  <td className="whitespace-nowrap py-1.5 pr-3 text-right">
                    {p.memoryKb ? formatBytes(p.memoryKb * 1024) : "–"}
                  </td>
                  <td className="whitespace-nowrap py-1.5 pr-3 text-right">{formatMillis(p.cpuMillis)}</td>
                  <td
                    className="whitespace-nowrap py-1.5"
                    title={p.startedAt ? formatFull(p.startedAt) : undefined}
                  >
                    {p.startedAt ? formatAgo(p.startedAt, now) : "–"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </Dialog>
  );
}
