export { ApprovalBulk, ApprovalSelect } from "./components/approval-select";
export { CustomTools } from "./components/custom-tools";
export { ReviewChanged } from "./components/review-changed";
export { ToolList } from "./components/tool-list";
export { ApprovalProvider } from "./hooks/use-choose";
export { toolKey } from "./lib/keys";
export { useCustomTools, useOfferable, useTools } from "./queries";
export { useToolsStore } from "./store";
