export { ApprovalDock } from "./components/approval-dock";
export { approvalsHere } from "./lib/batch";
export { useApprovals, useResolve } from "./queries";
