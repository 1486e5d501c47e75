import { Braces, FileInput, Globe, Plus, Search } from "lucide-react";
import { type RefObject, useRef, useState } from "react";
import type { CustomTool } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { toastError, toastUndo } from "@/components/toast";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { Menu, MenuContent, MenuItem, MenuTrigger, useAfterMenu } from "@/components/ui/menu";
import { Switch } from "@/components/ui/switch";
import { cn } from "@/lib/cn";
import { pretty } from "@/lib/json";
import { newReach } from "../lib/reach";
import { useCustomToolActions, useCustomTools, useTools } from "../queries";
import { useToolsStore } from "../store";
import { ApprovalSelect } from "./approval-select";
import { BuiltinTool } from "./builtin-tool";
import { blankConnector, CustomEditor } from "./custom-editor";
import { OpenAPIDialog } from "./openapi-dialog";
import { type Reach, ReachDialog } from "./reach-dialog";

const newKey = "+new";

/** The person's own tools, as tools.json keeps them. */
export function CustomTools({ searchRef }: { searchRef: RefObject<HTMLInputElement | null> }) {
  const custom = useCustomTools();
  const catalog = useTools().data;
  const actions = useCustomToolActions();
  const selected = useToolsStore((s) => s.custom);
  const select = useToolsStore((s) => s.selectCustom);
  const drafts = useToolsStore((s) => s.drafts);
  const setDraft = useToolsStore((s) => s.setDraft);
  const [search, setSearch] = useState("");
  const [ask, setAsk] = useState<Reach>();
  const [round, setRound] = useState(0);
  const [importing, setImporting] = useState(false);
  const menu = useAfterMenu();
  const editor = useRef<HTMLDivElement>(null);
  const builtin = (useTools().data ?? []).filter((t) => t.tool.ref.kind === "builtin");

  if (custom.error) {
    return (
      <div className="p-5">
        <ErrorNote
          error={custom.error}
          title="Your tools could not be read."
          onRetry={() => void custom.refetch()}
        />
      </div>
    );
  }
  if (!custom.data) return <p className="p-5 text-ink-3 text-sm">Reading your tools…</p>;
  const { tools } = custom.data;
  const shown = tools.filter((t) =>
    `${t.name} ${t.description}`.toLowerCase().includes(search.toLowerCase()),
  );
  const shownBuiltin = builtin.filter((t) =>
    `${t.tool.ref.name} ${t.tool.title} ${t.tool.description}`.toLowerCase().includes(search.toLowerCase()),
  );
  const own = builtin.find((t) => selected === t.alias && !tools.some((c) => c.name === t.alias));
  const isNew = selected === newKey || tools.length === 0;
  const tool = isNew ? undefined : (tools.find((t) => t.name === selected) ?? tools[0]);

  const view = catalog?.find((v) => v.tool.ref.kind === "custom" && v.tool.ref.name === tool?.name);

  const toggle = (t: CustomTool, enabled: boolean) => {
    const go = () =>
      actions.update.mutate({ name: t.name, tool: { ...t, enabled } }, { onError: (e) => toastError(e) });
    const news = newReach(t, { ...t, enabled });
    if (news.length > 0) setAsk({ name: t.name, news, go });
    else go();
  };
  /** Opens the editor for a new tool; what is written there already stays when it is of the same kind. */
  const begin = (from: CustomTool | undefined) => {
    const now = drafts[newKey];
    if (!now || (now.tool.http !== undefined) !== (from !== undefined)) {
      setDraft(newKey, from && { tool: from, parameters: pretty(from.parameters) });
    }
    setRound((n) => n + 1);
    select(newKey);
    setTimeout(() => editor.current?.querySelector<HTMLElement>("[data-begin]")?.focus());
  };
  const duplicate = (t: CustomTool) => {
    let name = `${t.name}_copy`;
    for (let n = 2; tools.some((o) => o.name === name); n++) name = `${t.name}_copy${n}`;
    setDraft(newKey, { tool: { ...t, name }, parameters: pretty(t.parameters) });
    select(newKey);
  };
  const remove = (t: CustomTool) =>
    actions.remove.mutate(t.name, {
      onSuccess: (out) => {
        select(undefined);
        toastUndo(`${t.name} removed`, () =>
          actions.restore.mutate(out.undoId, { onError: (e) => toastError(e) }),
        );
      },
      onError: (e) => toastError(e),
    });

  return (
    <div className="flex h-full min-h-0 max-md:flex-col short:max-md:overflow-y-auto">
      <div className="flex min-h-0 w-[300px] shrink-0 flex-col border-line border-r max-md:h-48 max-md:w-full max-md:overflow-y-auto max-md:border-r-0 max-md:border-b">
        <div className="flex gap-2 border-line border-b p-3">
          <div className="relative min-w-0 flex-1">
            <Search className="pointer-events-none absolute top-2 left-2 size-4 text-ink-3" aria-hidden />
            <Input
              ref={searchRef}
              type="search"
              aria-label="Search custom tools"
              placeholder="Search tools"
              className="pl-8"
              value={search}
              onChange={(e) => setSearch(e.target.value)}
            />
          </div>
          <Menu>
            <MenuTrigger asChild>
              <Button variant="primary">
                <Plus /> Add
              </Button>
            </MenuTrigger>
            <MenuContent align="end" onCloseAutoFocus={menu.onCloseAutoFocus}>
              <MenuItem onSelect={() => menu.later(() => begin(undefined))}>
                <Braces aria-hidden /> JavaScript tool
              </MenuItem>
              <MenuItem onSelect={() => menu.later(() => begin(blankConnector))}>
                <Globe aria-hidden /> HTTP connector
              </MenuItem>
              <MenuItem onSelect={() => menu.later(() => setImporting(true))}>
                <FileInput aria-hidden /> Import from OpenAPI…
              </MenuItem>
            </MenuContent>
          </Menu>
        </div>
        <ul
          className="min-h-0 flex-1 overflow-y-auto p-1.5 max-md:flex-none max-md:overflow-visible"
          aria-label="Custom tools"
        >
          {shown.map((t) => (
            <li
              key={t.name}
              className={cn(
                "flex items-center gap-1 rounded-md pr-2 hover:bg-hover",
                t === tool && !own && "bg-accent-soft hover:bg-accent-soft",
              )}
            >
              <button
                type="button"
                aria-current={t === tool && !own ? "true" : undefined}
                onClick={() => select(t.name)}
                className="grid min-h-11 min-w-0 flex-1 content-center rounded-md px-2 py-1 text-left"
              >
                <span className="flex items-center gap-1.5">
                  <span className="truncate font-medium font-mono text-xs">{t.name}</span>
                  {drafts[t.name] && (
                    <span className="flex items-center gap-1 text-warning text-xs">
                      <span aria-hidden className="size-1.5 rounded-full bg-warning" /> unsaved
                    </span>
                  )}
                </span>
                <span className="truncate text-ink-2 text-xs">
                  {t.enabled ? t.description || "No description" : "Off"}
                </span>
              </button>
              <Switch
                aria-label={`${t.name} on`}
                checked={t.enabled}
                onCheckedChange={(on) => toggle(t, on)}
              />
            </li>
          ))}
          {tools.length === 0 && (
            <li className="p-3 text-ink-2 text-sm">No custom tool yet. Write the first at the right.</li>
          )}
          {tools.length > 0 && shown.length === 0 && (
            <li className="p-3 text-ink-2 text-sm">No tool matches “{search}”.</li>
          )}
        </ul>
        {shownBuiltin.length > 0 && (
          <>
            <h3
              id="builtin-tools"
              className="border-line border-t px-3.5 pt-2 font-medium text-ink-2 text-xs"
            >
              Built-in
            </h3>
            <ul
              className="max-h-[45%] overflow-y-auto p-1.5 max-md:max-h-none max-md:overflow-visible"
              aria-labelledby="builtin-tools"
            >
              {shownBuiltin.map((t) => (
                <li key={t.alias}>
                  <button
                    type="button"
                    aria-current={t === own ? "true" : undefined}
                    onClick={() => select(t.alias)}
                    className={cn(
                      "grid min-h-9 w-full content-center rounded-md px-2 py-1 text-left hover:bg-hover",
                      t === own && "bg-accent-soft hover:bg-accent-soft",
                    )}
                  >
                    <span className="truncate font-mono text-xs">{t.tool.ref.name}</span>
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <div
        ref={editor}
        className="min-h-0 min-w-0 flex-1 overflow-y-auto p-5 short:max-md:flex-none short:max-md:overflow-visible"
      >
        {own ? (
          <BuiltinTool key={own.alias} view={own} />
        ) : (
          <CustomEditor
            key={tool?.name ?? `${newKey}${round}`}
            draftKey={tool?.name ?? newKey}
            tool={tool}
            taken={tools.map((t) => t.name)}
            onSave={async (next) => {
              if (tool) await actions.update.mutateAsync({ name: tool.name, tool: next });
              else await actions.add.mutateAsync(next);
              select(next.name);
            }}
            approval={view && <ApprovalSelect view={view} />}
            onDuplicate={duplicate}
            onRemove={tool ? () => remove(tool) : undefined}
          />
        )}
      </div>
      <OpenAPIDialog
        open={importing}
        onClose={() => setImporting(false)}
        onAdded={(first) => first && select(first)}
      />
      <ReachDialog ask={ask} onClose={() => setAsk(undefined)} />
    </div>
  );
}
