export { About } from "./components/about";
export { Appearance } from "./components/appearance";
export { BuiltinFolders } from "./components/builtin-folders";
export { ConfigBanner } from "./components/config-banner";
export { ToolNaming } from "./components/tool-naming";
export { useTheme } from "./hooks/use-theme";
export { useInfo, useSettings, useUpdateSettings } from "./queries";
