/** Every shortcut of the window, as data: the palette shows what the keys do. */
export interface Shortcut {
  /** "k", "1"; always with the command key of the platform. */
  key: string;
  shift?: boolean;
  action: ActionId;
}

export type ActionId = "palette" | "newChat" | "tools" | "rail" | "settings" | "approval";

export const shortcuts: readonly Shortcut[] = [
  { key: "k", action: "palette" },
  { key: "o", shift: true, action: "newChat" },
  { key: "e", action: "tools" },
  { key: "b", action: "rail" },
  { key: ",", action: "settings" },
  { key: "a", shift: true, action: "approval" },
];

export function keysOf(action: ActionId, mod: string): string {
  const s = shortcuts.find((x) => x.action === action);
  return s ? `${mod}+${s.shift ? "Shift+" : ""}${s.key.toUpperCase()}` : "";
}
