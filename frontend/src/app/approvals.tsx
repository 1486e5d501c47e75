import { useCallback, useMemo } from "react";
import type { Answer } from "@/api/types";
import { toastError } from "@/components/toast";
import { useAgents } from "@/features/agents";
import { ApprovalDock, approvalsHere, useApprovals, useResolve } from "@/features/approvals";
import { focusComposer } from "./focus";

/** The approval bar, wherever the person is: under the chat, or in the Tools dialog. */
export function Approvals({
  conversationId,
  onLeave = focusComposer,
}: {
  conversationId?: string;
  onLeave?: () => void;
}) {
  const all = useApprovals().data;
  const agents = useAgents().data;
  const resolve = useResolve();
  const send = resolve.mutateAsync;
  const here = useMemo(() => approvalsHere(all ?? [], conversationId), [all, conversationId]);

  const onResolve = useCallback(
    (ids: string[], answer: Answer) => {
      for (const id of ids) send({ id, answer }).catch((err: unknown) => toastError(err));
    },
    [send],
  );

  return (
    <ApprovalDock
      approvals={here}
      busy={resolve.isPending}
      agentName={(id) => agents?.find((a) => a.id === id)?.name}
      onResolve={onResolve}
      onLeave={onLeave}
    />
  );
}
