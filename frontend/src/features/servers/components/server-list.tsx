import { ArrowDownWideNarrow, Plus, Search } from "lucide-react";
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef } from "react";
import { StatusIcon } from "@/components/status-icon";
import { Badge, toneText } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { Menu, MenuContent, MenuRadioGroup, MenuRadioItem, MenuTrigger } from "@/components/ui/menu";
import { Switch } from "@/components/ui/switch";
import { useNow } from "@/components/use-now";
import { cn } from "@/lib/cn";
import { modName } from "@/lib/platform";
import {
  arrange,
  type ListedServer,
  matchesFilter,
  type ServerFilter,
  type ServerSort,
  transportNames,
} from "@/lib/servers";
import { lookOf, serverSentence } from "@/lib/status";
import { useServersStore } from "../store";

const filters: { value: ServerFilter; label: string }[] = [
  { value: "all", label: "All" },
  { value: "on", label: "On" },
  { value: "attention", label: "Needs attention" },
  { value: "off", label: "Off" },
];

const sorts: Record<ServerSort, string> = {
  attention: "Needs attention first",
  name: "By name",
  tools: "Most tools first",
};

interface ServerListProps {
  servers: readonly ListedServer[];
  selected?: string;
  searchRef: RefObject<HTMLInputElement | null>;
  /** What all tools together cost: "64 tools, about 21,400 tokens". */
  meter?: string;
  onSelect: (name: string) => void;
  onToggle: (name: string, enabled: boolean) => void;
  onAdd: () => void;
  onRemove: (name: string) => void;
  onRename: (name: string) => void;
}

