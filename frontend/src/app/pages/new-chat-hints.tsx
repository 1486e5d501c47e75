import { Button } from "@/components/ui/button";
import { modelLabel } from "@/features/models";
import { useServers } from "@/features/servers";
import { useTools } from "@/features/tools";
import { plural } from "@/lib/format";
import { useCurrentChat } from "../use-current-chat";
import { useExamples } from "../use-examples";
import { useNav } from "../use-nav";

/** A conversation without messages: who answers, with what, and a way to begin. */
export function NewChatHints({ onPropose }: { onPropose: (text: string) => void }) {
  const chat = useCurrentChat();
  const nav = useNav();
  const tools = (useTools().data ?? []).filter((t) => t.available && t.tool.ref.kind !== "builtin");
  const live = (useServers().data ?? []).filter((s) => s.status.state === "connected").length;
  const examples = useExamples();
  return (
    <div className="grid justify-items-start gap-3">
      <h2 className="font-semibold text-xl">{chat.agent?.name ?? "New chat"}</h2>
      <p className="text-ink-2">
        {modelLabel(chat.provider, chat.model)} answers
        {tools.length > 0
          ? `, with ${plural(tools.length, "tool")} from ${plural(live, "server")}.`
          : ", without tools so far."}
      </p>
      <div className="flex flex-wrap gap-2">
        {examples.map((e) => (
          <Button
            key={e}
            className={e.startsWith("/") ? "font-mono text-xs" : ""}
            onClick={() => onPropose(e)}
          >
            {e}
          </Button>
        ))}
        {tools.length === 0 && <Button onClick={() => nav.openTools("mcp")}>Add a server</Button>}
      </div>
      {chat.provider?.kind === "rehearsal" && (
        <p className="text-ink-3 text-xs">
          Rehearsal is no AI: it makes exactly the call you write, as{" "}
          <span className="font-mono">/call name {"{ arguments }"}</span>.
        </p>
      )}
    </div>
  );
}
