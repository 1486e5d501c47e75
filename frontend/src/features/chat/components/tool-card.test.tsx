import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { TipProvider } from "@/components/ui/tooltip";
import { type CallFacts, callLooks } from "@/lib/status";
import { textResult } from "@/test/fixtures";
import { type CardActions, ToolCard } from "./tool-card";
import { ToolGroup } from "./tool-group";

const actions: CardActions = { onCancel() {}, onTry() {}, onServer() {}, onAskAgain() {}, onApproval() {} };
let next = 0;

function call(over: Partial<CallFacts> = {}): CallFacts {
  return {
    callId: `k${next++}`,
    alias: "demo__add",
    ref: { kind: "mcp", server: "demo", name: "add" },
    title: "Add",
    arguments: '{"a":1}',
    status: "done",
    millis: 1200,
    result: textResult("2"),
    ...over,
  };
}

function show(ui: React.ReactNode) {
  return render(<TipProvider>{ui}</TipProvider>);
}

describe("tool card", () => {
  it.each(Object.keys(callLooks) as CallFacts["status"][])("names the state %s in words", (status) => {
    show(<ToolCard call={call({ status, result: undefined })} actions={actions} />);
    expect(screen.getByRole("group", { name: `add: ${callLooks[status].word}` })).toBeTruthy();
  });

  it("opens to arguments and result, and offers a way on after a failure", () => {
    show(
      <ToolCard
        call={call({ status: "failed", error: "Could not reach demo: connection closed", result: undefined })}
        actions={actions}
      />,
    );
    fireEvent.click(screen.getByRole("button", { expanded: false }));
    expect(screen.getByRole("region", { name: "Arguments" })).toBeTruthy();
    for (const name of ["Edit and run", "Open server demo", "Ask again"])
      expect(screen.getByRole("button", { name })).toBeTruthy();
  });

  it("does not run markup of a tool", () => {
    const { container } = show(
      <ToolCard call={call({ result: textResult("<img src=x onerror=alert(1)>") })} actions={actions} />,
    );
    fireEvent.click(screen.getByRole("button", { expanded: false }));
    expect(container.querySelector("img")).toBeNull();
  });
});

describe("tool group", () => {
  it("folds when all went well", () => {
    show(<ToolGroup calls={[call(), call()]} actions={actions} />);
    expect(screen.getByRole("button", { name: /Used 2 tools/ }).getAttribute("aria-expanded")).toBe("false");
  });

  it("stays open when one needs eyes", () => {
    show(<ToolGroup calls={[call(), call({ status: "timeout" })]} actions={actions} />);
    expect(screen.getByRole("button", { name: /did not succeed/ }).getAttribute("aria-expanded")).toBe(
      "true",
    );
  });
});
