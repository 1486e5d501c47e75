export { AgentEditor } from "./components/agent-editor";
export { AgentList } from "./components/agent-list";
export { choiceSentence, newAgent } from "./lib";
export { useAgentActions, useAgents } from "./queries";
