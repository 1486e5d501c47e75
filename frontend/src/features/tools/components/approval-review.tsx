import type { ApprovalChoice, Tool, ToolView } from "@/api/types";
import { CodeDiff } from "@/components/code-diff";
import { ErrorNote } from "@/components/error-note";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { formatFull } from "@/lib/format";
import { pretty } from "@/lib/json";
import { useApproval } from "../queries";

/** The definition as text, without what is not the server's. */
function definition({ title, description, inputSchema, outputSchema, annotations }: Tool): string {
  return pretty({ title, description, annotations, inputSchema, outputSchema });
}

interface ApprovalReviewProps {
  view: ToolView;
  /** Where it stands among several: "1 of 3". */
  place?: string;
  onClose: () => void;
  onChoose: (choice: ApprovalChoice) => void;
}

/** What an allowed tool was, beside what it is now. */
export function ApprovalReview({ view, place, onClose, onChoose }: ApprovalReviewProps) {
  const { ref } = view.tool;
  const detail = useApproval(ref);
  const then = detail.data?.allowed;
  const now = detail.data?.now;
  const same = then && now && definition(then) === definition(now);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`${ref.name} changed since you allowed it${place ? ` (${place})` : ""}`}
      description={
        view.approval.since
          ? `Allowed ${formatFull(view.approval.since)}. Until you decide anew, the rules decide about it.`
          : undefined
      }
      className="w-[min(860px,calc(100vw-32px))]"
    >
      <div className="grid min-h-0 grid-cols-1 gap-2 overflow-y-auto px-4" data-testid="approval-review">
        {detail.error && (
          <ErrorNote
            error={detail.error}
            title="The two definitions could not be read."
            onRetry={() => void detail.refetch()}
          />
        )}
        {detail.isPending && <p className="text-ink-3 text-sm">Reading the two definitions…</p>}
        {then && now && !same && (
          <>
            <p className="text-ink-2 text-xs">− is as you allowed it, + is as it is now.</p>
            <CodeDiff
              language="json"
              label={`Differences of ${ref.name}`}
              before={definition(then)}
              after={definition(now)}
            />
          </>
        )}
        {same && (
          <p className="text-ink-2 text-sm">
            {ref.kind === "custom"
              ? "Its description and parameters are the same; its code or what it may reach is not. Its versions show both."
              : "What it says of itself is the same; only how it is identified changed."}
          </p>
        )}
      </div>
      <div className="flex flex-wrap justify-end gap-2 px-4 pt-3 pb-4">
        <Button onClick={() => onChoose("block")}>Block</Button>
        <Button onClick={() => onChoose("ask")}>Ask each time</Button>
        <Button variant="primary" disabled={!now} onClick={() => onChoose("allow")}>
          Allow as it is now
        </Button>
      </div>
    </Dialog>
  );
}
