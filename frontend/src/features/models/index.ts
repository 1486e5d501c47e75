export { ModelPicker } from "./components/model-picker";
export { ProviderSettings } from "./components/provider-settings";
export { effective, modelLabel } from "./lib";
export { useModels, useProviders } from "./queries";
