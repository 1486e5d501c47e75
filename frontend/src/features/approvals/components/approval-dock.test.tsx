import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Approval } from "@/api/types";
import { TipProvider } from "@/components/ui/tooltip";
import { approval } from "@/test/fixtures";
import { firstBatch } from "../lib/batch";
import { ApprovalDock, guardMs } from "./approval-dock";

const onResolve = vi.fn();
const onLeave = vi.fn();

function show(approvals: Approval[], extra?: React.ReactNode) {
  return render(
    <TipProvider>
      {extra}
      <ApprovalDock
        approvals={approvals}
        busy={false}
        agentName={() => "Assistant"}
        onResolve={onResolve}
        onLeave={onLeave}
      />
    </TipProvider>,
  );
}

const wait = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const bar = () => screen.getByTestId("approval-bar");

beforeEach(() => {
  vi.useFakeTimers();
  onResolve.mockReset();
  onLeave.mockReset();
});

describe("approval bar", () => {
  it("takes the focus to its heading, never to a button", () => {
    show([approval("1")]);
    expect(document.activeElement?.tagName).toBe("H2");
    expect(document.activeElement?.textContent).toContain("delete_note");
  });

  it("does not take the focus from somebody who writes", () => {
    const view = show([], <textarea data-composer defaultValue="half a sentence" />);
    const composer = view.container.querySelector("textarea");
    composer?.focus();
    view.rerender(
      <TipProvider>
        <textarea data-composer defaultValue="half a sentence" />
        <ApprovalDock
          approvals={[approval("1")]}
          busy={false}
          agentName={() => undefined}
          onResolve={onResolve}
          onLeave={onLeave}
        />
      </TipProvider>,
    );
    expect(document.activeElement).toBe(composer);
  });

  it("shows every argument in full", () => {
    const long = "x".repeat(2000);
    show([
      approval("1", {
        call: { id: "k", ref: { kind: "mcp", server: "demo", name: "write" }, arguments: { text: long } },
      }),
    ]);
    expect(screen.getByText(long)).toBeTruthy();
  });

  it.each([
    ["a", "allow_once"],
    ["d", "deny"],
    ["s", "allow_chat"],
  ])("the letter %s answers %s, but not in its first moment", async (key, answer) => {
    show([approval("1")]);
    fireEvent.keyDown(screen.getByRole("heading"), { key });
    expect(onResolve).not.toHaveBeenCalled();
    await wait(guardMs + 10);
    fireEvent.keyDown(screen.getByRole("heading"), { key });
    expect(onResolve).toHaveBeenCalledWith(["1"], answer);
  });

  it("letters outside the bar and Enter on its heading do nothing", async () => {
    show([approval("1")]);
    await wait(guardMs + 10);
    fireEvent.keyDown(document.body, { key: "a" });
    fireEvent.keyDown(screen.getByRole("heading"), { key: "Enter" });
    expect(onResolve).not.toHaveBeenCalled();
  });

  it("Esc leaves and does not deny", () => {
    show([approval("1")]);
    fireEvent.keyDown(screen.getByRole("heading"), { key: "Escape" });
    expect(onLeave).toHaveBeenCalled();
    expect(onResolve).not.toHaveBeenCalled();
  });

  it("the composer allows and denies with the command key, but a word can still be deleted", async () => {
    const view = show([approval("1")], <textarea data-composer defaultValue="text" />);
    await wait(guardMs + 10);
    const composer = view.container.querySelector("textarea") as HTMLTextAreaElement;
    fireEvent.keyDown(composer, { key: "Backspace", ctrlKey: true });
    expect(onResolve).not.toHaveBeenCalled();
    fireEvent.keyDown(composer, { key: "Enter", ctrlKey: true });
    expect(onResolve).toHaveBeenLastCalledWith(["1"], "allow_once");
  });

  it("guards a destructive call against a click that was meant for something else", async () => {
    show([approval("1", { annotations: { destructiveHint: true } })]);
    const allow = screen.getByRole("button", { name: /Allow once/ });
    fireEvent.click(allow);
    expect(onResolve).not.toHaveBeenCalled();
    await wait(guardMs + 10);
    fireEvent.click(allow);
    expect(onResolve).toHaveBeenCalledWith(["1"], "allow_once");
  });

  it("denying needs no patience", () => {
    show([approval("1", { annotations: { destructiveHint: true } })]);
    fireEvent.click(screen.getByRole("button", { name: /Deny/ }));
    expect(onResolve).toHaveBeenCalledWith(["1"], "deny");
  });

  it("decides together only what belongs to one run", () => {
    const other = approval("3", { principal: { kind: "agent", conversationId: "c1", runId: "r2" } });
    expect(firstBatch([approval("1"), other, approval("2")]).map((a) => a.id)).toEqual(["1", "2"]);
    show([approval("1"), other, approval("2")]);
    fireEvent.click(screen.getByRole("button", { name: "Allow all once" }));
    expect(onResolve).toHaveBeenCalledWith(["1", "2"], "allow_once");
    expect(bar().textContent).toContain("1 more");
  });

  it("offers no allowance for a chat where there is none", () => {
    show([approval("1", { principal: { kind: "window" } })]);
    expect(screen.queryByRole("button", { name: /this chat/ })).toBeNull();
  });
});
