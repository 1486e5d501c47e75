import { expect, test } from "vitest";
import { hintsOf } from "./hints";
import { newReach, reachSummary } from "./reach";

test("what is asked before a save is what is new, and nothing else", () => {
  const on = { enabled: true };
  expect(newReach(undefined, on)).toEqual([]);
  expect(newReach(undefined, { ...on, hosts: ["a.example"] })).toEqual(["Connect to a.example"]);
  expect(newReach({ ...on, hosts: ["a.example"] }, { ...on, hosts: ["b.example", "a.example"] })).toEqual([
    "Connect to b.example",
  ]);
  // Reading is not writing.
  expect(newReach({ ...on, folders: ["~/a"] }, { ...on, writeFolders: ["~/a"] })).toHaveLength(1);
  // A tool that is off may declare what it likes; switching it on asks.
  expect(newReach({ ...on, hosts: ["a.example"] }, { enabled: false, hosts: ["b.example"] })).toEqual([]);
  const off = { enabled: false, secrets: ["k"] };
  expect(newReach(off, { ...off, enabled: true })).toEqual(["Read the secret k"]);
  // Fewer tools are not more; more of a list are, and so is every tool.
  expect(newReach(on, { ...on, tools: ["x"] })).toEqual([]);
  expect(newReach({ ...on, tools: ["x"] }, { ...on, tools: ["x", "y"] })).toEqual(["Call the tool y"]);
  expect(newReach({ ...on, tools: [] }, on)).toEqual(["Call every tool that you allow when asked"]);
});

test("the summary counts", () => {
  expect(reachSummary({ hosts: ["a", "b"], folders: ["c"], tools: [] })).toBe("2 hosts, 1 folder, no tool");
  expect(reachSummary({})).toBe("");
});

test("the schema gives the completions of args, also of what lies in it", () => {
  const hints = hintsOf({
    properties: {
      text: { type: "string", description: "The text" },
      at: { type: "object", properties: { line: { type: "integer" } } },
    },
  });
  expect(hints["args."]).toEqual([
    { label: "text", type: "property", detail: "string", info: "The text" },
    { label: "at", type: "property", detail: "object" },
  ]);
  expect(hints["args.at."]?.map((h) => h.label)).toEqual(["line"]);
  expect(hints["tools."]?.map((h) => h.label)).toEqual(["call"]);
});
