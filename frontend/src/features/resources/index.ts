export { PromptsPanel } from "./components/prompts-panel";
export { ResourcesPanel } from "./components/resources-panel";
export { noteResourceChange } from "./store";
