import { useCallback, useEffect, useRef, useState } from "react";
import type { ServerView } from "@/api/types";
import { ErrorNote } from "@/components/error-note";
import { toastDone } from "@/components/toast";
import { Button } from "@/components/ui/button";
import { Callout } from "@/components/ui/callout";
import { placeLabel } from "@/lib/servers";
import { settingsProblem } from "../lib/limits";
import { useServersStore } from "../store";
import { SpecEditor } from "./spec-editor";

interface ServerSettingsProps {
  server: ServerView;
  onSave: (spec: ServerView["spec"]) => Promise<unknown>;
}

export function ServerSettings({ server, onSave }: ServerSettingsProps) {
  // Without edits the saved settings show; so a key that was typed is gone after saving.
  const name = server.spec.name;
  const draft = useServersStore((s) => s.edits[name]) ?? server.spec;
  const setEdit = useServersStore((s) => s.setEdit);
  const setDraft = (spec: ServerView["spec"] | undefined) => setEdit(name, spec);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  // The rows hold their own state; a new key lays them out anew.
  const [round, setRound] = useState(0);
  const specText = JSON.stringify(server.spec);
  const editing = useServersStore((s) => s.edits[name] !== undefined);
  const form = useRef<HTMLFormElement>(null);
  const layAnew = useCallback(() => {
    const at = document.activeElement?.closest<HTMLElement>("[data-place]")?.dataset.place;
    setRound((n) => n + 1);
    setTimeout(() => {
      if (document.activeElement !== document.body) return;
      const field = at && form.current?.querySelector<HTMLElement>(`[data-place="${CSS.escape(at)}"]`);
      const input = field && (field.matches("input") ? field : field.querySelector<HTMLElement>("input"));
      (input || form.current)?.focus({ preventScroll: true });
    });
  }, []);
  // What was saved arrives a moment later: rows with the values of before would be saved again.
  const laid = useRef(specText);
  useEffect(() => {
    if (editing || laid.current === specText) return;
    laid.current = specText;
    layAnew();
  }, [specText, editing, layAnew]);
  const changed = JSON.stringify(draft) !== JSON.stringify(server.spec);
  const missing = server.status.missingValues ?? [];
  const problem = changed ? settingsProblem(draft) : "";

  // Who was led here begins at the field that matters.
  const field = useServersStore((s) => s.field);
  const set = useServersStore((s) => s.set);
  useEffect(() => {
    if (!field) return;
    const at = form.current?.querySelector<HTMLElement>(`[data-place="${CSS.escape(field)}"]`);
    if (at instanceof HTMLDetailsElement) at.open = true;
    const input = at?.matches("input") ? at : at?.querySelector<HTMLElement>("input");
    (input ?? form.current?.querySelector<HTMLElement>("input"))?.focus();
    set({ field: undefined });
  }, [field, set]);

  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onSave(draft);
      // What was typed meanwhile stays.
      if (useServersStore.getState().edits[name] === draft) setDraft(undefined);
      layAnew();
      toastDone(`${draft.name} saved. It reconnects with the new settings.`);
    } catch (err) {
      setError(err);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      ref={form}
      tabIndex={-1}
      className="outline-none grid max-w-[640px] gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        if (changed && problem === "") void save();
      }}
    >
      {missing.length > 0 && (
        <Callout tone="warning" title="Values are missing.">
          <span className="font-mono text-xs">{missing.map(placeLabel).join(", ")}</span>
          <span>: fill in what uses {missing.length === 1 ? "it" : "them"}, then save.</span>
        </Callout>
      )}
      <SpecEditor key={round} spec={draft} onChange={setDraft} />
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={draft.disabled ?? false}
          onChange={(e) => setDraft({ ...draft, disabled: e.target.checked })}
        />
        Off: do not start this server
      </label>
      <div className="sticky -bottom-5 short:bottom-0 -mx-5 flex flex-wrap gap-2 border-line border-t bg-canvas px-5 py-3">
        {error !== undefined && (
          <ErrorNote error={error} title="The settings were not saved." className="basis-full" />
        )}
        <Button type="submit" variant="primary" disabled={!changed || busy || problem !== ""}>
          Save
        </Button>
        <Button
          disabled={!changed || busy}
          onClick={() => {
            setDraft(undefined);
            layAnew();
          }}
        >
          Revert
        </Button>
        <p className="min-w-0 flex-1 self-center text-danger text-xs" role="status">
          {problem}
        </p>
      </div>
    </form>
  );
}
