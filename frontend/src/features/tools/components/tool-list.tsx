import { useVirtualizer } from "@tanstack/react-virtual";
import { Search } from "lucide-react";
import { memo, type ReactNode, useEffect, useMemo, useRef } from "react";
import type { ToolView } from "@/api/types";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { meter } from "@/lib/tokens";
import { toolKey } from "../lib/keys";
import { useToolsStore } from "../store";
import { ToolRow } from "./tool-row";

interface ToolListProps {
  tools: readonly ToolView[];
  /** What to say when there is none. */
  empty: string;
  /** The name of a tool to open and show. */
  focus?: string;
  /** The calls that wait for an approval. */
  waiting?: ReadonlySet<string>;
  onServer?: () => void;
  /** The names of tools that are switched off. */
  off?: ReadonlySet<string>;
  /** Switches tools on or off; undefined where they cannot be. */
  onToggle?: (names: string[], on: boolean) => void;
  /** A control of each row, such as its approval. */
  control?: (view: ToolView) => ReactNode;
  /** A control for all that the search leaves; which names them in words. */
  bulk?: (shown: readonly ToolView[], which: string) => ReactNode;
}

const searchFrom = 8;

/** The tools of a server. Stays quick with a thousand of them. */
export function ToolList({
  tools,
  empty,
  focus,
  waiting,
  onServer,
  off,
  onToggle,
  control,
  bulk,
}: ToolListProps) {
  const search = useToolsStore((s) => s.search);
  const setSearch = useToolsStore((s) => s.setSearch);
  const setOpen = useToolsStore((s) => s.setOpen);
  const scroller = useRef<HTMLDivElement>(null);
  const useSearch = tools.length >= searchFrom;
  const texts = useMemo(
    () => tools.map(({ tool: t }) => `${t.ref.name} ${t.title} ${t.description}`.toLowerCase()),
    [tools],
  );
  const shown = useMemo(() => {
    const words = useSearch ? search.toLowerCase().split(/\s+/).filter(Boolean) : [];
    if (words.length === 0) return tools;
    return tools.filter((_, i) => words.every((w) => texts[i]?.includes(w)));
  }, [tools, texts, search, useSearch]);

  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 56,
    getItemKey: (i) => (shown[i] ? toolKey(shown[i].tool.ref) : i),
    overscan: 6,
    // Rows may come a frame after the scrolling: better than a frame that waits for rows.
    useFlushSync: false,
  });

  const focusAt = focus ? shown.findIndex((t) => t.tool.ref.name === focus) : -1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each tool that is asked for
  useEffect(() => {
    const found = shown[focusAt];
    if (!found) return;
    setOpen(toolKey(found.tool.ref), true);
    virtual.scrollToIndex(focusAt, { align: "start" });
  }, [focusAt, focus]);

  if (tools.length === 0) return <p className="p-5 text-ink-2 text-sm">{empty}</p>;
  return (
    <div className="flex h-full min-h-0 flex-col">
      {useSearch && (
        <div className="relative px-5 pt-3">
          <Search className="pointer-events-none absolute top-5 left-7 size-4 text-ink-3" aria-hidden />
          <Input
            type="search"
            aria-label="Search tools"
            placeholder="Search tools"
            className="pl-8"
            value={search}
            onChange={(e) => setSearch(e.target.value)}
          />
        </div>
      )}
      {onToggle && <Bulk shown={shown} all={tools.length} off={off} onToggle={onToggle} bulk={bulk} />}
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto px-5 py-3">
        {shown.length === 0 && <p className="text-ink-2 text-sm">No tool matches “{search}”.</p>}
        <ul className="relative" style={{ height: virtual.getTotalSize() }} aria-label="Tools">
          {virtual.getVirtualItems().map((item) => {
            const view = shown[item.index];
            if (!view) return null;
            return (
              <li
                key={item.key}
                data-index={item.index}
                ref={virtual.measureElement}
                aria-setsize={shown.length}
                aria-posinset={item.index + 1}
                className="absolute top-0 left-0 w-full pb-1.5"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Row
                  view={view}
                  waiting={waiting}
                  onServer={onServer}
                  off={off?.has(view.tool.ref.name)}
                  onToggle={onToggle}
                  control={control}
                />
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}

interface RowProps extends Pick<ToolListProps, "waiting" | "onServer" | "onToggle" | "control"> {
  view: ToolView;
  off?: boolean;
}

/** Scrolling lays out the list anew with every frame; the rows that stay are left alone. */
const Row = memo(function Row({ view, onToggle, control, ...rest }: RowProps) {
  return (
    <ToolRow
      {...rest}
      view={view}
      onToggle={onToggle && ((on) => onToggle([view.tool.ref.name], on))}
      control={control?.(view)}
    />
  );
});

interface BulkProps {
  shown: readonly ToolView[];
  all: number;
  off?: ReadonlySet<string>;
  onToggle: (names: string[], on: boolean) => void;
  bulk?: ToolListProps["bulk"];
}

/** What the tools cost, and a switch for all that the search leaves. */
const Bulk = memo(function Bulk({ shown, all, off, onToggle, bulk }: BulkProps) {
  const names = shown.map((t) => t.tool.ref.name);
  const offNow = names.filter((n) => off?.has(n));
  const which = shown.length === all ? "all" : `these ${shown.length}`;
  const on = shown.filter((t) => !off?.has(t.tool.ref.name)).map((t) => t.tool);
  return (
    <div className="flex flex-wrap items-center gap-2 border-line border-b px-5 py-2 text-ink-2 text-xs">
      <p className="nums min-w-0 flex-1" role="status">
        {meter(on) || "Every tool here is off"}
        {offNow.length > 0 && on.length > 0 && `, ${offNow.length} off`}
      </p>
      {bulk?.(shown, which)}
      {shown.length > 1 && (
        <>
          <Button size="sm" disabled={offNow.length === 0} onClick={() => onToggle(names, true)}>
            Turn {which} on
          </Button>
          <Button size="sm" disabled={offNow.length === names.length} onClick={() => onToggle(names, false)}>
            Turn {which} off
          </Button>
        </>
      )}
    </div>
  );
});
