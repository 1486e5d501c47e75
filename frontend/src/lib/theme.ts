import { readLayout, writeLayout } from "./storage";

export type Theme = "system" | "light" | "dark";

function resolve(theme: string): "light" | "dark" {
  if (theme === "light" || theme === "dark") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function applyTheme(theme: string): void {
  document.documentElement.dataset.theme = resolve(theme);
  writeLayout("theme", theme);
}

/** Before the settings are known: what was chosen last time, so that nothing flashes. */
export function applyLastTheme(): void {
  document.documentElement.dataset.theme = resolve(readLayout<string>("theme", "system"));
}
