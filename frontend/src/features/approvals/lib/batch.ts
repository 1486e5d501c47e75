import type { Approval } from "@/api/types";

/** Needs a moment before a button works: a click may have been meant for something else. */
export function isGuarded(a: Approval): boolean {
  return a.decision.risk === "high" || a.annotations.destructiveHint === true;
}

/**
 * The approvals to show together: the oldest and its companions of the same
 * run. Calls of another run are never decided with them.
 */
export function firstBatch(approvals: readonly Approval[]): Approval[] {
  const first = approvals[0];
  if (!first) return [];
  const run = first.principal.runId;
  if (!run) return [first];
  return approvals.filter((a) => a.principal.runId === run);
}

/** Those that belong on the present screen: this conversation's, and a person's own calls. */
export function approvalsHere(
  approvals: readonly Approval[],
  conversationId: string | undefined,
): Approval[] {
  return approvals.filter((a) => {
    const home = a.principal.conversationId;
    return !home || home === conversationId;
  });
}

export function whoAsks(a: Approval, agentName: (id: string) => string | undefined): string {
  switch (a.principal.kind) {
    case "agent":
      return agentName(a.principal.agentId ?? "") ?? "An agent";
    case "window":
      return "You, from Try it";
    case "cli":
      return "The command line";
    case "rest":
      return "A REST client";
    case "gateway":
      return "A gateway client";
    case "server":
      return "A server";
  }
}
