import type { Capabilities } from "@/api/types";

/** What a tool may reach, one sentence each. */
function sentences(c: Capabilities): string[] {
  const each = (list: string[] | undefined, say: (name: string) => string) => (list ?? []).map(say);
  return [
    ...each(c.hosts, (h) => `Connect to ${h}`),
    ...each(c.folders, (f) => `Read files in ${f}`),
    ...each(c.writeFolders, (f) => `Read, change and create files in ${f}`),
    ...each(c.secrets, (s) => `Read the secret ${s}`),
    ...(c.tools ? c.tools.map((t) => `Call the tool ${t}`) : ["Call every tool that you allow when asked"]),
  ];
}

/** What next may reach and before could not. A tool that was off, or was not there, could call tools only. */
export function newReach(
  before: (Capabilities & { enabled: boolean }) | undefined,
  next: Capabilities & { enabled: boolean },
): string[] {
  if (!next.enabled) return [];
  const had = new Set(sentences(before?.enabled ? before : {}));
  // A list of tools takes away from what every tool may do anyway.
  const anyTool = had.has("Call every tool that you allow when asked");
  return sentences(next).filter((s) => !had.has(s) && !(anyTool && s.startsWith("Call the tool ")));
}

/** In short, for a heading: "2 hosts, 1 folder". */
export function reachSummary(c: Capabilities): string {
  const count = (n: number, one: string) => (n === 0 ? "" : `${n} ${one}${n === 1 ? "" : "s"}`);
  const parts = [
    count(c.hosts?.length ?? 0, "host"),
    count((c.folders?.length ?? 0) + (c.writeFolders?.length ?? 0), "folder"),
    count(c.secrets?.length ?? 0, "secret"),
    c.tools ? (c.tools.length === 0 ? "no tool" : count(c.tools.length, "tool")) : "",
  ].filter(Boolean);
  return parts.join(", ");
}
