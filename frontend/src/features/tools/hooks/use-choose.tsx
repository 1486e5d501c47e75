import { createContext, type ReactNode, useContext, useRef, useState } from "react";
import type { ApprovalChoice, ToolView } from "@/api/types";
import { toastError, toastUndo } from "@/components/toast";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useApprovalActions } from "../queries";

const choiceWords = { ask: "Ask", allow: "Allow", block: "Block" } as const;

/**
 * Sets the approval of tools, asks first where the risk is high, and offers the way back.
 * choose says whether it asks; onAsked is called when that question is gone.
 */
export function useChoose(onAsked?: () => void) {
  const { set, undo } = useApprovalActions();
  const [risky, setRisky] = useState<{ tools: readonly ToolView[]; choice: ApprovalChoice }>();
  const apply = (tools: readonly ToolView[], choice: ApprovalChoice, acceptRisk: boolean) =>
    set.mutate(
      { refs: tools.map((t) => t.tool.ref), choice, acceptRisk },
      {
        onSuccess: (out) => {
          const what = tools.length === 1 ? (tools[0]?.tool.ref.name ?? "") : `${tools.length} tools`;
          toastUndo(`${what}: ${choice ? choiceWords[choice] : "by the rules"}`, () =>
            undo.mutate(out.undoId, { onError: (e) => toastError(e) }),
          );
        },
        onError: (e) => toastError(e),
      },
    );
  const choose = (tools: readonly ToolView[], choice: ApprovalChoice) => {
    const asks = choice === "allow" && tools.some((t) => t.inherited.risk === "high");
    if (asks) setRisky({ tools, choice });
    else apply(tools, choice, false);
    return asks;
  };
  const high = risky?.tools.filter((t) => t.inherited.risk === "high") ?? [];
  const first = high[0];
  const dialog = (
    <ConfirmDialog
      open={risky !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        setRisky(undefined);
        onAsked?.();
      }}
      title={
        high.length === 1
          ? `Let ${first?.tool.ref.name} run without asking?`
          : `Let ${high.length} tools of high risk run without asking?`
      }
      description={
        high.length === 1
          ? `${first?.inherited.why} An agent could call it at any time, with any arguments, and you would see it only afterwards.`
          : `${high
              .slice(0, 8)
              .map((t) => `${t.tool.ref.name}: ${t.inherited.why}`)
              .join(" ")}${high.length > 8 ? ` And ${high.length - 8} more.` : ""}`
      }
      action="Allow in spite of the risk"
      onConfirm={() => risky && apply(risky.tools, risky.choice, true)}
    />
  );
  return { choose, dialog, asking: risky !== undefined };
}

type Choose = (tools: readonly ToolView[], choice: ApprovalChoice) => void;

const Context = createContext<Choose>(() => {});

/** One way to choose for all rows below: a thousand of them must not hold a dialog each. */
export function ApprovalProvider({ children }: { children: ReactNode }) {
  const { choose, dialog } = useChoose();
  const latest = useRef(choose);
  latest.current = choose;
  const stable = useRef<Choose>((tools, choice) => void latest.current(tools, choice));
  return (
    <Context value={stable.current}>
      {children}
      {dialog}
    </Context>
  );
}

/** Chooses by the ApprovalProvider above. */
export function useChooseAbove(): Choose {
  return useContext(Context);
}