export function ServerList(props: ServerListProps) {
  const { servers, selected, searchRef, meter, onSelect, onToggle, onAdd, onRemove, onRename } = props;
  const { search, filter, sort, set } = useServersStore();
  const shown = useMemo(() => arrange(servers, filter, search, sort), [servers, filter, search, sort]);
  const now = useNow(shown.some((s) => s.status.state === "reconnecting"));

  const list = useRef<HTMLUListElement>(null);
  const focusRow = useServersStore((s) => s.focusRow);
  useEffect(() => {
    if (!focusRow || !shown.some((s) => s.spec.name === focusRow)) return;
    const row = list.current?.querySelector<HTMLElement>(
      `[data-server="${CSS.escape(focusRow)}"] [data-open]`,
    );
    row?.focus();
    // In a narrow dialog the list is not shown beside the details.
    if (document.activeElement === document.body)
      list.current?.closest<HTMLElement>("[role=dialog]")?.focus({ preventScroll: true });
    set({ focusRow: undefined });
  }, [focusRow, shown, set]);

  const onKeyDown = (e: KeyboardEvent<HTMLElement>) => {
    const row = (e.target as HTMLElement).closest<HTMLElement>("[data-server]");
    if (!row) return;
    const name = row.dataset.server ?? "";
    const all = [...e.currentTarget.querySelectorAll<HTMLElement>("[data-open]")];
    const at = all.findIndex((b) => row.contains(b));
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      all[at + (e.key === "ArrowDown" ? 1 : -1)]?.focus();
    } else if (e.key === "Home" || e.key === "End") {
      e.preventDefault();
      all.at(e.key === "Home" ? 0 : -1)?.focus();
    } else if (e.key === "/") {
      e.preventDefault();
      searchRef.current?.focus();
    } else if (e.key === " " && (e.target as HTMLElement).dataset.open !== undefined) {
      e.preventDefault();
      const s = servers.find((x) => x.spec.name === name);
      if (s) onToggle(name, s.spec.disabled === true);
    } else if (e.key === "F2") onRename(name);
    else if (e.key === "Delete") onRemove(name);
  };

  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="grid grid-cols-1 gap-2 border-line border-b p-3">
        <div className="flex gap-2">
          <div className="relative min-w-0 flex-1">
            <Search className="pointer-events-none absolute top-2 left-2 size-4 text-ink-3" aria-hidden />
            <Input
              ref={searchRef}
              type="search"
              aria-label={`Search servers (${modName}+F)`}
              placeholder="Search servers"
              className="pl-8"
              value={search}
              onChange={(e) => set({ search: e.target.value })}
              onKeyDown={(e) => {
                if (e.key === "Escape" && search) {
                  e.stopPropagation();
                  set({ search: "" });
                }
              }}
            />
          </div>
          <Button variant="primary" onClick={onAdd} title={`${modName}+N`}>
            <Plus /> Add
          </Button>
        </div>
        <div className="flex flex-wrap gap-1" role="group" aria-label="Filter">
          {filters.map((f) => {
            const n = servers.filter((s) => matchesFilter(s, f.value)).length;
            return (
              <button
                key={f.value}
                type="button"
                aria-pressed={filter === f.value}
                onClick={() => set({ filter: f.value })}
                className={cn(
                  "h-6 rounded-full border border-line px-1.5 text-xs hover:bg-hover",
                  filter === f.value ? "border-accent bg-accent-soft font-medium text-accent" : "text-ink-2",
                )}
              >
                {f.label} <span className="nums">{n}</span>
              </button>
            );
          })}
        </div>
        <div className="flex items-center gap-2">
          <p className="nums min-w-0 flex-1 text-ink-3 text-xs" data-testid="meter">
            {meter}
          </p>
          <Menu>
            <MenuTrigger asChild>
              <IconButton label={`Sort: ${sorts[sort]}`} size="icon-sm" className="size-6">
                <ArrowDownWideNarrow />
              </IconButton>
            </MenuTrigger>
            <MenuContent align="end">
              <MenuRadioGroup value={sort} onValueChange={(v) => set({ sort: v as ServerSort })}>
                {Object.entries(sorts).map(([value, label]) => (
                  <MenuRadioItem key={value} value={value}>
                    {label}
                  </MenuRadioItem>
                ))}
              </MenuRadioGroup>
            </MenuContent>
          </Menu>
        </div>
      </div>
      <ul
        ref={list}
        className="min-h-0 flex-1 overflow-y-auto p-1.5"
        aria-label="Servers"
        onKeyDown={onKeyDown}
      >
        {shown.map((s) => {
          const look = lookOf(s);
          const name = s.spec.name;
          const current = name === selected;
          return (
            <li
              key={name}
              data-server={name}
              className={cn(
                "flex items-center gap-1 rounded-md pr-2 hover:bg-hover",
                current && "bg-accent-soft hover:bg-accent-soft",
              )}
            >
              <button
                type="button"
                data-open
                aria-current={current ? "true" : undefined}
                onClick={() => onSelect(name)}
                className="flex min-h-12 min-w-0 flex-1 items-start gap-2 rounded-md px-2 py-1.5 text-left"
              >
                <StatusIcon look={look} label={look.word} className="mt-0.5" />
                <span className="grid min-w-0 flex-1 gap-0.5">
                  <span className="flex min-w-0 items-center gap-1.5">
                    <span className="min-w-0 truncate font-medium font-mono text-xs" title={name}>
                      {name}
                    </span>
                    <Badge className="h-4">{transportNames[s.spec.transport]}</Badge>
                  </span>
                  <span
                    className={cn(
                      "line-clamp-2 text-xs leading-snug",
                      look.tone === "success" || look.tone === "neutral" ? "text-ink-2" : toneText[look.tone],
                    )}
                  >
                    {serverSentence(s, now)}
                  </span>
                </span>
              </button>
              <Switch
                aria-label={`${name} on`}
                checked={!s.spec.disabled}
                onCheckedChange={(on) => onToggle(name, on)}
              />
            </li>
          );
        })}
        {shown.length === 0 && servers.length > 0 && (
          <li className="grid justify-items-start gap-2 p-3 text-ink-2 text-sm">
            No server matches.
            <Button size="sm" onClick={() => set({ search: "", filter: "all" })}>
              Show all servers
            </Button>
          </li>
        )}
      </ul>
    </div>
  );
}
