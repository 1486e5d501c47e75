import { useId, useMemo, useRef, useState } from "react";
import type { CustomTool, OpenAPIView } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { toastDone } from "@/components/toast";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Field } from "@/components/ui/field";
import { Input, Textarea } from "@/components/ui/input";
import { plural } from "@/lib/format";
import { secretName } from "../lib/reach";
import { parseOpenAPI, useCustomToolActions, useMissingSecrets } from "../queries";
import { SecretField } from "./secret-field";

interface OpenAPIDialogProps {
  open: boolean;
  onClose: () => void;
  onAdded: (first: string | undefined) => void;
}

/** Makes tools of the operations of an OpenAPI document. */
export function OpenAPIDialog({ open, onClose, onAdded }: OpenAPIDialogProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={(o) => !o && onClose()}
      title="Import from OpenAPI"
      description="Paste an OpenAPI 3 document, or choose a file, and pick the operations. Nothing is fetched."
      className="top-[6vh] max-h-[88vh] w-[min(760px,calc(100vw-32px))]"
    >
      {open && <Import onClose={onClose} onAdded={onAdded} />}
    </Dialog>
  );
}

const maxBytes = 8 * 1024 * 1024;

function Import({ onClose, onAdded }: Omit<OpenAPIDialogProps, "open">) {
  const actions = useCustomToolActions();
  const [text, setText] = useState("");
  const [baseUrl, setBaseUrl] = useState("");
  const [view, setView] = useState<OpenAPIView>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const file = useRef<HTMLInputElement>(null);

  const read = async (source: string) => {
    setBusy(true);
    setError(undefined);
    try {
      setView(await parseOpenAPI(source, baseUrl.trim()));
    } catch (err) {
      setError(err);
    } finally {
      setBusy(false);
    }
  };
  const choose = async (f: File | undefined) => {
    if (!f) return;
    if (f.size > maxBytes) {
      setError(new Error(`${f.name} is larger than 8 MiB.`));
      return;
    }
    const source = await f.text();
    setText(source);
    await read(source);
  };

  if (view) {
    return (
      <Choose
        view={view}
        busy={actions.addMany.isPending}
        error={actions.addMany.error}
        onBack={() => setView(undefined)}
        onAdd={(list) =>
          actions.addMany.mutate(list, {
            onSuccess: (out) => {
              toastDone(out.names.length === 1 ? `${out.names[0]} added` : `${out.names.length} tools added`);
              onAdded(out.names[0]);
              onClose();
            },
          })
        }
      />
    );
  }
  return (
    <form
      className="grid min-h-0 grid-cols-1 gap-3 overflow-y-auto px-4 pb-4"
      onSubmit={(e) => {
        e.preventDefault();
        void read(text);
      }}
    >
      <Field label="Document" hint="OpenAPI 3.0 or 3.1, in JSON or YAML.">
        {(ids) => (
          <Textarea
            {...ids}
            rows={10}
            spellCheck={false}
            className="font-mono text-xs"
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
        )}
      </Field>
      <Field label="Base address" hint="Only where the document names none, or another shall be used.">
        {(ids) => (
          <Input
            {...ids}
            className="font-mono text-xs"
            placeholder="https://api.example.com/v1"
            value={baseUrl}
            onChange={(e) => setBaseUrl(e.target.value)}
          />
        )}
      </Field>
      {error !== undefined && <ErrorNote error={error} title="The document cannot be used." />}
      <div className="flex justify-end gap-2">
        <input
          ref={file}
          type="file"
          accept=".json,.yaml,.yml"
          className="sr-only"
          tabIndex={-1}
          aria-label="OpenAPI file"
          onChange={(e) => void choose(e.target.files?.[0])}
        />
        <Button className="mr-auto" onClick={() => file.current?.click()}>
          Choose file…
        </Button>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={text.trim() === "" || busy}>
          Read
        </Button>
      </div>
    </form>
  );
}

