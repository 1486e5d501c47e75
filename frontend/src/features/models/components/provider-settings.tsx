import { Cpu, Plus } from "lucide-react";
import { useState } from "react";
import type { Provider, ProviderKind } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { toastDone, toastError } from "@/components/toast";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Menu, MenuContent, MenuItem, MenuTrigger } from "@/components/ui/menu";
import { kindHints, kindNames } from "../lib";
import { useProviderActions, useProviders } from "../queries";
import { ProviderEditor } from "./provider-editor";

interface ProviderSettingsProps {
  onDefault: (providerId: string, model: string) => void;
}

export function ProviderSettings({ onDefault }: ProviderSettingsProps) {
  const view = useProviders();
  const actions = useProviderActions();
  const [editing, setEditing] = useState<string>();
  const [adding, setAdding] = useState<ProviderKind>();

  if (view.error) {
    return (
      <ErrorNote
        error={view.error}
        title="The providers could not be read."
        onRetry={() => void view.refetch()}
      />
    );
  }
  const providers = view.data?.providers ?? [];
  const defaultId = view.data?.defaultProviderId ?? "";

  return (
    <div className="grid grid-cols-1 gap-3">
      <ul className="grid divide-y divide-line rounded-lg border border-line bg-surface">
        {providers.map((p) => (
          <li key={p.id} className="grid grid-cols-1 gap-3 px-3 py-2.5">
            <div className="flex flex-wrap items-center gap-3">
              <Cpu className="size-4 shrink-0 text-ink-3" aria-hidden />
              <div className="min-w-0 flex-1">
                <p className="flex flex-wrap items-center gap-2">
                  <span className="truncate font-medium">{p.name}</span>
                  {p.name !== kindNames[p.kind] && <Badge>{kindNames[p.kind]}</Badge>}
                  {p.id === defaultId && <Badge tone="success">default</Badge>}
                  {p.origin === "environment" && <Badge>from the environment</Badge>}
                </p>
                <p className="text-ink-2 text-xs [overflow-wrap:anywhere]">{providerLine(p)}</p>
              </div>
              {p.id !== defaultId && (
                <Button size="sm" onClick={() => onDefault(p.id, p.defaultModel)}>
                  Make default<span className="sr-only"> ({p.name})</span>
                </Button>
              )}
              {p.kind !== "rehearsal" && (
                <Button
                  size="sm"
                  aria-expanded={editing === p.id}
                  onClick={() => setEditing(editing === p.id ? undefined : p.id)}
                  aria-label={`Edit ${p.name}`}
                >
                  Edit
                </Button>
              )}
            </div>
            {editing === p.id && (
              <ProviderEditor
                provider={p}
                kind={p.kind}
                busy={actions.save.isPending}
                error={actions.save.error}
                onCancel={() => setEditing(undefined)}
                onSave={(input) =>
                  actions.save.mutate(input, {
                    onSuccess: (saved) => {
                      setEditing(undefined);
                      toastDone(`${saved.name} saved`);
                    },
                  })
                }
                onRemove={
                  p.origin === "user"
                    ? () =>
                        actions.remove.mutate(p.id, {
                          onSuccess: () => {
                            setEditing(undefined);
                            toastDone(`${p.name} removed, with its key`);
                          },
                          onError: (e) => toastError(e),
                        })
                    : undefined
                }
              />
            )}
          </li>
        ))}
      </ul>
      {adding ? (
        <div className="rounded-lg border border-line bg-surface p-3">
          <ProviderEditor
            kind={adding}
            busy={actions.save.isPending}
            error={actions.save.error}
            onCancel={() => setAdding(undefined)}
            onSave={(input) =>
              actions.save.mutate(input, {
                onSuccess: (saved) => {
                  setAdding(undefined);
                  setEditing(saved.id);
                  toastDone(`${saved.name} added. Choose its default model.`);
                },
              })
            }
          />
        </div>
      ) : (
        <Menu>
          <MenuTrigger asChild>
            <Button className="justify-self-start">
              <Plus /> Add provider
            </Button>
          </MenuTrigger>
          <MenuContent align="start" className="w-80">
            {(["ollama", "openai"] as const).map((k) => (
              <MenuItem
                key={k}
                className="flex-col items-start gap-0"
                onSelect={() => {
                  actions.save.reset();
                  setAdding(k);
                }}
              >
                {kindNames[k]}
                <span className="text-ink-3 text-xs">{kindHints[k]}</span>
              </MenuItem>
            ))}
          </MenuContent>
        </Menu>
      )}
    </div>
  );
}

function providerLine(p: Provider): string {
  if (p.kind === "rehearsal") return kindHints.rehearsal;
  return [p.baseUrl, p.defaultModel || "no default model", p.hasKey ? "key saved" : "no key"]
    .filter(Boolean)
    .join(" · ");
}
