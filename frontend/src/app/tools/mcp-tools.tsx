import { ChevronLeft, RefreshCw } from "lucide-react";
import { type RefObject, useEffect, useMemo, useState } from "react";
import type { ToolView } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { toastDone, toastError, toastUndo } from "@/components/toast";
import { IconButton } from "@/components/ui/button";
import { useApprovals } from "@/features/approvals";
import { useChatStore } from "@/features/chat";
import { useModels, useProviders } from "@/features/models";
import { PromptsPanel, ResourcesPanel } from "@/features/resources";
import {
  AddServers,
  rowFromCopy,
  ServerDetails,
  ServerList,
  useServerActions,
  useServers,
  useServersStore,
} from "@/features/servers";
import { useSettings } from "@/features/settings";
import {
  ApprovalBulk,
  ApprovalSelect,
  ReviewChanged,
  ToolList,
  toolKey,
  useToolsStore,
} from "@/features/tools";
import { cn } from "@/lib/cn";
import { pretty } from "@/lib/json";
import { arrange, type ListedServer } from "@/lib/servers";
import { meter } from "@/lib/tokens";
import { focusComposer } from "../focus";
import { useNav, useWhere } from "../use-nav";

interface McpToolsProps {
  servers?: readonly ListedServer[];
  server?: string;
  tool?: string;
  catalog: readonly ToolView[];
  searchRef: RefObject<HTMLInputElement | null>;
}

