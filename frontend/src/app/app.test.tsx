import { act, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setWire } from "@/api/transport";
import { emptyState, type FakeState, fullState } from "@/test/fake-state";
import { type FakeWire, fakeWire } from "@/test/fake-wire";
import { App } from "./app";
import { type Runtime, staleKeys, startRuntime } from "./runtime";

let runtime: Runtime | undefined;

beforeEach(() => {
  window.location.hash = "";
});

afterEach(() => {
  runtime?.stop();
  runtime?.client.clear();
});

function open(state: FakeState, hash = ""): FakeWire {
  window.location.hash = hash;
  const wire = fakeWire(state);
  setWire(wire);
  runtime = startRuntime();
  render(<App runtime={runtime} onToken={() => {}} />);
  return wire;
}

describe("the page", () => {
  it("leads from nothing to a first question", async () => {
    const wire = open(emptyState());
    const demo = await screen.findByRole("button", { name: "Add the demo server" });
    await act(async () => demo.click());
    await screen.findByText(/1 server connected/);
    expect(wire.calls.some((c) => c.channel === "mcp:addDemoServer")).toBe(true);
  });

  it("shows a pending approval in the bar and in the window's title, and forgets it when it is decided elsewhere", async () => {
    const wire = open(fullState(), "#/chat/c1");
    await screen.findByTestId("approval-bar");
    await waitFor(() => expect(document.title).toMatch(/^\(1\)/));
    wire.state.approvals = [];
    act(() => wire.emit("approval:resolved", { approvalId: "a1", conversationId: "c1", answer: "deny" }));
    await waitFor(() => expect(screen.queryByTestId("approval-bar")).toBeNull());
    expect(document.title).not.toMatch(/^\(/);
  });

  it("streams a reply between two queries", async () => {
    const state = fullState();
    state.approvals = [];
    const wire = open(state, "#/chat/c1");
    await screen.findByText("Go on.");
    const delta = { conversationId: "c1", runId: "r1", messageId: "new", kind: "text" as const };
    act(() => {
      wire.emit("chat:delta", { ...delta, offset: 0, text: "Streaming " });
      wire.emit("chat:delta", { ...delta, offset: 10, text: "words" });
    });
    await screen.findByText(/Streaming words/, undefined, { timeout: 5000 });
  });
});

describe("events", () => {
  it("a resync makes everything stale, a delta nothing", () => {
    expect(staleKeys({ seq: 1, type: "resync", data: {} })).toEqual([[]]);
    expect(
      staleKeys({
        seq: 2,
        type: "chat:delta",
        data: { conversationId: "c", runId: "r", messageId: "m", kind: "text", offset: 0, text: "" },
      }),
    ).toEqual([]);
  });
});
