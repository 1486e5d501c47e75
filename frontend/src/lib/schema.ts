import { type Schema, Validator } from "@cfworker/json-schema";
import { labelOf } from "./form-schema";
import { isRecord } from "./json";

export interface SchemaProblem {
  /** Property names from the root: ["items", "0", "name"]. */
  path: string[];
  message: string;
}

// What a container says is only that something inside is wrong, which is told anyway.
const containers = new Set([
  "properties",
  "items",
  "prefixItems",
  "additionalProperties",
  "allOf",
  "$ref",
  "if",
  "then",
  "else",
]);

/** Checks arguments against a tool's schema. The daemon stays the authority. */
export function validate(schema: unknown, value: unknown): SchemaProblem[] {
  if (!isRecord(schema)) return [];
  let errors: { keyword: string; instanceLocation: string; error: string }[];
  try {
    // JSON.parse drops undefined members, which a form leaves behind.
    const clean = value === undefined ? {} : JSON.parse(JSON.stringify(value));
    errors = new Validator(schema as Schema, draftOf(schema), false).validate(clean).errors;
  } catch {
    return [];
  }
  const leaves = errors.filter((e) => !containers.has(e.keyword));
  return (leaves.length ? leaves : errors).map((e) => toProblem(e));
}

function draftOf(schema: Record<string, unknown>): "4" | "7" | "2019-09" | "2020-12" {
  const s = typeof schema.$schema === "string" ? schema.$schema : "";
  if (s.includes("draft-04")) return "4";
  if (s.includes("draft-07") || s.includes("draft-06")) return "7";
  if (s.includes("2019-09")) return "2019-09";
  return "2020-12";
}

function toProblem(e: { keyword: string; instanceLocation: string; error: string }): SchemaProblem {
  const path = e.instanceLocation
    .replace(/^#\/?/, "")
    .split("/")
    .filter(Boolean)
    .map((p) => decodeURIComponent(p).replace(/~1/g, "/").replace(/~0/g, "~"));
  if (e.keyword === "required") {
    const name = /required property "([^"]+)"/.exec(e.error)?.[1];
    if (name) return { path: [...path, name], message: "Needs a value." };
  }
  return { path, message: e.error.replace(/^Instance /, "The value ").replace(/^String /, "The text ") };
}

/** A problem as a sentence; with a schema, the fields are called as its form calls them. */
export function problemSentence(p: SchemaProblem, schema?: unknown): string {
  const where = labelOf(schema, p.path);
  if (!where) return p.message;
  return p.message === "Needs a value." ? `${where} needs a value.` : `${where}: ${p.message}`;
}

/** A first set of arguments: the defaults that the schema gives. */
export function defaultsOf(schema: unknown): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  if (!isRecord(schema) || !isRecord(schema.properties)) return out;
  for (const [name, prop] of Object.entries(schema.properties)) {
    if (isRecord(prop) && "default" in prop) out[name] = prop.default;
  }
  return out;
}

/** Says whether a form can be made; else the raw JSON is the only way. */
export function hasForm(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (isRecord(schema.properties) && Object.keys(schema.properties).length > 0) return true;
  return Array.isArray(schema.oneOf) || Array.isArray(schema.anyOf);
}

export interface ParameterRow {
  name: string;
  type: string;
  required: boolean;
  description: string;
}

/** The parameters of a tool as rows to read. */
export function parameterRows(schema: unknown): ParameterRow[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, prop]) => ({
    name,
    type: typeName(prop),
    required: required.includes(name),
    description: isRecord(prop) && typeof prop.description === "string" ? prop.description : "",
  }));
}

function typeName(prop: unknown): string {
  if (!isRecord(prop)) return "any";
  if (Array.isArray(prop.enum)) return prop.enum.map((v) => JSON.stringify(v)).join(" | ");
  if ("const" in prop) return JSON.stringify(prop.const);
  if (prop.type === "array") return `${typeName(prop.items)}[]`;
  if (Array.isArray(prop.type)) return prop.type.join(" | ");
  if (typeof prop.type === "string") return prop.type;
  for (const k of ["oneOf", "anyOf"] as const) {
    const v = prop[k];
    if (Array.isArray(v)) return v.map(typeName).join(" | ");
  }
  return "any";
}
