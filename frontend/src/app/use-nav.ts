import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Search } from "./router";

/** Every way through the app. What is on the screen is in the address. */
export function useNav() {
  const navigate = useNavigate();
  return useMemo(
    () => ({
      newChat: () => void navigate({ to: "/", search: {} }),
      toChat: (id: string, keepTools = false) =>
        void navigate({ to: "/chat/$id", params: { id }, search: (s: Search) => (keepTools ? s : {}) }),
      toSettings: (section = "models") =>
        void navigate({ to: "/settings/$section", params: { section }, search: {} }),
      toAudit: () => void navigate({ to: "/audit", search: {} }),
      openTools: (tab: "mcp" | "custom" = "mcp", server?: string, tool?: string) =>
        void navigate({ to: ".", search: { tools: tab, server, tool } }),
      closeTools: () => void navigate({ to: ".", search: {} }),
    }),
    [navigate],
  );
}

export type Nav = ReturnType<typeof useNav>;

export function useWhere(): { conversationId?: string; search: Search } {
  const params = useParams({ strict: false });
  const search = useSearch({ strict: false });
  return { conversationId: params.id, search };
}
