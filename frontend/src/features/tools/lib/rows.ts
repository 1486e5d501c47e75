import Papa from "papaparse";
import { isRecord, parseJson } from "@/lib/json";
import { problemSentence, validate } from "@/lib/schema";

export type RowArgs = Record<string, unknown>;

export interface Rows {
  rows: RowArgs[];
  /** What is wrong, the first of it; "" for nothing. */
  problem: string;
}

const limit = 1000;

function typesOf(schema: unknown, name: string): readonly string[] {
  const property = isRecord(schema) && isRecord(schema.properties) ? schema.properties[name] : undefined;
  const type = isRecord(property) ? property.type : undefined;
  return Array.isArray(type) ? type.map(String) : typeof type === "string" ? [type] : [];
}

/** A cell of CSV is text; what the schema wants of it is made of it where that is possible. */
function cell(text: string, types: readonly string[]): unknown {
  if (types.length === 0 || types.includes("string")) return text;
  const parsed = parseJson(text.trim());
  if (parsed.ok) return parsed.value;
  const low = text.trim().toLowerCase();
  if (types.includes("boolean") && (low === "true" || low === "false")) return low === "true";
  return text;
}

function readCsv(text: string, schema: unknown): Rows {
  const parsed = Papa.parse<Record<string, string>>(text.trim(), { header: true, skipEmptyLines: "greedy" });
  const bad = parsed.errors.find((e) => e.code !== "UndetectableDelimiter");
  if (bad) return { rows: [], problem: `CSV, row ${(bad.row ?? 0) + 1}: ${bad.message}` };
  const rows = parsed.data.map((record) =>
    Object.fromEntries(
      Object.entries(record)
        .filter(([, v]) => v !== "" && v !== undefined)
        .map(([k, v]) => [k.trim(), cell(v, typesOf(schema, k.trim()))]),
    ),
  );
  return { rows, problem: "" };
}

/** Reads rows of arguments: a JSON list of objects, one object a line, or CSV with a header. */
export function readRows(text: string, schema: unknown): Rows {
  const trimmed = text.trim();
  if (!trimmed) return { rows: [], problem: "" };
  let read: Rows;
  if (trimmed.startsWith("[")) {
    const parsed = parseJson(trimmed);
    if (!parsed.ok) {
      const { line, column, message } = parsed.problem;
      return { rows: [], problem: `Line ${line}, column ${column}: ${message}` };
    }
    const list = parsed.value as unknown[];
    const at = list.findIndex((v) => !isRecord(v));
    if (at >= 0) return { rows: [], problem: `Row ${at + 1} is not an object.` };
    read = { rows: list as RowArgs[], problem: "" };
  } else if (trimmed.startsWith("{")) {
    const rows: RowArgs[] = [];
    for (const [i, line] of trimmed.split("\n").entries()) {
      if (!line.trim()) continue;
      const parsed = parseJson(line);
      if (!parsed.ok || !isRecord(parsed.value))
        return { rows: [], problem: `Line ${i + 1} is not a JSON object.` };
      rows.push(parsed.value);
    }
    read = { rows, problem: "" };
  } else {
    read = readCsv(trimmed, schema);
  }
  if (read.problem) return read;
  if (read.rows.length > limit)
    return { rows: [], problem: `These are ${read.rows.length} rows; at most ${limit} run at a time.` };
  for (const [i, row] of read.rows.entries()) {
    const first = validate(schema, row)[0];
    if (first) return { rows: read.rows, problem: `Row ${i + 1}: ${problemSentence(first)}` };
  }
  return read;
}

export function toCsv(rows: readonly Record<string, unknown>[]): string {
  return Papa.unparse(
    rows.map((r) =>
      Object.fromEntries(
        Object.entries(r).map(([k, v]) => [k, typeof v === "object" && v !== null ? JSON.stringify(v) : v]),
      ),
    ),
    // A spreadsheet must not run what a tool returned.
    { escapeFormulae: true },
  );
}
