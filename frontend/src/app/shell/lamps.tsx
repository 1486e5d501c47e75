import { StatusIcon } from "@/components/status-icon";
import { Tip } from "@/components/ui/tooltip";
import { arrange } from "@/lib/servers";
import { lookOf, serverSentence } from "@/lib/status";
import { useListedServers } from "../use-listed-servers";

const most = 8;

/** The live servers as a row of small lamps. */
export function Lamps({ onOpen }: { onOpen: (name?: string) => void }) {
  const servers = (useListedServers() ?? []).filter((s) => s.status.state !== "off");
  if (servers.length === 0) return null;
  // Where not all have room, what is wrong comes first.
  const shown = arrange(servers, "all", "").slice(0, most);
  return (
    <div role="group" aria-label="Servers" className="flex shrink-0 items-center max-md:hidden">
      {shown.map((s) => {
        const look = lookOf(s);
        return (
          <Tip
            key={s.spec.name}
            text={
              <>
                <span className="font-mono">{s.spec.name}</span>: {serverSentence(s)}
              </>
            }
          >
            <button
              type="button"
              aria-label={`${s.spec.name}: ${look.word}`}
              onClick={() => onOpen(s.spec.name)}
              className="flex size-6 items-center justify-center rounded-md hover:bg-hover"
            >
              <StatusIcon look={look} className="size-3.5" />
            </button>
          </Tip>
        );
      })}
      {servers.length > most && (
        <button
          type="button"
          aria-label={`${servers.length - most} more servers`}
          onClick={() => onOpen()}
          className="nums h-6 min-w-6 rounded-md px-1 text-ink-2 text-xs hover:bg-hover"
        >
          +{servers.length - most}
        </button>
      )}
    </div>
  );
}
