import { useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Agent } from "@/api/types";
import { toastDone, toastError } from "@/components/toast";
import { AgentEditor, AgentList, newAgent, useAgentActions, useAgents } from "@/features/agents";
import { effective, modelLabel, ProviderSettings, useModels, useProviders } from "@/features/models";
import { SecretsSettings } from "@/features/secrets";
import { useServers } from "@/features/servers";
import {
  About,
  Appearance,
  BuiltinFolders,
  ToolNaming,
  useInfo,
  useSettings,
  useUpdateSettings,
} from "@/features/settings";
import { useOfferable } from "@/features/tools";
import { cn } from "@/lib/cn";
import { useNav } from "../use-nav";

const sections = [
  { id: "models", label: "Models", lead: "Who answers. Keys go in and are never shown again." },
  { id: "agents", label: "Agents", lead: "Instructions, a model and a choice of tools." },
  { id: "tools", label: "Tools", lead: "What holds for the tools of all servers." },
  {
    id: "secrets",
    label: "Secrets",
    lead: "What servers and custom tools need to know. Values go in and are never shown again.",
  },
  { id: "appearance", label: "Appearance", lead: "How the window looks." },
  { id: "about", label: "About", lead: "This version, and where it keeps things." },
] as const;

export function SettingsRoute() {
  const { section = "models" } = useParams({ strict: false });
  const nav = useNav();
  const current = sections.find((s) => s.id === section) ?? sections[0];
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex w-full max-w-[960px] gap-8 px-6 py-6 max-md:flex-col max-md:gap-4">
        <nav
          aria-label="Settings"
          className="flex w-36 shrink-0 flex-col gap-px max-md:w-full max-md:flex-row max-md:flex-wrap"
        >
          {sections.map((s) => (
            <button
              key={s.id}
              type="button"
              aria-current={s.id === current.id ? "page" : undefined}
              onClick={() => nav.toSettings(s.id)}
              className={cn(
                "h-8 rounded-md px-2.5 text-left text-sm hover:bg-hover",
                s.id === current.id && "bg-hover font-medium",
              )}
            >
              {s.label}
            </button>
          ))}
        </nav>
        <div className="grid min-w-0 flex-1 content-start gap-4">
          <div>
            <h2 className="font-semibold text-xl">{current.label}</h2>
            <p className="text-ink-2 text-sm">{current.lead}</p>
          </div>
          {current.id === "models" && <Models />}
          {current.id === "agents" && <Agents />}
          {current.id === "tools" && (
            <>
              <BuiltinFolders />
              <ToolNaming />
            </>
          )}
          {current.id === "secrets" && <Secrets />}
          {current.id === "appearance" && <Appearance />}
          {current.id === "about" && <About />}
        </div>
      </div>
    </div>
  );
}

function Models(): ReactNode {
  const update = useUpdateSettings();
  return (
    <ProviderSettings
      onDefault={(defaultProviderId, defaultModel) =>
        update.mutate({ defaultProviderId, defaultModel }, { onError: (e) => toastError(e) })
      }
    />
  );
}

function Secrets(): ReactNode {
  const nav = useNav();
  return (
    <SecretsSettings
      where={useInfo().data?.secretsIn}
      onServer={(name) => nav.openTools("mcp", name)}
      onTool={(name) => nav.openTools("custom", undefined, name)}
    />
  );
}

function Agents() {
  const agents = useAgents().data ?? [];
  const actions = useAgentActions();
  const providers = useProviders().data;
  const settings = useSettings().data;
  const servers = useServers().data ?? [];
  const tools = useOfferable().data ?? [];
  const [editing, setEditing] = useState<Agent>();
  const editedProvider = editing?.providerId || providers?.defaultProviderId;
  const models = useModels(editedProvider, editing !== undefined).data ?? [];

  const modelOf = (a: Agent) => {
    const found = effective(
      { providerId: a.providerId, model: a.model },
      providers?.providers ?? [],
      providers?.defaultProviderId ?? "",
      settings?.defaultModel ?? "",
    );
    return a.providerId
      ? modelLabel(found.provider, found.model)
      : `Default model (${modelLabel(found.provider, a.model || found.model)})`;
  };

  if (!editing) {
    return (
      <AgentList
        agents={agents}
        modelOf={modelOf}
        onEdit={(a) => {
          actions.save.reset();
          setEditing(a);
        }}
        onNew={() => {
          actions.save.reset();
          setEditing(newAgent());
        }}
      />
    );
  }
  return (
    <AgentEditor
      agent={editing}
      providers={providers?.providers ?? []}
      servers={servers.map((s) => s.spec.name)}
      tools={tools}
      modelNames={(id) => (id === "" || id === editedProvider ? models.map((m) => m.id) : [])}
      busy={actions.save.isPending}
      error={actions.save.error}
      onCancel={() => setEditing(undefined)}
      onSave={(a) =>
        actions.save.mutate(a, {
          onSuccess: (saved) => {
            setEditing(undefined);
            toastDone(`${saved.name} saved`);
          },
        })
      }
      onRemove={
        editing.id
          ? () =>
              actions.remove.mutate(editing.id, {
                onSuccess: () => {
                  setEditing(undefined);
                  toastDone(`${editing.name} removed`);
                },
                onError: (e) => toastError(e),
              })
          : undefined
      }
    />
  );
}
