import { useMemo, useState } from "react";
import type { Agent, Provider, ToolChoice, ToolView } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { ToolBadges } from "@/components/tool-badges";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { Input, NativeSelect, Textarea } from "@/components/ui/input";
import { sameRef } from "../lib";

interface AgentEditorProps {
  agent: Agent;
  providers: readonly Provider[];
  servers: readonly string[];
  tools: readonly ToolView[];
  modelNames: (providerId: string) => readonly string[];
  busy: boolean;
  error: unknown;
  onSave: (a: Agent) => void;
  onRemove?: () => void;
  onCancel: () => void;
}

const choices: { value: ToolChoice; label: string }[] = [
  { value: "all", label: "All tools, also those that come later" },
  { value: "some", label: "Some tools" },
  { value: "none", label: "No tools" },
];

export function AgentEditor(props: AgentEditorProps) {
  const { agent, providers, servers, tools, modelNames, busy, error, onSave, onRemove, onCancel } = props;
  const [draft, setDraft] = useState(agent);
  const [asking, setAsking] = useState(false);
  const set = (change: Partial<Agent>) => setDraft((d) => ({ ...d, ...change }));
  const names = modelNames(draft.providerId);
  const builtin = tools.filter((t) => t.tool.ref.kind === "builtin");
  return (
    <form
      className="grid grid-cols-1 gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        if (draft.name.trim()) onSave({ ...draft, name: draft.name.trim() });
      }}
    >
      <Field label="Name">
        {(ids) => (
          <Input {...ids} value={draft.name} required onChange={(e) => set({ name: e.target.value })} />
        )}
      </Field>
      <Field label="Instructions" hint="What the agent is told before every conversation.">
        {(ids) => (
          <Textarea
            {...ids}
            rows={6}
            value={draft.instructions}
            onChange={(e) => set({ instructions: e.target.value })}
          />
        )}
      </Field>
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        <Field label="Provider">
          {(ids) => (
            <NativeSelect
              {...ids}
              value={draft.providerId}
              onChange={(e) => set({ providerId: e.target.value, model: "" })}
            >
              <option value="">Default provider</option>
              {providers.map((p) => (
                <option key={p.id} value={p.id}>
                  {p.name}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Field label="Model" hint="Empty means the provider's default model.">
          {(ids) => (
            <>
              <Input
                {...ids}
                list={`${ids.id}-list`}
                className="font-mono text-xs"
                value={draft.model}
                onChange={(e) => set({ model: e.target.value })}
              />
              <datalist id={`${ids.id}-list`}>
                {names.map((n) => (
                  <option key={n} value={n} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      </div>
      <fieldset className="grid grid-cols-1 gap-1.5">
        <legend className="mb-1 font-medium text-sm">Tools</legend>
        {choices.map((c) => (
          <label key={c.value} className="flex items-center gap-2 text-sm">
            <input
              type="radio"
              name="tool-choice"
              className="size-4 accent-accent"
              checked={draft.toolChoice === c.value}
              onChange={() => set({ toolChoice: c.value })}
            />
            {c.label}
          </label>
        ))}
      </fieldset>
      {draft.toolChoice === "all" && builtin.length > 0 && (
        <>
          <p className="text-ink-2 text-sm">
            Built-in tools are not among all tools. Choose those that it shall have:
          </p>
          <Chosen draft={draft} servers={[]} tools={builtin} set={set} />
        </>
      )}
      {draft.toolChoice === "some" && <Chosen draft={draft} servers={servers} tools={tools} set={set} />}
      {error !== null && error !== undefined && <ErrorNote error={error} title="The agent was not saved." />}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" disabled={busy || !draft.name.trim()}>
          Save
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        {onRemove && !agent.builtIn && (
          <Button variant="danger" className="ml-auto" onClick={() => setAsking(true)}>
            Remove…
          </Button>
        )}
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Remove ${agent.name}?`}
        description="Conversations with this agent stay; they go on with the default agent."
        action="Remove"
        onConfirm={() => onRemove?.()}
      />
    </form>
  );
}

const mostShown = 200;

interface ChosenProps {
  draft: Agent;
  servers: readonly string[];
  tools: readonly ToolView[];
  set: (change: Partial<Agent>) => void;
}

function Chosen({ draft, servers, tools, set }: ChosenProps) {
  const [search, setSearch] = useState("");
  const groups = useMemo(() => {
    const words = search.toLowerCase();
    const by = new Map<string, ToolView[]>(servers.map((s) => [s, []]));
    for (const t of tools) {
      if (words && !`${t.tool.ref.server ?? ""} ${t.tool.ref.name}`.toLowerCase().includes(words)) continue;
      const key = t.tool.ref.server || (t.tool.ref.kind === "custom" ? "Custom tools" : "Built-in tools");
      by.set(key, [...(by.get(key) ?? []), t]);
    }
    return [...by];
  }, [servers, tools, search]);

  return (
    <div className="grid grid-cols-1 gap-2">
      <Input
        aria-label="Search tools"
        placeholder="Search tools"
        value={search}
        onChange={(e) => setSearch(e.target.value)}
      />
      <div className="max-h-80 overflow-y-auto rounded-md border border-line bg-surface p-2">
        {groups.length === 0 && (
          <p className="p-2 text-ink-3 text-sm">No server and no tool yet. Add one in Tools.</p>
        )}
        {groups.map(([name, list]) => {
          const isServer = servers.includes(name);
          const whole = isServer && draft.servers.includes(name);
          return (
            <div key={name} className="py-1">
              {isServer ? (
                <label className="flex items-center gap-2 py-1 font-medium text-sm">
                  <input
                    type="checkbox"
                    className="size-4 accent-accent"
                    checked={whole}
                    onChange={(e) =>
                      set({
                        servers: e.target.checked
                          ? [...draft.servers, name]
                          : draft.servers.filter((s) => s !== name),
                        tools: draft.tools.filter((t) => t.server !== name),
                      })
                    }
                  />
                  <span className="font-mono text-xs">{name}</span>
                  <span className="font-normal text-ink-3 text-xs">all its tools</span>
                </label>
              ) : (
                <p className="py-1 font-medium text-sm">{name}</p>
              )}
              <div className="grid grid-cols-1 gap-x-4 pl-6 sm:grid-cols-2">
                {list.slice(0, mostShown).map((t) => (
                  <label key={t.alias} className="flex min-w-0 items-center gap-2 py-0.5 text-sm">
                    <input
                      type="checkbox"
                      className="size-4 accent-accent"
                      disabled={whole}
                      checked={whole || draft.tools.some((r) => sameRef(r, t.tool.ref))}
                      onChange={(e) =>
                        set({
                          tools: e.target.checked
                            ? [...draft.tools, t.tool.ref]
                            : draft.tools.filter((r) => !sameRef(r, t.tool.ref)),
                        })
                      }
                    />
                    <span className="truncate font-mono text-xs" title={t.tool.title}>
                      {t.tool.ref.name}
                    </span>
                    {t.tool.ref.kind === "builtin" && <ToolBadges annotations={t.tool.annotations} />}
                  </label>
                ))}
              </div>
              {list.length > mostShown && (
                <p className="pl-6 text-ink-3 text-xs">{list.length - mostShown} more. Search to see them.</p>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
