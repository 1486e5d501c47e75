import { useEffect } from "react";
import { isMod } from "@/lib/platform";
import { focusApproval } from "../focus";
import { narrowQuery, useLayout } from "../shell/layout-store";
import { useNav, useWhere } from "../use-nav";
import { type ActionId, shortcuts } from "./shortcuts";

export function useShortcuts(): void {
  const nav = useNav();
  const open = useWhere().search.tools !== undefined;
  useEffect(() => {
    const actions: Record<ActionId, () => void> = {
      palette: () => useLayout.getState().set({ palette: !useLayout.getState().palette }),
      newChat: nav.newChat,
      tools: () => (open ? nav.closeTools() : nav.openTools("mcp")),
      rail: () => {
        const { rail, drawer, set } = useLayout.getState();
        if (matchMedia(narrowQuery).matches) set({ drawer: !drawer });
        else set({ rail: !rail });
      },
      settings: () => nav.toSettings(),
      approval: focusApproval,
    };
    const onKey = (e: KeyboardEvent) => {
      if (!isMod(e) || e.altKey) return;
      const found = shortcuts.find((s) => s.key === e.key.toLowerCase() && (s.shift ?? false) === e.shiftKey);
      if (!found) return;
      e.preventDefault();
      actions[found.action]();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [nav, open]);
}
