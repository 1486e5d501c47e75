import type { Capabilities, Connector, ConnectorAuth } from "@/api/types";

/** What a tool declares: one with code its capabilities, one without code its request. */
type Declared = Capabilities & { http?: Connector };

/** The name of the secret that a connector signs in with. */
export function secretName(auth: ConnectorAuth): string | undefined {
  return /^\$\{secret:([^{}$]*)\}$/.exec(auth.secret)?.[1];
}

/** The host of a request, which no argument can change. */
function hostOf(c: Connector): string {
  return /^[a-z]+:\/\/([^/?#]*)/i.exec(c.url)?.[1] ?? c.url;
}

/** What a tool may reach, one sentence each. */
function sentences(c: Declared): string[] {
  if (c.http) {
    const host = hostOf(c.http);
    const secret = c.http.auth && secretName(c.http.auth);
    return [
      `Send requests to ${host}`,
      ...(secret ? [`Send the secret ${secret} to ${host}`] : []),
      ...(c.http.allowPrivate ? [`Reach ${host} also on this computer or a private network`] : []),
    ];
  }
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
  before: (Declared & { enabled: boolean }) | undefined,
  next: Declared & { enabled: boolean },
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
