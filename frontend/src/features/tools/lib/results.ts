import type { ExecuteOutput } from "@/api/types";
import { parseJson } from "@/lib/json";

/** What a call returned, as one JSON value; undefined if it did not end well. */
export function resultValue(output: ExecuteOutput | undefined): unknown {
  const result = output?.status === "done" ? output.result : undefined;
  if (!result) return undefined;
  if (result.structuredContent !== undefined) return result.structuredContent;
  if ((result.content ?? []).every((c) => c.type === "text")) {
    const text = (result.content ?? []).map((c) => c.text ?? "").join("\n");
    const parsed = parseJson(text);
    return parsed.ok ? parsed.value : text;
  }
  return result.content;
}
