import { Button } from "@/components/ui/button";
import { useAgents } from "@/features/agents";
import { AuditPage } from "@/features/audit";
import { useNav } from "../use-nav";

export function AuditRoute() {
  const agents = useAgents().data;
  const nav = useNav();
  return (
    <AuditPage
      agentName={(id) => agents?.find((a) => a.id === id)?.name}
      onConversation={(id) => nav.toChat(id)}
      empty={
        <div className="grid justify-items-start gap-2">
          <p className="text-ink-2 text-sm">
            No call was made yet. The first one appears here, whoever makes it.
          </p>
          <Button onClick={() => nav.openTools("mcp")}>Try a tool</Button>
        </div>
      }
    />
  );
}
