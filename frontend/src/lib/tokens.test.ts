import { describe, expect, it } from "vitest";
import { tool } from "@/test/fixtures";
import { aboutTokens, meter } from "./tokens";

describe("tokens", () => {
  it("counts the definition in bytes, not in characters", () => {
    const plain = aboutTokens(tool("s", "a", { description: "eeee".repeat(100) }));
    const wide = aboutTokens(tool("s", "a", { description: "éééé".repeat(100) }));
    expect(wide - plain).toBe(100);
  });
  it("names the share of a model only when its window is known", () => {
    const t = tool("s", "a");
    expect(meter([], { name: "m", contextWindow: 1000 })).toBe("");
    expect(meter([t])).toMatch(/^1 tool, about \d+ tokens$/);
    expect(meter([t], { name: "m", contextWindow: 0 })).not.toContain("%");
    expect(meter([t, t], { name: "m", contextWindow: 2 * aboutTokens(t) })).toMatch(
      /^2 tools, .*100\.0.% of m$/,
    );
  });
});
