import { describe, expect, it, vi } from "vitest";
import type { ChatDelta, ConversationDetail } from "@/api/types";
import { conversation, message, runCall } from "@/test/fixtures";
import { createRunStore, mergeReply } from "./run-store";

function delta(offset: number, text: string, over: Partial<ChatDelta> = {}): ChatDelta {
  return { conversationId: "c1", runId: "r1", messageId: "m1", kind: "text", offset, text, ...over };
}

function detail(text: string | undefined): ConversationDetail {
  return {
    conversation: conversation("c1"),
    messages: [],
    run: {
      id: "r1",
      conversationId: "c1",
      startedAt: "",
      turn: 1,
      reply: text === undefined ? undefined : message("m1", "assistant", [{ kind: "text", text }]),
      calls: [],
    },
  };
}

function setup() {
  const gaps: string[] = [];
  const store = createRunStore(
    (id) => gaps.push(id),
    () => {},
  );
  const text = () => store.store.getState().replies.c1?.text;
  return { store, gaps, text };
}

describe("the run store", () => {
  it("joins deltas and ignores what it has already", () => {
    const { store, text, gaps } = setup();
    store.delta(delta(0, "Hel"));
    store.delta(delta(3, "lo"));
    store.delta(delta(3, "lo"));
    store.delta(delta(0, "Hello w"));
    store.flush();
    expect(text()).toBe("Hello w");
    expect(gaps).toEqual([]);
  });

  it("counts UTF-16 units, as the offset does", () => {
    const { store, text } = setup();
    store.delta(delta(0, "a😀"));
    store.delta(delta(3, "b"));
    store.flush();
    expect(text()).toBe("a😀b");
  });

  it("asks for a query at a gap, and keeps the early delta until it came", () => {
    const { store, text, gaps } = setup();
    store.delta(delta(5, " world"));
    store.flush();
    expect(gaps).toEqual(["c1"]);
    expect(text()).toBeUndefined();
    store.seed(detail("Hello"));
    expect(text()).toBe("Hello world");
  });

  it("does not let an older query shorten what streamed", () => {
    const { store, text } = setup();
    store.delta(delta(0, "Hello world"));
    store.flush();
    store.seed(detail("Hello"));
    expect(text()).toBe("Hello world");
  });

  it("collects what is written of each call, and shows a call whose begin it missed", () => {
    const { store } = setup();
    const of = (call: number, offset: number, text: string) => ({
      ...delta(offset, text),
      kind: "tool_call" as const,
      call,
      alias: `t${call}`,
    });
    store.delta(of(0, 0, ""));
    store.delta(of(0, 0, '{"a"'));
    store.delta(of(0, 0, '{"a"'));
    store.delta(of(0, 4, ":1}"));
    store.delta(of(1, 9, "late"));
    store.flush();
    const calls = Object.values(store.store.getState().replies)[0]?.calls;
    expect(calls?.map((c) => [c.alias, c.arguments])).toEqual([
      ["t0", '{"a":1}'],
      ["t1", undefined],
    ]);
  });

  it("forgets the reply when the run is over", () => {
    const { store, text } = setup();
    store.delta(delta(0, "Hello"));
    store.flush();
    store.seed({ conversation: conversation("c1"), messages: [] });
    expect(text()).toBeUndefined();
  });

  it("begins anew with the next message of the run", () => {
    const { store, text } = setup();
    store.delta(delta(0, "first"));
    store.delta(delta(0, "second", { messageId: "m2" }));
    store.flush();
    expect(text()).toBe("second");
  });

  it("renders once for many deltas", () => {
    const { store } = setup();
    const seen = vi.fn();
    store.store.subscribe(seen);
    for (let i = 0; i < 100; i++) store.delta(delta(i, "x"));
    store.flush();
    expect(seen).toHaveBeenCalledTimes(1);
  });

  it("keeps chunks in order and once, from events and from queries", () => {
    const { store } = setup();
    const chunk = (seq: number) => ({ callId: "k", seq, at: "", kind: "log" as const, message: String(seq) });
    store.chunk(chunk(2));
    store.chunk(chunk(2));
    store.flush();
    const d = detail(undefined);
    if (d.run) d.run.calls = [runCall("k", "running", { chunks: [chunk(1), chunk(2)] })];
    store.seed(d);
    expect(store.store.getState().chunks.k?.map((c) => c.seq)).toEqual([1, 2]);
  });
});

describe("mergeReply", () => {
  it("adds what streamed to the last part of its kind and keeps the others", () => {
    const m = message("m1", "assistant", [
      { kind: "text", text: "Hel" },
      { kind: "tool_call", callId: "k" },
    ]);
    const merged = mergeReply(m, { runId: "r1", messageId: "m1", text: "Hello", reasoning: "hm", calls: [] });
    expect(merged?.parts.map((p) => p.text ?? p.callId)).toEqual(["hm", "Hello", "k"]);
  });
});
