import { X } from "lucide-react";
import { type PointerEvent, useCallback, useEffect, useRef } from "react";
import { IconButton } from "@/components/ui/button";
import { Tab, TabList, TabPanel, Tabs } from "@/components/ui/tabs";
import { useServersStore } from "@/features/servers";
import { ConfigBanner } from "@/features/settings";
import { ApprovalProvider, CustomTools, useCustomTools, useTools, useToolsStore } from "@/features/tools";
import { isMod, modName } from "@/lib/platform";
import { Approvals } from "../approvals";
import { useLayout } from "../shell/layout-store";
import { useSheetLayout } from "../shell/use-sheet-layout";
import { useListedServers } from "../use-listed-servers";
import { useNav, useWhere } from "../use-nav";
import { McpTools } from "./mcp-tools";

const narrowest = 640;

interface ToolsSheetProps {
  tab: "mcp" | "custom";
  server?: string;
  tool?: string;
}

/** The Tools dialog: a sheet over the chat that does not stop it. */
export function ToolsSheet({ tab, server, tool }: ToolsSheetProps) {
  const nav = useNav();
  const { conversationId } = useWhere();
  const servers = useListedServers();
  const custom = useCustomTools().data;
  const catalog = useTools().data;
  const { sheetWidth, set } = useLayout();
  const { width } = useSheetLayout();
  const sheet = useRef<HTMLElement>(null);
  const mcpSearch = useRef<HTMLInputElement>(null);
  const customSearch = useRef<HTMLInputElement>(null);
  const selectCustom = useToolsStore((s) => s.selectCustom);
  const setServers = useServersStore((s) => s.set);
  const mcpCount = (catalog ?? []).filter((t) => t.tool.ref.kind === "mcp").length;

  useEffect(() => {
    const before = document.activeElement;
    const el = sheet.current;
    if (el && !el.contains(before)) el.focus({ preventScroll: true });
    return () => {
      // What opened it may be gone by now, as an entry of the palette is, or be no more than the page.
      const opener = before instanceof HTMLElement && before.isConnected && before !== document.body;
      const back = opener ? before : document.querySelector<HTMLElement>('[data-testid="tools-button"]');
      back?.focus({ preventScroll: true });
    };
  }, []);

  // With the panel that was left, what had the focus there is gone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the tab changes
  useEffect(() => {
    if (document.activeElement === document.body)
      sheet.current?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
  }, [tab]);

  useEffect(() => {
    if (tab === "custom" && tool) selectCustom(tool);
  }, [tab, tool, selectCustom]);

  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      // What had the focus may be gone from the page; the dialog still closes.
      if (e.key === "Escape" && e.target === document.body) nav.closeTools();
      if (!isMod(e) || e.altKey || e.shiftKey) return;
      if (e.key === "1") nav.openTools("custom");
      else if (e.key === "2") nav.openTools("mcp", server);
      else if (e.key === "f") (tab === "mcp" ? mcpSearch : customSearch).current?.focus();
      else if (e.key === "n") {
        if (tab === "mcp") setServers({ adding: true });
        else {
          selectCustom("+new");
          setTimeout(() => sheet.current?.querySelector<HTMLElement>("[data-begin]")?.focus());
        }
      } else return;
      e.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [nav, server, tab, setServers, selectCustom]);

  const onResize = (e: PointerEvent<HTMLElement>) => {
    if (!e.currentTarget.hasPointerCapture(e.pointerId)) return;
    set({ sheetWidth: Math.max(narrowest, Math.round(window.innerWidth - e.clientX - 12)) });
  };

  // After an approval a person is where they were: Escape there cancels the run.
  const last = useRef<HTMLElement>(null);
  const focusBack = useCallback(() => {
    const back = last.current?.isConnected ? last.current : sheet.current;
    back?.focus({ preventScroll: true });
  }, []);

  return (
    <section
      ref={sheet}
      role="dialog"
      aria-modal="false"
      aria-label="Tools"
      tabIndex={-1}
      data-testid="tools-dialog"
      style={{ width }}
      className="absolute top-2 right-3 bottom-3 z-20 flex animate-appear flex-col overflow-hidden rounded-lg border border-line bg-canvas shadow-float outline-none"
      onFocus={(e) => {
        if (!e.target.closest('[data-testid="approval-bar"]')) last.current = e.target;
      }}
      onKeyDown={(e) => {
        if (e.key === "Escape" && !e.defaultPrevented) {
          e.stopPropagation();
          nav.closeTools();
        }
      }}
    >
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the dialog"
        aria-valuenow={sheetWidth}
        aria-valuemin={narrowest}
        aria-valuemax={2400}
        tabIndex={0}
        className="absolute inset-y-0 left-0 z-10 w-1.5 cursor-col-resize hover:bg-accent/40 focus-visible:bg-accent"
        onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
        onPointerMove={onResize}
        onKeyDown={(e) => {
          if (e.key === "ArrowLeft") set({ sheetWidth: sheetWidth + 40 });
          if (e.key === "ArrowRight") set({ sheetWidth: Math.max(narrowest, sheetWidth - 40) });
        }}
      />
      <Tabs
        value={tab}
        onValueChange={(v) =>
          nav.openTools(v === "custom" ? "custom" : "mcp", v === "mcp" ? server : undefined)
        }
        className="flex min-h-0 flex-1 flex-col"
      >
        <div className="flex items-center gap-3 border-line border-b bg-surface pr-2 pl-4">
          <h2 className="font-semibold text-base">Tools</h2>
          <TabList className="flex-1 border-b-0" aria-label="Kinds of tools">
            <Tab value="custom" className="h-11" title={`${modName}+1`}>
              Custom Tools ({custom?.tools.length ?? 0})
            </Tab>
            <Tab value="mcp" className="h-11" title={`${modName}+2`}>
              MCP Tools ({mcpCount})
            </Tab>
          </TabList>
          <IconButton label="Close Tools" shortcut="Esc" onClick={nav.closeTools}>
            <X />
          </IconButton>
        </div>
        <ConfigBanner className="border-line border-b px-3 py-2" />
        <ApprovalProvider>
          <TabPanel value="custom" className="overflow-hidden">
            <CustomTools searchRef={customSearch} />
          </TabPanel>
          <TabPanel value="mcp" className="overflow-hidden">
            <McpTools
              servers={servers}
              server={server}
              tool={tool}
              catalog={catalog ?? []}
              searchRef={mcpSearch}
            />
          </TabPanel>
        </ApprovalProvider>
      </Tabs>
      <Approvals conversationId={conversationId} onLeave={focusBack} />
    </section>
  );
}
