import { describe, expect, it } from "vitest";
import type { Activity } from "@/api/types";
import { commandOf, filterActivity, replayOf } from "./activity";

const entry = (change: Partial<Activity>): Activity => ({
  seq: 1,
  at: "",
  kind: "event",
  text: "",
  ...change,
});
const call = entry({
  kind: "sent",
  method: "tools/call",
  id: "3",
  text: '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"it\'s"}}}',
});

describe("a server's timeline", () => {
  it("is filtered by group and words", () => {
    const all = [call, entry({ kind: "stderr", text: "Listening" }), entry({ text: "starting" })];
    expect(filterActivity(all, new Set(), "")).toBe(all);
    expect(filterActivity(all, new Set(["messages"]), "")).toHaveLength(2);
    expect(filterActivity(all, new Set(), "TOOLS/call echo")).toEqual([call]);
    expect(filterActivity(all, new Set(["output"]), "listen")).toEqual([]);
  });

  it("gives back a whole call and nothing else", () => {
    expect(replayOf(call)).toEqual({ tool: "echo", args: { text: "it's" } });
    expect(replayOf({ ...call, cut: true })).toBeUndefined();
    expect(replayOf({ ...call, kind: "received" })).toBeUndefined();
    expect(replayOf({ ...call, method: "tools/list" })).toBeUndefined();
    expect(replayOf({ ...call, text: "{" })).toBeUndefined();
  });

  it("writes a call so that a shell reads it as it was", () => {
    expect(commandOf({ tool: "echo", args: { text: "it's" } })).toBe(
      `patchbay call echo '{"text":"it'\\''s"}'`,
    );
  });
});
