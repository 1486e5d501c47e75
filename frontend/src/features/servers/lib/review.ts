import type {
  AddServerInput,
  FoundIn,
  OnConflict,
  ParsedServer,
  ParsedServers,
  ReviewInput,
  ServerInput,
  ServerReview,
  ServerSpec,
  TestReport,
} from "@/api/types";
import { freeName, readPlace, writePlace } from "@/lib/servers";

export type RowState = "new" | "testing" | "saving" | "failed" | "saved";

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
  /** What a bundle says of the values it asks for. */
  inputs: ServerInput[];
  /** The bundle to unpack on saving; "" for none. */
  bundle: string;
  /** Where the values behind masks are. */
  from?: FoundIn;
  savedAs: string;
  /** What the backend says of the row as it stands; undefined until it has looked. */
  review?: ServerReview;
  /** Secrets in clear go to the keychain on saving. */
  moveSecrets: boolean;
  /** The places that load other code and that the person agreed to. */
  allowLoaders: string[];
  state: RowState;
  report?: TestReport;
  error?: unknown;
}

const fresh = {
  include: true,
  conflict: "",
  resolvedCommand: "",
  checkedCommand: "",
  problem: "",
  inputs: [],
  bundle: "",
  savedAs: "",
  moveSecrets: true,
  allowLoaders: [],
  state: "new",
} as const;

export function rowsFrom(parsed: ParsedServers): ReviewRow[] {
  return parsed.servers.map((p, i) => rowFrom(p, i));
}

function rowFrom(p: ParsedServer, i: number): ReviewRow {
  return {
    ...fresh,
    inputs: p.inputs ?? [],
    allowLoaders: [],
    key: `${i}-${p.from?.path ?? ""}-${p.spec.name}`,
    spec: blankMissing(p.spec, p.missing ?? []),
    resolvedCommand: p.resolvedCommand ?? "",
    checkedCommand: p.spec.command ?? "",
    problem: p.problem ?? "",
    missing: p.missing ?? [],
    bundle: p.bundle ?? "",
    ...(p.from ? { from: p.from } : {}),
  };
}

// A placeholder such as <YOUR_KEY> is a hint to a person and must not be saved as a value.
function blankMissing(spec: ServerSpec, missing: readonly string[]): ServerSpec {
  let env = spec.env;
  let headers = spec.headers;
  for (const place of missing) {
    if (place.startsWith("env.")) env = { ...env, [place.slice(4)]: "" };
    if (place.startsWith("headers.")) headers = { ...headers, [place.slice(8)]: "" };
    if (place.startsWith("args.") && spec.args?.[Number(place.slice(5))]?.match(/^\$\{user_config\.[^}]*\}$/))
      spec = writePlace(spec, place, "");
  }
  return { ...spec, ...(env ? { env } : {}), ...(headers ? { headers } : {}) };
}

/** A copy of a configured server. Saved values stay masked; the backend knows them. */
export function rowFromCopy(spec: ServerSpec, taken: readonly string[]): ReviewRow {
  return {
    ...fresh,
    inputs: [],
    allowLoaders: [],
    key: `copy-${spec.name}`,
    spec: { ...spec, name: freeName(`${spec.name}-copy`, taken) },
    savedAs: spec.name,
    missing: [],
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

/** What the backend looks at: the row as it would be saved. */
export function reviewInput(row: ReviewRow): ReviewInput {
  return {
    server: row.spec,
    ...(row.savedAs ? { savedAs: row.savedAs } : {}),
    ...(row.from ? { from: row.from } : {}),
    ...(row.bundle ? { bundle: row.bundle } : {}),
  };
}

export function addInput(row: ReviewRow): AddServerInput {
  return {
    ...reviewInput(row),
    server: specToSave(row),
    onConflict: row.conflict === "overwrite" || row.conflict === "keep_both" ? row.conflict : "fail",
    moveSecrets: row.moveSecrets ? secretPlaces(row) : [],
    allowLoaders: row.allowLoaders,
  };
}

function secretPlaces(row: ReviewRow): string[] {
  return [...new Set((row.review?.secrets ?? []).map((s) => s.place))];
}

/** The title that a bundle gives to a value. */
export function inputOf(row: ReviewRow, place: string): ServerInput | undefined {
  return row.inputs.find((i) => i.place === place);
}

/** Two rows, or a row and a configured server, cannot share a name unless a person chose how. */
export function clashes(
  row: ReviewRow,
  rows: readonly ReviewRow[],
  taken: readonly string[],
): "" | "server" | "row" {
  if (willSave(row) && rows.some((r) => r.key !== row.key && willSave(r) && r.spec.name === row.spec.name))
    return "row";
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
  const loader = (row.review?.loaders ?? []).find((l) => !row.allowLoaders.includes(l));
  if (loader) return `Agree to ${loader.replace(/^env\./, "")}, or take it out.`;
  const open = row.inputs.find((i) => i.required && row.missing.includes(i.place) && !filled(row, i.place));
  if (open) return `Fill in ${open.title}.`;
  return "";
}

function filled(row: ReviewRow, place: string): boolean {
  const value = readPlace(row.spec, place).trim();
  return value !== "" && !value.includes("${user_config.");
}

export function willSave(row: ReviewRow): boolean {
  return row.include && row.conflict !== "skip";
}

/** The line of a text that an error names, with its number, for showing where it broke. */
export function lineAt(text: string, line: number): string {
  return text.split("\n")[line - 1] ?? "";
}
