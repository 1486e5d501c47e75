import type { Tool } from "@/api/types";

const bytesPerToken = 4;

// A definition never changes once it is here, and lists ask for the sum of a thousand with every stroke.
const known = new WeakMap<Tool, number>();

/** About what a tool's definition costs a model: four bytes of its JSON a token. */
export function aboutTokens(tool: Tool): number {
  const before = known.get(tool);
  if (before !== undefined) return before;
  const wire = JSON.stringify({
    name: tool.ref.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
  });
  const tokens = Math.ceil(new TextEncoder().encode(wire).length / bytesPerToken);
  known.set(tool, tokens);
  return tokens;
}

/** "64 tools, about 21,400 tokens, 10.7 % of gpt-4.1". */
export function meter(tools: readonly Tool[], model?: { name: string; contextWindow?: number }): string {
  if (tools.length === 0) return "";
  const sum = tools.reduce((n, t) => n + aboutTokens(t), 0);
  const rounded = sum < 1000 ? sum : Math.round(sum / 100) * 100;
  const window = model?.contextWindow ?? 0;
  return [
    `${tools.length.toLocaleString("en-US")} ${tools.length === 1 ? "tool" : "tools"}`,
    `about ${rounded.toLocaleString("en-US")} tokens`,
    window > 0 && model ? `${((100 * sum) / window).toFixed(1)}\u202f% of ${model.name}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}
