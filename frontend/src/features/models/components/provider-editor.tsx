import { useId, useState } from "react";
import type { Provider, ProviderKind, SaveProviderInput } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { plural } from "@/lib/format";
import { defaultUrls, kindHints, kindNames } from "../lib";
import { useModels } from "../queries";

interface ProviderEditorProps {
  provider?: Provider;
  kind: ProviderKind;
  busy: boolean;
  error: unknown;
  onSave: (input: SaveProviderInput) => void;
  onCancel: () => void;
  onRemove?: () => void;
}

/** A provider's settings. The key goes in and never comes back. */
export function ProviderEditor({
  provider,
  kind,
  busy,
  error,
  onSave,
  onCancel,
  onRemove,
}: ProviderEditorProps) {
  const [name, setName] = useState(provider?.name ?? kindNames[kind]);
  const [baseUrl, setBaseUrl] = useState(provider?.baseUrl ?? defaultUrls[kind]);
  const [defaultModel, setDefaultModel] = useState(provider?.defaultModel ?? "");
  const [key, setKey] = useState("");
  const [dropKey, setDropKey] = useState(false);
  const [asking, setAsking] = useState(false);
  const models = useModels(provider?.id);
  const listId = useId();

  const submit = () => {
    const input: SaveProviderInput = {
      id: provider?.id ?? "",
      kind,
      name: name.trim(),
      baseUrl: baseUrl.trim(),
      defaultModel: defaultModel.trim(),
    };
    if (key) input.key = key;
    else if (dropKey) input.key = "";
    onSave(input);
    setKey("");
  };

  return (
    <form
      className="grid grid-cols-1 gap-3"
      aria-label={provider ? `Settings of ${provider.name}` : `New provider: ${kindNames[kind]}`}
      onSubmit={(e) => {
        e.preventDefault();
        submit();
      }}
    >
      {!provider && <p className="text-ink-2 text-sm">{kindHints[kind]}</p>}
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Name">
          {(ids) => <Input {...ids} required value={name} onChange={(e) => setName(e.target.value)} />}
        </Field>
        <Field label="Base URL">
          {(ids) => (
            <Input
              {...ids}
              required
              type="url"
              className="font-mono text-xs"
              value={baseUrl}
              onChange={(e) => setBaseUrl(e.target.value)}
            />
          )}
        </Field>
        <Field
          label="Key"
          hint={
            dropKey
              ? "The saved key is removed when you save."
              : provider?.hasKey
                ? "A key is saved. Type to replace it; it is never shown."
                : kind === "ollama"
                  ? "Usually not needed."
                  : "Kept where secrets live, never in tools.json."
          }
        >
          {(ids) => (
            <div className="flex gap-1.5">
              <Input
                {...ids}
                type="password"
                autoComplete="new-password"
                className="font-mono text-xs"
                placeholder={provider?.hasKey && !dropKey ? "••••••••" : ""}
                value={key}
                onChange={(e) => {
                  setKey(e.target.value);
                  setDropKey(false);
                }}
              />
              {provider?.hasKey && (
                <Button
                  onClick={() => {
                    setDropKey(!dropKey);
                    setKey("");
                  }}
                >
                  {dropKey ? "Keep" : "Remove key"}
                </Button>
              )}
            </div>
          )}
        </Field>
        <Field
          label="Default model"
          hint={
            models.data
              ? `${plural(models.data.length, "model")} at this endpoint.`
              : provider
                ? undefined
                : "Save first to list the models."
          }
        >
          {(ids) => (
            <>
              <Input
                {...ids}
                list={listId}
                className="font-mono text-xs"
                value={defaultModel}
                onChange={(e) => setDefaultModel(e.target.value)}
              />
              <datalist id={listId}>
                {models.data?.map((m) => (
                  <option key={m.id} value={m.id}>
                    {m.name}
                  </option>
                ))}
              </datalist>
            </>
          )}
        </Field>
      </div>
      {provider && models.isFetching && (
        <p className="text-ink-3 text-xs">Asking {provider.name} for its models…</p>
      )}
      {models.error && (
        <ErrorNote
          error={models.error}
          title={`${provider?.name ?? "The provider"} did not list its models.`}
          onRetry={() => void models.refetch()}
        />
      )}
      {error !== null && error !== undefined && (
        <ErrorNote error={error} title="The provider was not saved." />
      )}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" disabled={busy || !name.trim() || !baseUrl.trim()}>
          Save
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        {onRemove && (
          <Button variant="danger" className="ml-auto" onClick={() => setAsking(true)}>
            Remove…
          </Button>
        )}
      </div>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Remove ${provider?.name ?? ""}?`}
        description="Its key is deleted too. Conversations keep their messages."
        action="Remove"
        onConfirm={() => onRemove?.()}
      />
    </form>
  );
}