interface ChooseProps {
  view: OpenAPIView;
  busy: boolean;
  error: unknown;
  onBack: () => void;
  onAdd: (list: CustomTool[]) => void;
}

function Choose({ view, busy, error, onBack, onAdd }: ChooseProps) {
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const listId = useId();
  const words = search.toLowerCase();
  const shown = view.proposals.filter((p) =>
    `${p.tool.name} ${p.path} ${p.tool.http?.method} ${p.tool.description}`.toLowerCase().includes(words),
  );
  const free = shown.filter((p) => !p.problem).map((p) => p.tool.name);
  const all = free.length > 0 && free.every((n) => chosen.has(n));
  const picked = view.proposals.filter((p) => chosen.has(p.tool.name));
  const secrets = useMemo(() => {
    const names = view.proposals
      .filter((p) => chosen.has(p.tool.name))
      .map((p) => (p.tool.http?.auth ? secretName(p.tool.http.auth) : undefined))
      .filter((n) => n !== undefined);
    return [...new Set(names)];
  }, [view, chosen]);
  const missing = useMissingSecrets(secrets).data ?? [];
  const toggle = (names: readonly string[], on: boolean) => {
    const next = new Set(chosen);
    for (const n of names) on ? next.add(n) : next.delete(n);
    setChosen(next);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 px-4 pb-4">
      <p className="text-sm">
        <span className="font-medium">{view.title || "Untitled"}</span>{" "}
        <span className="text-ink-2">
          {view.version}, {view.proposals.length} operations
        </span>
      </p>
      <div className="flex items-center gap-3">
        <Input
          type="search"
          aria-label="Filter operations"
          placeholder="Filter operations"
          value={search}
          onChange={(e) => setSearch(e.target.value)}
        />
        <label className="flex shrink-0 items-center gap-2 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={all}
            disabled={free.length === 0}
            onChange={(e) => toggle(free, e.target.checked)}
          />
          All shown
        </label>
      </div>
      <ul
        id={listId}
        aria-label="Operations"
        className="min-h-32 flex-1 overflow-y-auto rounded-md border border-line"
      >
        {shown.map((p) => (
          <li key={p.tool.name} className="border-line border-b px-3 py-1.5 last:border-b-0">
            <label className="flex items-start gap-2 text-sm">
              <input
                type="checkbox"
                className="mt-1 size-4 accent-accent"
                disabled={!!p.problem}
                checked={chosen.has(p.tool.name)}
                onChange={(e) => toggle([p.tool.name], e.target.checked)}
              />
              <span className="grid min-w-0 flex-1">
                <span className="flex min-w-0 items-center gap-2">
                  <span className="truncate font-medium font-mono text-xs">{p.tool.name}</span>
                  <Badge tone={p.tool.http?.method === "DELETE" ? "danger" : "neutral"}>
                    {p.tool.http?.method}
                  </Badge>
                  <span className="truncate font-mono text-ink-2 text-xs">{p.path}</span>
                </span>
                <span className="truncate text-ink-2 text-xs">{p.tool.description}</span>
                {p.problem && <span className="text-danger text-xs">{p.problem}</span>}
                {p.warnings.map((w) => (
                  <span key={w} className="text-warning text-xs">
                    {w}
                  </span>
                ))}
              </span>
            </label>
          </li>
        ))}
        {shown.length === 0 && <li className="p-3 text-ink-2 text-sm">No operation matches “{search}”.</li>}
      </ul>
      {missing.map((name) => (
        <SecretField key={name} name={name} />
      ))}
      {error !== null && error !== undefined && <ErrorNote error={error} title="The tools were not added." />}
      <div className="flex justify-end gap-2">
        <Button onClick={onBack}>Back</Button>
        <Button
          variant="primary"
          disabled={picked.length === 0 || busy}
          onClick={() => onAdd(picked.map((p) => p.tool))}
        >
          {picked.length === 0 ? "Add tools" : `Add ${plural(picked.length, "tool")}`}
        </Button>
      </div>
    </div>
  );
}
