import { describe, expect, it } from "vitest";
import type { ConversationDetail } from "@/api/types";
import { conversation, message, runCall, textResult } from "@/test/fixtures";
import { timeline } from "./timeline";

const ref = { kind: "mcp", server: "demo", name: "slow" } as const;
const asked = message("u", "user", [{ kind: "text", text: "go" }]);
const calling = message("a", "assistant", [
  { kind: "text", text: "Calling." },
  { kind: "tool_call", callId: "k1", alias: "demo__slow", ref, arguments: "{}" },
  { kind: "tool_call", callId: "k2", alias: "demo__slow", ref, arguments: "{}" },
]);

function statuses(d: ConversationDetail) {
  return timeline(d).flatMap((e) =>
    e.blocks.flatMap((b) => (b.kind === "calls" ? b.calls.map((c) => c.status) : [])),
  );
}

describe("timeline", () => {
  it("joins calls with their results and groups those of one turn", () => {
    const results = message("t", "tool", [
      { kind: "tool_result", callId: "k1", status: "done", result: textResult("1") },
      { kind: "tool_result", callId: "k2", status: "denied", error: "no" },
    ]);
    const entries = timeline({ conversation: conversation("c"), messages: [asked, calling, results] });
    expect(entries.map((e) => e.role)).toEqual(["user", "assistant"]);
    expect(entries[1]?.blocks).toHaveLength(2);
    expect(statuses({ conversation: conversation("c"), messages: [asked, calling, results] })).toEqual([
      "done",
      "denied",
    ]);
  });

  it("takes the state of a running call from the run", () => {
    const run = { id: "r", conversationId: "c", startedAt: "", turn: 1, calls: [runCall("k1", "waiting")] };
    expect(statuses({ conversation: conversation("c"), messages: [asked, calling], run })).toEqual([
      "waiting",
      "running",
    ]);
  });

  it("calls a call lost that has neither result nor run", () => {
    expect(statuses({ conversation: conversation("c"), messages: [asked, calling] })).toEqual([
      "lost",
      "lost",
    ]);
  });

  it("shows the calls of a run whose message is not committed yet, once", () => {
    const run = {
      id: "r",
      conversationId: "c",
      startedAt: "",
      turn: 1,
      reply: calling,
      calls: [runCall("k1", "running"), runCall("k3", "waiting")],
    };
    expect(statuses({ conversation: conversation("c"), messages: [asked], run })).toEqual([
      "running",
      "running",
      "waiting",
    ]);
  });

  it("shows a streaming reply before any query knows it, and never twice", () => {
    const live = { runId: "r", messageId: "x", text: "Hi", reasoning: "", calls: [] };
    const run = { id: "r", conversationId: "c", startedAt: "", turn: 1, calls: [] };
    const before = timeline({ conversation: conversation("c"), messages: [asked], run }, live);
    expect(before.map((e) => e.id)).toEqual(["u", "x"]);
    const committed = message("x", "assistant", [{ kind: "text", text: "Hi there" }]);
    const after = timeline({ conversation: conversation("c"), messages: [asked, committed], run }, live);
    expect(after.filter((e) => e.id === "x")).toHaveLength(1);
  });
});