/** The servers at the left; the chosen one, or the box to paste into, at the right. */
export function McpTools({ servers, server, tool, catalog, searchRef }: McpToolsProps) {
  const nav = useNav();
  const where = useWhere();
  const query = useServers();
  const actions = useServerActions();
  const adding = useServersStore((s) => s.adding);
  const setTrial = useToolsStore((s) => s.setTrial);
  const set = useServersStore((s) => s.set);
  const approvals = useApprovals().data;
  const waiting = useMemo(() => new Set(approvals?.map((a) => a.call.id)), [approvals]);
  const names = useMemo(() => (servers ?? []).map((s) => s.spec.name), [servers]);
  const current = servers?.find((s) => s.spec.name === server) ?? (server ? undefined : servers?.[0]);
  const tools = useMemo(
    () => catalog.filter((t) => t.tool.ref.kind === "mcp" && t.tool.ref.server === current?.spec.name),
    [catalog, current?.spec.name],
  );

  const off = useMemo(() => new Set(current?.spec.disabledTools), [current?.spec.disabledTools]);
  const model = useDefaultModel();
  const cost = useMemo(() => {
    const offOf = new Map((servers ?? []).map((s) => [s.spec.name, new Set(s.spec.disabledTools)]));
    const on = catalog.filter(
      (t) => t.tool.ref.kind === "mcp" && !offOf.get(t.tool.ref.server ?? "")?.has(t.tool.ref.name),
    );
    return meter(
      on.map((t) => t.tool),
      model,
    );
  }, [catalog, servers, model]);
  const [reviewing, setReviewing] = useState(false);

  // A server that is asked for by name shows itself; the add flow keeps its rows.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a tool of the same server counts too
  useEffect(() => {
    if (server) set({ adding: false });
  }, [server, tool, set]);

  if (query.error && !servers) {
    return (
      <div className="p-5">
        <ErrorNote
          error={query.error}
          title="The servers could not be read."
          onRetry={() => void query.refetch()}
        />
      </div>
    );
  }
  if (!servers) return <p className="p-5 text-ink-3 text-sm">Reading servers…</p>;

  const select = (name?: string) => {
    set({ adding: false });
    nav.openTools("mcp", name);
  };
  const features = current?.status.features ?? [];
  const draftId = where.conversationId ?? "new";
  const toChat = (text: string) => {
    const { drafts, setDraft } = useChatStore.getState();
    const before = drafts[draftId] ?? "";
    setDraft(draftId, before ? `${before.trimEnd()}\n\n${text}` : text);
    if (where.conversationId) nav.closeTools();
    else nav.newChat();
    setTimeout(focusComposer); // the dialog gives the focus to what opened it first
  };
  const report = { onError: (e: unknown) => toastError(e) };
  const toggle = (name: string, enabled: boolean) => actions.setEnabled.mutate({ name, enabled }, report);
  const remove = (name: string) => {
    const { filter, search, sort } = useServersStore.getState();
    const order = arrange(servers, filter, search, sort).map((s) => s.spec.name);
    const at = order.indexOf(name);
    const next = order[at + 1] ?? order[at - 1];
    actions.remove.mutate(name, {
      onSuccess: (out) => {
        if (name === current?.spec.name) nav.openTools("mcp", next);
        set({ focusRow: next });
        toastUndo(`${name} removed`, () =>
          actions.restore.mutate(out.undoId, {
            onSuccess: () => {
              nav.openTools("mcp", name);
              set({ focusRow: name });
            },
            onError: report.onError,
          }),
        );
      },
      onError: report.onError,
    });
  };
  const toggleTools = (name: string, tools: string[], enabled: boolean) =>
    actions.setToolsEnabled.mutate(
      { name, tools, enabled },
      {
        onSuccess: () => {
          if (tools.length > 1)
            toastUndo(`${tools.length} tools turned ${enabled ? "on" : "off"}`, () =>
              // What was in its state before stays: only what changed goes back.
              actions.setToolsEnabled.mutate(
                { name, tools: tools.filter((t) => off.has(t) === enabled), enabled: !enabled },
                report,
              ),
            );
        },
        onError: report.onError,
      },
    );
  const addDemo = () =>
    actions.addDemo.mutate(undefined, {
      onSuccess: (view) => {
        select(view.spec.name);
        set({ focusRow: view.spec.name });
      },
      onError: report.onError,
    });

  const first = servers.length === 0;
  const add = (
    <AddServers
      actions={actions}
      servers={servers}
      taken={names}
      first={first}
      demoBusy={actions.addDemo.isPending}
      onOpen={(name) => {
        set({ tab: "tools" });
        select(name);
        set({ focusRow: name });
      }}
      onDemo={addDemo}
      onClose={() => {
        set({ adding: false, focusRow: current?.spec.name ?? servers[0]?.spec.name });
        if (!current && servers[0]) nav.openTools("mcp", servers[0].spec.name);
      }}
    />
  );
  if (first) return add;

  const pane = adding ? (
    add
  ) : current ? (
    <ServerDetails
      key={current.spec.name}
      server={current}
      toolCount={tools.length}
      onBack={
        <IconButton
          label="Back to the servers"
          size="icon-sm"
          className="md:hidden"
          onClick={() => nav.openTools("mcp")}
        >
          <ChevronLeft />
        </IconButton>
      }
      toolsPanel={
        <ToolList
          key={current.spec.name}
          tools={tools}
          focus={tool}
          empty={
            current.spec.disabled
              ? "Turn the server on to see its tools."
              : current.status.state === "connected"
                ? "This server offers no tools."
                : "The tools appear when the server is connected."
          }
          waiting={waiting}
          onServer={() => set({ tab: "activity" })}
          off={off}
          onToggle={(tools, on) => toggleTools(current.spec.name, tools, on)}
          control={(view) => <ApprovalSelect view={view} />}
          bulk={(shown, which) => (
            <>
              {!current.spec.disabled && (
                <IconButton
                  label="Refresh tools"
                  size="icon-sm"
                  disabled={actions.refreshTools.isPending}
                  onClick={() =>
                    actions.refreshTools.mutate(current.spec.name, {
                      onSuccess: () => toastDone(`The tools of ${current.spec.name} are listed anew`),
                      onError: report.onError,
                    })
                  }
                >
                  <RefreshCw className={actions.refreshTools.isPending ? "animate-spin" : undefined} />
                </IconButton>
              )}
              <ApprovalBulk tools={shown} which={which} />
            </>
          )}
        />
      }
      resourcesPanel={
        features.includes("resources") && (
          <ResourcesPanel
            key={current.spec.name}
            server={current.spec.name}
            features={features}
            onUse={toChat}
          />
        )
      }
      promptsPanel={
        features.includes("prompts") && (
          <PromptsPanel
            key={current.spec.name}
            server={current.spec.name}
            features={features}
            onUse={toChat}
          />
        )
      }
      onReplay={({ tool, args }) => {
        setTrial(toolKey({ kind: "mcp", server: current.spec.name, name: tool }), {
          mode: "form",
          args,
          text: pretty(args),
        });
        set({ tab: "tools" });
        nav.openTools("mcp", current.spec.name, tool);
      }}
      onReview={() => setReviewing(true)}
      onToggle={(on) => toggle(current.spec.name, on)}
      onReconnect={() => actions.reconnect.mutate(current.spec.name, report)}
      onDisconnect={() => actions.disconnect.mutate(current.spec.name, report)}
      onDuplicate={() =>
        set({
          adding: true,
          step: "review",
          text: "",
          rowsOf: "",
          rows: [rowFromCopy(current.spec, names)],
        })
      }
      onRemove={() => remove(current.spec.name)}
      onSave={async (spec) => {
        await actions.update.mutateAsync({ name: current.spec.name, server: spec });
        if (spec.name !== current.spec.name) nav.openTools("mcp", spec.name);
      }}
    />
  ) : (
    <NothingChosen missing={server} />
  );

  return (
    <div role="group" aria-label="Servers and their tools" className="flex h-full min-h-0">
      <div
        className={cn(
          "min-h-0 w-[320px] shrink-0 border-line border-r max-lg:w-[280px] max-md:w-full max-md:border-r-0",
          (adding || server) && "max-md:hidden",
        )}
      >
        <ServerList
          servers={servers}
          selected={adding ? undefined : current?.spec.name}
          searchRef={searchRef}
          meter={cost}
          onSelect={select}
          onToggle={toggle}
          onAdd={() => set({ adding: true })}
          onRemove={remove}
          onRename={(name) => {
            select(name);
            set({ tab: "settings" });
          }}
        />
      </div>
      <div className={cn("min-h-0 min-w-0 flex-1", !(adding || server) && "max-md:hidden")}>{pane}</div>
      {reviewing && (
        <ReviewChanged
          tools={tools}
          onClose={() => {
            setReviewing(false);
            set({ focusRow: current?.spec.name });
          }}
        />
      )}
    </div>
  );
}

function NothingChosen({ missing }: { missing?: string }) {
  return (
    <p className="p-5 text-ink-2 text-sm">
      {missing
        ? `There is no server ${missing}. Choose one at the left.`
        : "Choose a server at the left, or add one."}
    </p>
  );
}

/** The model that new conversations take; undefined while it is not known. */
function useDefaultModel() {
  const settings = useSettings().data;
  const providers = useProviders().data;
  const providerId = settings?.defaultProviderId || providers?.defaultProviderId;
  const models = useModels(providerId).data;
  const wanted =
    settings?.defaultModel || providers?.providers.find((p) => p.id === providerId)?.defaultModel || "";
  return models?.find((m) => m.id === wanted) ?? models?.[0];
}
