import { Bot, Plus } from "lucide-react";
import type { Agent } from "@/api/types";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { choiceSentence } from "../lib";

interface AgentListProps {
  agents: readonly Agent[];
  modelOf: (a: Agent) => string;
  onEdit: (a: Agent) => void;
  onNew: () => void;
}

export function AgentList({ agents, modelOf, onEdit, onNew }: AgentListProps) {
  return (
    <div className="grid grid-cols-1 gap-3">
      <ul className="grid divide-y divide-line rounded-lg border border-line bg-surface">
        {agents.map((a) => (
          <li key={a.id} className="flex min-h-14 items-center gap-3 px-3 py-2">
            <Bot className="size-4 shrink-0 text-ink-3" aria-hidden />
            <div className="min-w-0 flex-1">
              <p className="flex items-center gap-2">
                <span className="truncate font-medium">{a.name}</span>
                {a.builtIn && <Badge>built in</Badge>}
              </p>
              <p className="truncate text-ink-2 text-xs">
                {modelOf(a)}, {choiceSentence(a).toLowerCase()}
              </p>
            </div>
            <Button size="sm" onClick={() => onEdit(a)} aria-label={`Edit ${a.name}`}>
              Edit
            </Button>
          </li>
        ))}
      </ul>
      <Button className="justify-self-start" onClick={onNew}>
        <Plus /> New agent
      </Button>
    </div>
  );
}
