import { ChevronRight } from "lucide-react";
import { StatusIcon } from "@/components/status-icon";
import { cn } from "@/lib/cn";
import { formatMillis, plural } from "@/lib/format";
import { type CallFacts, callLooks, isOpen, needsEyes } from "@/lib/status";
import { useChatStore } from "../store";
import { type CardActions, ToolCard } from "./tool-card";

/** The calls of one turn. Folds when all went well; stays open when one needs eyes. */
export function ToolGroup({ calls, actions }: { calls: CallFacts[]; actions: CardActions }) {
  const id = `group-${calls[0]?.callId ?? ""}`;
  const chosen = useChatStore((s) => s.open[id]);
  const setOpen = useChatStore((s) => s.setOpen);
  if (calls.length === 1 && calls[0]) return <ToolCard call={calls[0]} actions={actions} />;

  const worst = calls.find((c) => c.status === "waiting") ?? calls.find((c) => needsEyes(c.status));
  const open = chosen ?? worst !== undefined;
  const running = calls.filter((c) => isOpen(c.status)).length;
  const millis = calls.reduce((sum, c) => sum + (c.millis ?? 0), 0);
  const failed = calls.filter((c) => !isOpen(c.status) && needsEyes(c.status)).length;
  const head = running
    ? `${plural(calls.length, "tool")}, ${calls.length - running} of ${calls.length} finished`
    : `Used ${plural(calls.length, "tool")}, ${formatMillis(millis)}`;

  return (
    <div role="group" aria-label={head} className="grid grid-cols-1 gap-1.5">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(id, !open)}
        className="flex min-h-8 items-center gap-2 rounded-md px-2 text-left text-ink-2 text-sm hover:bg-hover"
      >
        <StatusIcon look={callLooks[worst?.status ?? "done"]} />
        <span className="nums">
          {head}
          {failed > 0 && <span className="text-ink-3">, {failed} did not succeed</span>}
        </span>
        <ChevronRight className={cn("ml-auto size-4 text-ink-3", open && "rotate-90")} aria-hidden />
      </button>
      {open && (
        <div className="grid grid-cols-1 gap-1.5 border-line border-l-2 pl-2">
          {calls.map((c) => (
            <ToolCard key={c.callId} call={c} actions={actions} />
          ))}
        </div>
      )}
    </div>
  );
}
