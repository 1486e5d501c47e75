import { describe, expect, it } from "vitest";
import { spec } from "@/test/fixtures";
import { secondsProblem, settingsProblem } from "./limits";

describe("limits", () => {
  it("takes a day and not more", () => {
    expect(secondsProblem(86_400_000)).toBeUndefined();
    expect(secondsProblem(86_400_001)).toMatch(/day/);
    expect(secondsProblem(Number.NaN)).toMatch(/number/);
    expect(secondsProblem(-1)).toMatch(/number/);
  });
  it("names what cannot be saved", () => {
    expect(settingsProblem(spec())).toBe("");
    expect(settingsProblem(spec({ timeout: 5000, maxTotalTimeout: 1000 }))).toMatch(/shorter/);
    expect(settingsProblem(spec({ toolTimeouts: { a: -1 } }))).toMatch(/time limit/);
    expect(settingsProblem(spec({ command: " " }))).toMatch(/command/);
  });
});
