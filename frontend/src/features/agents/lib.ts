import type { Agent, ToolRef } from "@/api/types";

export function newAgent(): Agent {
  return {
    id: "",
    name: "",
    instructions: "",
    providerId: "",
    model: "",
    toolChoice: "all",
    servers: [],
    tools: [],
  };
}

export function sameRef(a: ToolRef, b: ToolRef): boolean {
  return a.kind === b.kind && (a.server ?? "") === (b.server ?? "") && a.name === b.name;
}

/** "All tools", "No tools", "2 servers and 3 tools". */
export function choiceSentence(a: Agent): string {
  if (a.toolChoice === "all") return "All tools";
  if (a.toolChoice === "none") return "No tools";
  const parts = [
    a.servers.length ? `${a.servers.length} ${a.servers.length === 1 ? "server" : "servers"}` : "",
    a.tools.length ? `${a.tools.length} ${a.tools.length === 1 ? "tool" : "tools"}` : "",
  ].filter(Boolean);
  return parts.length ? parts.join(" and ") : "No tools chosen yet";
}
