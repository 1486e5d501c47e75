import type { ServerSpec, ServerView, Transport } from "@/api/types";
import { commandLine } from "./shell-words";
import { needsAttention } from "./status";

export type ServerFilter = "all" | "on" | "attention" | "off";

export const transportNames: Record<Transport, string> = {
  stdio: "stdio",
  "streamable-http": "HTTP",
  sse: "SSE",
};

export function matchesFilter(server: ServerView, filter: ServerFilter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "on":
      return !server.spec.disabled;
    case "off":
      return server.spec.disabled === true || server.status.state === "off";
    case "attention":
      return needsAttention(server.status.state);
  }
}

/** What needs a person comes first; else the order of tools.json stays. */
export function arrange(servers: readonly ServerView[], filter: ServerFilter, search: string): ServerView[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = servers.filter((s) => {
    if (!matchesFilter(s, filter)) return false;
    const text = `${s.spec.name} ${target(s.spec)} ${s.status.serverTitle ?? ""}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
  const rank = (s: ServerView) => (needsAttention(s.status.state) ? 0 : 1);
  return kept
    .map((s, i) => ({ s, i }))
    .sort((a, b) => rank(a.s) - rank(b.s) || a.i - b.i)
    .map((x) => x.s);
}

/** The command line or the address: what the server really is. */
export function target(spec: ServerSpec): string {
  return spec.transport === "stdio" ? commandLine(spec.command ?? "", spec.args) : (spec.url ?? "");
}

/** The server as JSON to paste elsewhere. Masked values become placeholders. */
export function specAsJson(spec: ServerSpec, mask: string): string {
  const hide = (values: Record<string, string> | undefined) =>
    values &&
    Object.fromEntries(
      Object.entries(values).map(([k, v]) => [
        k,
        v === mask ? `\${${k.replace(/\W/g, "_").toUpperCase()}}` : v,
      ]),
    );
  const { name, transport, env, headers, timeout, ...rest } = spec;
  const body = {
    ...(transport === "stdio" ? {} : { type: transport === "sse" ? "sse" : "http" }),
    ...rest,
    ...(env && Object.keys(env).length ? { env: hide(env) } : {}),
    ...(headers && Object.keys(headers).length ? { headers: hide(headers) } : {}),
    ...(timeout ? { timeout } : {}),
  };
  return JSON.stringify({ mcpServers: { [name]: body } }, null, 2);
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
