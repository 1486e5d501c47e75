import { KeyRound, Plus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import type { SecretUse, SecretView } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { toastDone, toastError } from "@/components/toast";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { reconnectAll, useSecretActions, useSecrets } from "../queries";

interface SecretsSettingsProps {
  /** Where secrets lie, in words. */
  where?: string;
  onServer: (name: string) => void;
  onTool: (name: string) => void;
}

/** The secrets of servers and custom tools, by name. A value goes in and is never shown again. */
export function SecretsSettings({ where, onServer, onTool }: SecretsSettingsProps) {
  const view = useSecrets();
  const actions = useSecretActions();
  const [editing, setEditing] = useState<string>();
  const [removing, setRemoving] = useState<SecretView>();

  if (view.error) {
    return (
      <ErrorNote
        error={view.error}
        title="The secrets could not be read."
        onRetry={() => void view.refetch()}
      />
    );
  }
  if (!view.data) return <p className="text-ink-3 text-sm">Reading the names…</p>;

  const save = (name: string, value: string) =>
    actions.save.mutate(
      { name, value },
      {
        onSuccess: ({ restart }) => {
          setEditing(undefined);
          actions.save.reset();
          if (restart.length === 0) toastDone(`${name} saved`);
          else
            toast(`${name} saved. ${restart.join(", ")} still runs with the old value.`, {
              duration: 15_000,
              action: {
                label: "Reconnect",
                onClick: () => void reconnectAll(restart).catch((e: unknown) => toastError(e)),
              },
            });
        },
      },
    );
  const edit = (name: string | undefined) => {
    actions.save.reset();
    setEditing(name);
  };
  const editor = (name?: string) => (
    <SecretEditor
      name={name}
      busy={actions.save.isPending}
      error={actions.save.error}
      onCancel={() => edit(undefined)}
      onSave={save}
    />
  );

  return (
    <div className="grid grid-cols-1 gap-3" data-testid="secrets">
      {view.data.length > 0 ? (
        <ul
          className="grid divide-y divide-line rounded-lg border border-line bg-surface"
          aria-label="Secrets"
        >
          {view.data.map((s) => (
            <li key={s.name} className="grid grid-cols-1 gap-3 px-3 py-2.5" data-secret={s.name}>
              <div className="flex flex-wrap items-center gap-3">
                <KeyRound className="size-4 shrink-0 text-ink-3" aria-hidden />
                <div className="min-w-0 flex-1 basis-56">
                  <p className="flex flex-wrap items-center gap-2">
                    <span className="font-medium font-mono text-xs [overflow-wrap:anywhere]">{s.name}</span>
                    {!s.kept && <Badge tone="warning">no value</Badge>}
                    {s.usedBy.length === 0 && <Badge>not used</Badge>}
                  </p>
                  <Users uses={s.usedBy} onServer={onServer} onTool={onTool} />
                </div>
                <Button
                  size="sm"
                  variant={s.kept ? "secondary" : "primary"}
                  aria-expanded={editing === s.name}
                  aria-label={`${s.kept ? "Replace the value" : "Enter value"} of ${s.name}`}
                  onClick={() => edit(editing === s.name ? undefined : s.name)}
                >
                  {s.kept ? "Replace" : "Enter value"}
                </Button>
                {s.kept && (
                  <Button
                    size="sm"
                    variant="danger"
                    aria-label={`Remove ${s.name}`}
                    onClick={() => setRemoving(s)}
                  >
                    Remove
                  </Button>
                )}
              </div>
              {editing === s.name && editor(s.name)}
            </li>
          ))}
        </ul>
      ) : (
        <p className="rounded-lg border border-line bg-surface p-3 text-ink-2 text-sm">
          No secret yet. Add one and refer to it as{" "}
          <code className="font-mono text-xs">{"${secret:name}"}</code> in a server's environment, headers,
          arguments or URL, or under Access of a custom tool.
        </p>
      )}
      {editing === "" ? (
        <div className="rounded-lg border border-line bg-surface p-3">{editor()}</div>
      ) : (
        <Button className="justify-self-start" onClick={() => edit("")}>
          <Plus /> Add secret
        </Button>
      )}
      {where && <p className="text-ink-2 text-sm [overflow-wrap:anywhere]">{where}</p>}
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={(open) => !open && setRemoving(undefined)}
        title={`Remove ${removing?.name ?? "the secret"}?`}
        description={
          removing && removing.usedBy.length > 0
            ? `${sentence(removing.usedBy)} will not work any more without it. Nobody can bring the value back.`
            : "Nothing uses it. Nobody can bring the value back."
        }
        action="Remove for good"
        onConfirm={() =>
          removing &&
          actions.remove.mutate(
            { name: removing.name, evenIfUsed: removing.usedBy.length > 0 },
            { onSuccess: () => toastDone(`${removing.name} removed`), onError: (e) => toastError(e) },
          )
        }
      />
    </div>
  );
}

function sentence(uses: readonly SecretUse[]): string {
  const names = uses.map((u) => (u.server ? `The server ${u.server}` : `The custom tool ${u.tool}`));
  return names.length === 1
    ? (names[0] ?? "")
    : names.map((n, i) => (i ? n.replace("The", "the") : n)).join(" and ");
}

function Users({
  uses,
  onServer,
  onTool,
}: Pick<SecretsSettingsProps, "onServer" | "onTool"> & { uses: readonly SecretUse[] }) {
  if (uses.length === 0) return null;
  return (
    <p className="flex flex-wrap gap-x-2 text-ink-2 text-xs">
      Used by
      {uses.map((u) => (
        <Button
          key={`${u.server}/${u.tool}`}
          variant="link"
          className="text-xs"
          onClick={() => (u.server ? onServer(u.server) : onTool(u.tool ?? ""))}
        >
          {u.server ?? u.tool}
          <span className="sr-only">, {u.server ? "server" : "custom tool"}</span>
        </Button>
      ))}
    </p>
  );
}

interface SecretEditorProps {
  /** undefined: a new secret. */
  name?: string;
  busy: boolean;
  error: unknown;
  onCancel: () => void;
  onSave: (name: string, value: string) => void;
}

function SecretEditor({ name, busy, error, onCancel, onSave }: SecretEditorProps) {
  const [chosen, setChosen] = useState(name ?? "");
  const [value, setValue] = useState("");
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (chosen.trim() && value) onSave(chosen.trim(), value);
  };
  return (
    <form
      className="grid grid-cols-1 gap-3"
      aria-label={name ? `Value of ${name}` : "New secret"}
      onSubmit={submit}
      onKeyDown={(e) => {
        if (e.key === "Escape") onCancel();
      }}
    >
      {name === undefined && (
        <Field label="Name" hint="Such as github/API_KEY: the server, then what it is.">
          {(ids) => (
            <Input
              {...ids}
              className="font-mono text-xs"
              maxLength={256}
              value={chosen}
              onChange={(e) => setChosen(e.target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Value" hint="Typed or pasted. It is never shown again, here or elsewhere.">
        {(ids) => (
          <Input
            {...ids}
            type="password"
            autoComplete="new-password"
            ref={(el) => {
              if (name !== undefined) el?.focus();
            }}
            value={value}
            onChange={(e) => setValue(e.target.value)}
          />
        )}
      </Field>
      {error ? <ErrorNote error={error} title="The secret was not saved." /> : null}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" disabled={busy || !chosen.trim() || !value}>
          {name ? "Save value" : "Add secret"}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
