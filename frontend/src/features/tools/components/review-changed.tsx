import { useState } from "react";
import type { ToolView } from "@/api/types";
import { useChoose } from "../hooks/use-choose";
import { ApprovalReview } from "./approval-review";

/** Goes through the tools that changed since they were allowed, one after the other. */
export function ReviewChanged({ tools, onClose }: { tools: readonly ToolView[]; onClose: () => void }) {
  const [list] = useState(() => tools.filter((t) => t.approval.changed));
  const [at, setAt] = useState(0);
  const { choose, dialog, asking } = useChoose(() => at >= list.length && onClose());
  const view = list[at];
  return (
    <>
      {view && !asking && (
        <ApprovalReview
          key={view.tool.ref.name}
          view={view}
          place={list.length > 1 ? `${at + 1} of ${list.length}` : undefined}
          onClose={onClose}
          onChoose={(choice) => {
            setAt(at + 1);
            const asks = choose([view], choice);
            if (!asks && at + 1 >= list.length) onClose();
          }}
        />
      )}
      {dialog}
    </>
  );
}
