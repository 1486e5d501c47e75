import { Outlet } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import { Toaster } from "sonner";
import { useApprovals } from "@/features/approvals";
import { conversationTitle, useConversations } from "@/features/chat";
import { useLinks, useServerAnnouncements } from "@/features/servers";
import { ConfigBanner, useTheme } from "@/features/settings";
import { useLink } from "../link-context";
import { CommandPalette } from "../palette/command-palette";
import { useShortcuts } from "../palette/use-shortcuts";
import { Questions } from "../questions";
import { ToolsSheet } from "../tools/tools-sheet";
import { useListedServers } from "../use-listed-servers";
import { useNav, useWhere } from "../use-nav";
import { narrowQuery, useLayout } from "./layout-store";
import { Rail } from "./rail";
import { TitleBar } from "./title-bar";
import { useFileDrop } from "./use-file-drop";
import { useMedia } from "./use-media";
import { useSheetLayout } from "./use-sheet-layout";

/** The window: title bar, rail, the page, and the Tools dialog over it. */
export function Shell() {
  const { conversationId, search } = useWhere();
  const nav = useNav();
  const narrow = useMedia(narrowQuery);
  const { rail, drawer, set } = useLayout();
  const link = useLink();
  const sheet = useSheetLayout();
  const open = search.tools !== undefined;
  useServerAnnouncements(useListedServers());
  useTheme();
  useShortcuts();
  const showAdding = useCallback(() => nav.openTools("mcp"), [nav]);
  useLinks(showAdding);
  useFileDrop(showAdding);
  useWindowTitle(conversationId);

  return (
    <div className="flex h-full flex-col bg-canvas">
      <TitleBar />
      {link === "lost" && (
        <div
          role="status"
          className="border-line border-b bg-warning-soft px-4 py-1 text-center text-warning text-xs"
        >
          Reconnecting to Patchbay…
        </div>
      )}
      <ConfigBanner className="border-line border-b px-3 py-2" />
      <div className="relative flex min-h-0 flex-1">
        {!narrow && rail && (!open || sheet.railFree) && (
          <Rail className="w-[260px] shrink-0 border-line border-r" />
        )}
        {narrow && drawer && <Drawer onClose={() => set({ drawer: false })} />}
        <main
          className="relative min-w-0 flex-1"
          aria-label="Page"
          inert={open && !sheet.chatFree}
          style={open && sheet.chatFree ? { marginRight: sheet.width + 12 } : undefined}
        >
          <Outlet />
        </main>
        {search.tools && <ToolsSheet tab={search.tools} server={search.server} tool={search.tool} />}
      </div>
      <CommandPalette />
      <Questions />
      <Toaster
        position="bottom-left"
        theme={document.documentElement.dataset.theme === "dark" ? "dark" : "light"}
        toastOptions={{
          classNames: {
            toast: "!bg-raised !text-ink !border-line !rounded-lg !shadow-float !font-sans",
            description: "!text-ink-2",
            actionButton: "!bg-accent !text-on-accent !rounded-md",
          },
        }}
      />
    </div>
  );
}

function Drawer({ onClose }: { onClose: () => void }) {
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => e.key === "Escape" && onClose();
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [onClose]);
  return (
    <div className="absolute inset-0 z-30 flex">
      <Rail
        className="relative z-10 w-[280px] animate-appear border-line border-r shadow-float"
        onLeave={onClose}
        focus
      />
      <button
        type="button"
        tabIndex={-1}
        aria-label="Close the rail"
        className="absolute inset-0 bg-ink/30 dark:bg-sunken/70"
        onClick={onClose}
      />
    </div>
  );
}

function useWindowTitle(conversationId: string | undefined) {
  const waiting = useApprovals().data?.length ?? 0;
  const conversation = useConversations().data?.find((c) => c.id === conversationId);
  useEffect(() => {
    const name = conversation ? `${conversationTitle(conversation)} – Patchbay` : "Patchbay";
    document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
  }, [waiting, conversation]);
}
