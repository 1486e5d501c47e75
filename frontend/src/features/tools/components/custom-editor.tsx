import { useState } from "react";
import type { CustomTool, ToolView } from "@/api/types";
import { CodeEditor } from "@/components/code-editor";
import { ErrorNote } from "@/components/error-note";
import { toastDone } from "@/components/toast";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input, Textarea } from "@/components/ui/input";
import { Switch } from "@/components/ui/switch";
import { isRecord, parseJson, pretty } from "@/lib/json";
import { isMod, modName } from "@/lib/platform";
import { type CustomDraft, useToolsStore } from "../store";
import { TryIt } from "./try-it";

const blank: CustomTool = {
  name: "",
  description: "",
  parameters: {
    type: "object",
    properties: { text: { type: "string", description: "What to work on" } },
    required: ["text"],
  },
  code: "return args.text.toUpperCase();",
  timeout: 30_000,
  enabled: true,
};

interface CustomEditorProps {
  draftKey: string;
  /** undefined: a new tool. */
  tool?: CustomTool;
  taken: readonly string[];
  runnable: boolean;
  view?: ToolView;
  onSave: (tool: CustomTool) => Promise<void>;
  onRemove?: () => void;
}

export function CustomEditor({ draftKey, tool, taken, runnable, view, onSave, onRemove }: CustomEditorProps) {
  const base = tool ?? blank;
  const stored = useToolsStore((s) => s.drafts[draftKey]);
  const setDraft = useToolsStore((s) => s.setDraft);
  const draft: CustomDraft = stored ?? { tool: base, parameters: pretty(base.parameters) };
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const set = (change: Partial<CustomTool>) =>
    setDraft(draftKey, { ...draft, tool: { ...draft.tool, ...change } });

  const parsed = parseJson(draft.parameters || "{}");
  const schemaProblem = !parsed.ok
    ? `Line ${parsed.problem.line}, column ${parsed.problem.column}: ${parsed.problem.message}`
    : isRecord(parsed.value)
      ? ""
      : "Parameters must be a JSON Schema object.";
  const name = draft.tool.name.trim();
  const nameProblem =
    name !== base.name && taken.includes(name) ? `A custom tool ${name} exists already.` : "";
  const canSave = (stored !== undefined || !tool) && name !== "" && !schemaProblem && !nameProblem && !busy;

  const save = async () => {
    if (!canSave || !parsed.ok) return;
    setBusy(true);
    setError(undefined);
    try {
      await onSave({ ...draft.tool, name, parameters: parsed.value });
      setDraft(draftKey, undefined);
      toastDone(`${name} saved`);
    } catch (err) {
      setError(err);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      className="grid grid-cols-1 gap-4"
      aria-label={tool ? `Custom tool ${tool.name}` : "New custom tool"}
      onSubmit={(e) => {
        e.preventDefault();
        void save();
      }}
      onKeyDown={(e) => {
        if (e.key === "s" && isMod(e)) {
          e.preventDefault();
          void save();
        }
      }}
    >
      <div className="flex items-center gap-3">
        <h3 className="min-w-0 flex-1 truncate font-semibold text-lg">
          {tool ? <span className="font-mono text-base">{tool.name}</span> : "New custom tool"}
        </h3>
        <span className="flex items-center gap-2 text-sm">
          <span aria-hidden="true">On</span>
          <Switch
            checked={draft.tool.enabled}
            onCheckedChange={(enabled) => set({ enabled })}
            aria-label="Tool on"
          />
        </span>
      </div>
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-[1fr_160px]">
        <Field label="Name" error={nameProblem}>
          {(ids) => (
            <Input
              {...ids}
              className="font-mono text-xs"
              placeholder="shout"
              value={draft.tool.name}
              onChange={(e) => set({ name: e.target.value })}
            />
          )}
        </Field>
        <Field label="Time limit, seconds">
          {(ids) => (
            <Input
              {...ids}
              type="number"
              min={1}
              className="nums"
              value={draft.tool.timeout ? draft.tool.timeout / 1000 : ""}
              placeholder="30"
              onChange={(e) => set({ timeout: Math.round(Number(e.target.value) * 1000) })}
            />
          )}
        </Field>
      </div>
      <Field label="Description" hint="Models read it to decide when to use the tool.">
        {(ids) => (
          <Textarea
            {...ids}
            rows={2}
            value={draft.tool.description}
            onChange={(e) => set({ description: e.target.value })}
          />
        )}
      </Field>
      <div className="grid grid-cols-1 gap-1">
        <p className="font-medium text-sm">Parameters (JSON Schema)</p>
        <CodeEditor
          language="json"
          lint
          label="Parameters as JSON Schema"
          className="h-44"
          invalid={schemaProblem !== ""}
          describedBy={schemaProblem ? "schema-problem" : undefined}
          value={draft.parameters}
          onChange={(parameters) => setDraft(draftKey, { ...draft, parameters })}
        />
        {schemaProblem && (
          <p id="schema-problem" className="text-danger text-xs">
            {schemaProblem}
          </p>
        )}
      </div>
      <div className="grid grid-cols-1 gap-1">
        <p className="font-medium text-sm">Code (JavaScript)</p>
        <CodeEditor
          language="javascript"
          label="Code in JavaScript"
          className="h-56"
          value={draft.tool.code}
          onChange={(code) => set({ code })}
        />
        <p className="text-ink-3 text-xs">
          The body of an async function. <span className="font-mono">args</span> holds the arguments; what it
          returns is the result.
        </p>
      </div>
      {error !== undefined && <ErrorNote error={error} title="The tool was not saved." />}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" disabled={!canSave} title={`${modName}+S`}>
          Save
        </Button>
        <Button disabled={!stored} onClick={() => setDraft(draftKey, undefined)}>
          {tool ? "Revert" : "Clear"}
        </Button>
        {onRemove && (
          <Button variant="danger" className="ml-auto" onClick={onRemove}>
            Remove
          </Button>
        )}
      </div>
      {runnable && tool && view && (
        <section className="grid grid-cols-1 gap-2 border-line border-t pt-4">
          <h4 className="font-medium text-sm">Try it</h4>
          <TryIt view={view} />
        </section>
      )}
    </form>
  );
}
