import { useMemo } from "react";
import { useServers } from "@/features/servers";
import { useTools } from "@/features/tools";
import type { ListedServer } from "@/lib/servers";

/** The servers, each with how many of its tools changed since they were allowed. */
export function useListedServers(): readonly ListedServer[] | undefined {
  const servers = useServers().data;
  const tools = useTools().data;
  return useMemo(() => {
    const changed = new Map<string, number>();
    for (const { tool, approval } of tools ?? []) {
      const of = tool.ref.kind === "mcp" ? tool.ref.server : undefined;
      if (of && approval.changed) changed.set(of, (changed.get(of) ?? 0) + 1);
    }
    return servers?.map((s) => ({ ...s, changed: changed.get(s.spec.name) }));
  }, [servers, tools]);
}
