import type { ToolRef } from "@/api/types";

/** The same for every definition of one tool. */
export function toolKey(ref: ToolRef): string {
  return `${ref.kind}/${ref.server ?? ""}/${ref.name}`;
}
