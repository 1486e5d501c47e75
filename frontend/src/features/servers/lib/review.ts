import type { OnConflict, ParsedServer, ParsedServers, ServerSpec, TestReport } from "@/api/types";
import { Mask } from "@/api/types";
import { freeName, readPlace, writePlace } from "@/lib/servers";

export type RowState = "new" | "testing" | "saving" | "failed";

/** One server on its way in: found in a text, shown, perhaps changed, then saved. */
export interface ReviewRow {
  key: string;
  spec: ServerSpec;
  include: boolean;
  conflict: Exclude<OnConflict, "fail"> | "skip" | "";
  resolvedCommand: string;
  /** The command that resolvedCommand and problem speak of. */
  checkedCommand: string;
  problem: string;
  missing: string[];
  state: RowState;
  report?: TestReport;
  error?: unknown;
}

export function rowsFrom(parsed: ParsedServers): ReviewRow[] {
  return parsed.servers.map((p, i) => rowFrom(p, i));
}

function rowFrom(p: ParsedServer, i: number): ReviewRow {
  return {
    key: `${i}-${p.spec.name}`,
    spec: blankMissing(p.spec, p.missing ?? []),
    include: true,
    conflict: "",
    resolvedCommand: p.resolvedCommand ?? "",
    checkedCommand: p.spec.command ?? "",
    problem: p.problem ?? "",
    missing: p.missing ?? [],
    state: "new",
  };
}

// A placeholder such as <YOUR_KEY> is a hint to a person and must not be saved as a value.
function blankMissing(spec: ServerSpec, missing: readonly string[]): ServerSpec {
  let env = spec.env;
  let headers = spec.headers;
  for (const place of missing) {
    if (place.startsWith("env.")) env = { ...env, [place.slice(4)]: "" };
    if (place.startsWith("headers.")) headers = { ...headers, [place.slice(8)]: "" };
  }
  return { ...spec, ...(env ? { env } : {}), ...(headers ? { headers } : {}) };
}

/** A copy of a configured server. Saved values cannot be read, so they are asked for. */
export function rowFromCopy(spec: ServerSpec, taken: readonly string[]): ReviewRow {
  const missing: string[] = [];
  const blank = (group: string, values?: Record<string, string>) =>
    values &&
    Object.fromEntries(
      Object.entries(values).map(([k, v]) => {
        if (v !== Mask) return [k, v];
        missing.push(`${group}.${k}`);
        return [k, ""];
      }),
    );
  const env = blank("env", spec.env);
  const headers = blank("headers", spec.headers);
  return {
    key: `copy-${spec.name}`,
    spec: {
      ...spec,
      name: freeName(`${spec.name}-copy`, taken),
      ...(env ? { env } : {}),
      ...(headers ? { headers } : {}),
    },
    include: true,
    conflict: "",
    resolvedCommand: "",
    checkedCommand: "",
    problem: "",
    missing,
    state: "new",
  };
}

/**
 * What is sent for a row: a value that was left empty stays a placeholder, so
 * that the server waits for it instead of starting with nothing.
 */
export function specToSave(row: ReviewRow): ServerSpec {
  let spec = row.spec;
  for (const place of stillMissing(row)) {
    const name = place.replace(/^(env|headers)\./, "");
    if (name !== place) spec = writePlace(spec, place, `\${${name.replace(/\W/g, "_").toUpperCase()}}`);
  }
  return spec;
}

export function stillMissing(row: ReviewRow): string[] {
  return row.missing.filter((place) => readPlace(row.spec, place).trim() === "");
}

/** Two rows, or a row and a configured server, cannot share a name unless a person chose how. */
export function clashes(
  row: ReviewRow,
  rows: readonly ReviewRow[],
  taken: readonly string[],
): "" | "server" | "row" {
  if (rows.some((r) => r.key !== row.key && r.include && r.spec.name === row.spec.name)) return "row";
  return taken.includes(row.spec.name) ? "server" : "";
}

/** Why a row cannot be saved yet; "" when it can. */
export function blockedBecause(row: ReviewRow, rows: readonly ReviewRow[], taken: readonly string[]): string {
  if (!row.spec.name.trim()) return "Give it a name.";
  const clash = clashes(row, rows, taken);
  if (clash === "row") return `Two servers here are called ${row.spec.name}. Rename one.`;
  if (clash === "server" && row.conflict === "")
    return `A server ${row.spec.name} exists already. Choose what to do.`;
  if (row.spec.transport === "stdio" && !row.spec.command?.trim()) return "Give it a command.";
  if (row.spec.transport !== "stdio" && !row.spec.url?.trim()) return "Give it a URL.";
  return "";
}

export function willSave(row: ReviewRow): boolean {
  return row.include && row.conflict !== "skip";
}

/** The line of a text that an error names, with its number, for showing where it broke. */
export function lineAt(text: string, line: number): string {
  return text.split("\n")[line - 1] ?? "";
}
