import type { ServerSpec, ServerView, Transport } from "@/api/types";
import { commandLine } from "./shell-words";
import { needsAttention, type SeenServer } from "./status";

export type ServerFilter = "all" | "on" | "attention" | "off";

export type ServerSort = "attention" | "name" | "tools";

export const transportNames: Record<Transport, string> = {
  stdio: "stdio",
  "streamable-http": "HTTP",
  sse: "SSE",
};

/** A server as the lists show it. */
export type ListedServer = ServerView & SeenServer;

export function matchesFilter(server: ListedServer, filter: ServerFilter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "on":
      return !server.spec.disabled;
    case "off":
      return server.spec.disabled === true || server.status.state === "off";
    case "attention":
      return needsAttention(server);
  }
}

/** Keeps what matches. By "attention", what needs a person comes first; else the order of tools.json stays. */
export function arrange(
  servers: readonly ListedServer[],
  filter: ServerFilter,
  search: string,
  sort: ServerSort = "attention",
): ListedServer[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = servers.filter((s) => {
    if (!matchesFilter(s, filter)) return false;
    const text = `${s.spec.name} ${target(s.spec)} ${s.status.serverTitle ?? ""}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
  const rank = (s: ListedServer) => (needsAttention(s) ? 0 : 1);
  const by: Record<ServerSort, (a: ListedServer, b: ListedServer) => number> = {
    attention: (a, b) => rank(a) - rank(b),
    name: (a, b) => a.spec.name.localeCompare(b.spec.name),
    tools: (a, b) => b.status.toolCount - a.status.toolCount,
  };
  return [...kept].sort(by[sort]);
}

/** The command line or the address: what the server really is. */
export function target(spec: ServerSpec): string {
  return spec.transport === "stdio" ? commandLine(spec.command ?? "", spec.args) : (spec.url ?? "");
}

/** A name that no server has yet: "github-2". */
export function freeName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name;
  for (let i = 2; ; i++) {
    const next = `${name}-${i}`;
    if (!taken.includes(next)) return next;
  }
}

/** Reads a place such as "env.API_KEY", "headers.Authorization" or "args.2". */
export function readPlace(spec: ServerSpec, place: string): string {
  const [group, key] = splitPlace(place);
  if (group === "env") return spec.env?.[key] ?? "";
  if (group === "headers") return spec.headers?.[key] ?? "";
  if (group === "args") return spec.args?.[Number(key)] ?? "";
  if (place === "url") return spec.url ?? "";
  if (place === "command") return spec.command ?? "";
  if (place === "cwd") return spec.cwd ?? "";
  return "";
}

export function writePlace(spec: ServerSpec, place: string, value: string): ServerSpec {
  const [group, key] = splitPlace(place);
  if (group === "env") return { ...spec, env: { ...spec.env, [key]: value } };
  if (group === "headers") return { ...spec, headers: { ...spec.headers, [key]: value } };
  if (group === "args")
    return { ...spec, args: (spec.args ?? []).map((a, i) => (i === Number(key) ? value : a)) };
  if (place === "url" || place === "command" || place === "cwd") return { ...spec, [place]: value };
  return spec;
}

function splitPlace(place: string): [string, string] {
  const dot = place.indexOf(".");
  return dot < 0 ? [place, ""] : [place.slice(0, dot), place.slice(dot + 1)];
}

/** A label for a person: "API_KEY", "Authorization header", "argument 3". */
export function placeLabel(place: string): string {
  const [group, key] = splitPlace(place);
  if (group === "env") return key;
  if (group === "headers") return `${key} header`;
  if (group === "args") return `Argument ${Number(key) + 1}`;
  return group;
}
