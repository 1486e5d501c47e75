export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export function isRecord(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

export function pretty(v: unknown): string {
  return JSON.stringify(v, null, 2) ?? "";
}

/** Pretty-prints JSON text; text that is not JSON comes back unchanged. */
export function prettyText(text: string): string {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The same text for the same value, whatever the order of its keys. */
export function canonical(v: unknown): string {
  return (
    JSON.stringify(
      v,
      (_, x) =>
        isRecord(x) ? Object.fromEntries(Object.entries(x).sort(([a], [b]) => (a < b ? -1 : 1))) : x,
      2,
    ) ?? "null"
  );
}

export interface JsonProblem {
  message: string;
  line: number;
  column: number;
}

export type JsonText = { ok: true; value: unknown } | { ok: false; problem: JsonProblem };

/** Parses JSON and says where it breaks, in every engine's dialect of the message. */
export function parseJson(text: string): JsonText {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (err) {
    const raw = err instanceof Error ? err.message : String(err);
    const named = /line (\d+) column (\d+)/.exec(raw);
    if (named) {
      return {
        ok: false,
        problem: { message: clean(raw), line: Number(named[1]), column: Number(named[2]) },
      };
    }
    const pos = /position (\d+)/.exec(raw);
    const at = pos ? Number(pos[1]) : text.length;
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    return { ok: false, problem: { message: clean(raw), line, column } };
  }
}

function clean(raw: string): string {
  return raw
    .replace(/^JSON(?:\.parse: | Parse error: )/, "")
    .replace(/ in JSON at position \d+.*$/, "")
    .replace(/ \(line \d+ column \d+\)$/, "")
    .replace(/, "[\s\S]*" is not valid JSON$/, "")
    .replace(/ at line \d+ column \d+ of the JSON data$/, "");
}

export interface ArgumentRow {
  name: string;
  /** Shown as it is; long ones are folded. */
  text: string;
  /** Says that text is JSON and not a plain string. */
  json: boolean;
}

/** Breaks the arguments of a call into rows. undefined: they are not a JSON object. */
export function argumentRows(args: unknown): ArgumentRow[] | undefined {
  let v = args;
  if (typeof v === "string") {
    if (v.trim() === "") return [];
    const parsed = parseJson(v);
    if (!parsed.ok) return undefined;
    v = parsed.value;
  }
  if (v === null || v === undefined) return [];
  if (!isRecord(v)) return undefined;
  return Object.entries(v).map(([name, value]) =>
    typeof value === "string"
      ? { name, text: value, json: false }
      : { name, text: typeof value === "object" ? pretty(value) : String(value), json: true },
  );
}

/** One line that tells two calls of the same tool apart. */
export function argumentSummary(args: unknown, limit = 80): string {
  const rows = argumentRows(args);
  if (!rows) return typeof args === "string" ? shorten(args, limit) : "";
  const text = rows.map((r) => `${r.name}: ${r.text.replace(/\s+/g, " ")}`).join(", ");
  return shorten(text, limit);
}

export function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
