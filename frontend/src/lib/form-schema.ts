import { isRecord } from "./json";

/**
 * A schema as the form is to show it: a choice of several from a list becomes one row of boxes, and the
 * names that older servers keep in enumNames are shown. What is sent is checked against the original.
 */
export function forForm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forForm);
  if (!isRecord(schema)) return schema;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema))
    out[key] = data.has(key) ? value : key === "properties" ? eachOf(value) : forForm(value);
  const { enum: values, enumNames: names, items } = out;
  if (Array.isArray(values) && Array.isArray(names) && names.length === values.length) {
    delete out.enum;
    delete out.enumNames;
    out.oneOf = values.map((v, i) => ({ const: v, title: String(names[i]) }));
  }
  if (out.type === "array" && isRecord(items) && isChoice(items)) {
    out.uniqueItems = true;
    out.items = { type: "string", ...items };
  }
  return out;
}

// What holds values, in which a member called "enum" is no keyword.
const data = new Set(["default", "const", "enum", "examples"]);

function eachOf(properties: unknown): unknown {
  if (!isRecord(properties)) return properties;
  return Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, forForm(v)]));
}

function isChoice(items: Record<string, unknown>): boolean {
  if (Array.isArray(items.enum)) return true;
  const some = items.oneOf ?? items.anyOf;
  return Array.isArray(some) && some.length > 0 && some.every((s) => isRecord(s) && "const" in s);
}

/** A place in a value by the labels of its form: ["how", "0", "to"] is "How › 1 › to". */
export function labelOf(schema: unknown, path: readonly string[]): string {
  let at: unknown = schema;
  return path
    .map((name) => {
      if (!isRecord(at)) return name;
      const inList = at.type === "array";
      at = inList ? at.items : isRecord(at.properties) ? at.properties[name] : undefined;
      if (inList) return String(Number(name) + 1);
      return isRecord(at) && typeof at.title === "string" && at.title ? at.title : name;
    })
    .join(" › ");
}
