import { Copy, Save, Trash2 } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { CustomTool, ToolRef, ToolView } from "@/api/types";
import { CodeEditor } from "@/components/code-editor";
import { ErrorNote } from "@/components/error-note";
import { toastDone } from "@/components/toast";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input, Textarea } from "@/components/ui/input";
import { Switch } from "@/components/ui/switch";
import { Tab, TabList, TabPanel, Tabs } from "@/components/ui/tabs";
import { useSettled } from "@/components/use-settled";
import { isRecord, parseJson, pretty } from "@/lib/json";
import { isMod, modName } from "@/lib/platform";
import type { Execute } from "../hooks/use-trial";
import { hintsOf } from "../lib/hints";
import { toolKey } from "../lib/keys";
import { newReach, reachSummary } from "../lib/reach";
import { testTool, useCodeCheck, useCustomToolActions } from "../queries";
import { type CustomDraft, useToolsStore } from "../store";
import { AccessEditor } from "./access-editor";
import { CustomTests } from "./custom-tests";
import { type Reach, ReachDialog } from "./reach-dialog";
import { RequestEditor } from "./request-editor";
import { TryIt } from "./try-it";
import { Versions } from "./versions";

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

/** What a new tool without code begins with. */
export const blankConnector: CustomTool = {
  ...blank,
  parameters: { type: "object", properties: {} },
  code: "",
  http: { method: "GET", url: "https://" },
};

/** The place of a draft's trial; no call is made by it. */
const draftRef = (key: string): ToolRef => ({ kind: "custom", name: `${key} (draft)` });

const undecided = { effect: "ask", rule: "", why: "", risk: "medium" } as const;

interface CustomEditorProps {
  draftKey: string;
  /** undefined: a new tool. */
  tool?: CustomTool;
  taken: readonly string[];
  onSave: (tool: CustomTool) => Promise<void>;
  /** The approval of the tool as it is saved. */
  approval?: ReactNode;
  onDuplicate?: (tool: CustomTool) => void;
  onRemove?: () => void;
}

/** One custom tool: what it is, its code, what it may reach, its versions, and a place to try it. */
export function CustomEditor(props: CustomEditorProps) {
  const { draftKey, tool, taken, onSave, approval, onDuplicate, onRemove } = props;
  const base = tool ?? blank;
  const stored = useToolsStore((s) => s.drafts[draftKey]);
  const setDraft = useToolsStore((s) => s.setDraft);
  const setTrial = useToolsStore((s) => s.setTrial);
  const trials = useToolsStore((s) => s.trials[toolKey(draftRef(draftKey))]);
  const actions = useCustomToolActions();
  const draft: CustomDraft = stored ?? { tool: base, parameters: pretty(base.parameters) };
  // Saving a new tool puts another editor here; who wrote in the one before goes on in this one.
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) form.current?.focus({ preventScroll: true });
  }, []);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [ask, setAsk] = useState<Reach>();
  // What has no value of its own to follow, such as a list that is typed as text, starts anew with it.
  const [resets, setResets] = useState(0);
  const [bodyProblem, setBodyProblem] = useState("");
  const run = useRef<() => void>(null);
  const set = (change: Partial<CustomTool>) =>
    setDraft(draftKey, { ...draft, tool: { ...draft.tool, ...change } });
  const reset = () => {
    setDraft(draftKey, undefined);
    setBodyProblem("");
    setResets((n) => n + 1);
  };

  const parsed = useMemo(() => parseJson(draft.parameters || "{}"), [draft.parameters]);
  const schemaProblem = !parsed.ok
    ? `Line ${parsed.problem.line}, column ${parsed.problem.column}: ${parsed.problem.message}`
    : isRecord(parsed.value)
      ? ""
      : "Parameters must be a JSON Schema object.";
  const schema = parsed.ok && isRecord(parsed.value) ? parsed.value : undefined;
  const hints = useMemo(() => hintsOf(schema), [schema]);
  const settled = useSettled(draft.tool.code, 300);
  const checked = useCodeCheck(settled) ?? undefined;
  const codeProblem = settled === draft.tool.code ? checked : undefined;
  const name = draft.tool.name.trim();
  const nameProblem =
    name !== base.name && taken.includes(name) ? `A custom tool ${name} exists already.` : "";
  const canSave =
    (stored !== undefined || !tool) &&
    name !== "" &&
    !schemaProblem &&
    !codeProblem &&
    !bodyProblem &&
    !nameProblem &&
    !busy;

  const save = async (next: CustomTool) => {
    setBusy(true);
    setError(undefined);
    try {
      await onSave(next);
      // What was tried stays with the tool, also under its new name.
      const tried = useToolsStore.getState().trials[toolKey(draftRef(draftKey))];
      if (tried && name !== draftKey) setTrial(toolKey(draftRef(name)), tried);
      reset();
      toastDone(`${name} saved`);
    } catch (err) {
      setError(err);
    } finally {
      setBusy(false);
    }
  };
  const askAndSave = () => {
    if (!canSave || !parsed.ok) return;
    const next = { ...draft.tool, name, parameters: parsed.value };
    const news = newReach(tool, next);
    if (news.length > 0) setAsk({ name, news, go: () => void save(next) });
    else void save(next);
  };
  const restore = (version: { id: number; tool: CustomTool }) => {
    const go = () =>
      actions.restoreVersion.mutate(
        { name: base.name, id: version.id },
        {
          onSuccess: () => {
            reset();
            toastDone(`${base.name} is as it was before`);
          },
          onError: setError,
        },
      );
    const news = newReach(tool, { ...version.tool, enabled: base.enabled });
    if (news.length > 0) setAsk({ name: base.name, news, go });
    else go();
  };

  // A draft is tried under its own name and schema; what it is called by others does not matter.
  const trial = useMemo<ToolView>(
    () => ({
      alias: name || "draft",
      available: true,
      decision: undecided,
      inherited: undecided,
      approval: { choice: "" },
      tool: {
        ref: draftRef(draftKey),
        title: name,
        description: "",
        inputSchema: schema ?? {},
        annotations: {},
      },
    }),
    [name, draftKey, schema],
  );
  const execute: Execute | undefined =
    schema && !codeProblem && !bodyProblem
      ? (callId, args) => testTool(callId, { ...draft.tool, name: name || "draft", parameters: schema }, args)
      : undefined;
  const summary = reachSummary(draft.tool);
  const { http } = draft.tool;
  const kind = http ? "HTTP connector" : "custom tool";

  return (
    <form
      ref={form}
      tabIndex={-1}
      // The fields of the test are no part of the tool: an empty one must not stop a save.
      noValidate
      className="@container grid grid-cols-1 gap-4 outline-none"
      aria-label={tool ? `Custom tool ${tool.name}` : "New custom tool"}
      onSubmit={(e) => {
        e.preventDefault();
        askAndSave();
      }}
      onKeyDown={(e) => {
        if (e.key === "s" && isMod(e)) {
          e.preventDefault();
          askAndSave();
        } else if (e.key === "Enter" && isMod(e)) {
          e.preventDefault();
          run.current?.();
        }
      }}
    >
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="flex min-w-0 flex-1 items-center gap-2 truncate font-semibold text-lg">
          {tool ? <span className="truncate font-mono text-base">{tool.name}</span> : `New ${kind}`}
          {stored && <Badge tone="warning">unsaved</Badge>}
        </h3>
        <span className="mr-2 flex items-center gap-2 text-sm">
          <span aria-hidden="true">On</span>
          <Switch
            checked={draft.tool.enabled}
            onCheckedChange={(enabled) => set({ enabled })}
            aria-label="Tool on"
          />
        </span>
        {approval}
        {tool && onDuplicate && (
          <IconButton label="Duplicate" onClick={() => onDuplicate(draft.tool)}>
            <Copy />
          </IconButton>
        )}
        {onRemove && (
          <IconButton label="Remove" onClick={onRemove}>
            <Trash2 />
          </IconButton>
        )}
        <Button disabled={!stored} onClick={reset}>
          {tool ? "Revert" : "Clear"}
        </Button>
        <Button type="submit" variant="primary" disabled={!canSave} title={`${modName}+S`}>
          <Save /> Save
        </Button>
      </div>
      {error !== undefined && <ErrorNote error={error} title="The tool was not saved." />}
      <div className="grid grid-cols-1 gap-x-6 gap-y-5 @3xl:grid-cols-[minmax(0,1fr)_minmax(280px,36%)]">
        <div className="grid min-w-0 grid-cols-1 content-start gap-4">
          <div className="grid grid-cols-1 gap-4 @sm:grid-cols-[1fr_140px]">
            <Field label="Name" error={nameProblem}>
              {(ids) => (
                <Input
                  {...ids}
                  className="font-mono text-xs"
                  placeholder="shout"
                  data-begin={tool ? undefined : true}
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
                  min={0.05}
                  step="any"
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
          <Tabs
            key={http ? "http" : "code"}
            defaultValue={http ? "request" : "code"}
            className="grid grid-cols-1 gap-2"
          >
            <TabList aria-label="Parts of the tool">
              {http ? <Tab value="request">Request</Tab> : <Tab value="code">Code</Tab>}
              <Tab value="schema">Schema</Tab>
              {!http && <Tab value="access">Access{summary && `: ${summary}`}</Tab>}
              {tool && <Tab value="tests">Tests</Tab>}
              {tool && <Tab value="versions">Versions</Tab>}
            </TabList>
            {http && (
              <TabPanel value="request">
                <RequestEditor
                  key={resets}
                  value={http}
                  proposed={`${name || "api"}/key`}
                  onChange={(next) => set({ http: next })}
                  onBodyProblem={setBodyProblem}
                />
              </TabPanel>
            )}
            <TabPanel value="code" className="grid grid-cols-1 gap-1">
              <CodeEditor
                language="javascript"
                label="Code in JavaScript"
                className="h-72"
                hints={hints}
                problem={codeProblem}
                invalid={codeProblem !== undefined}
                describedBy={codeProblem ? "code-problem" : "code-about"}
                value={draft.tool.code}
                onChange={(code) => set({ code })}
              />
              {codeProblem && (
                <p id="code-problem" className="text-danger text-xs" role="status">
                  {codeProblem.message}
                </p>
              )}
              <p id="code-about" className="text-ink-3 text-xs">
                The body of an async function: <Mono>args</Mono> holds the arguments, what it returns is the
                result. <Mono>tools.call</Mono>, <Mono>progress</Mono>, <Mono>fetch</Mono>, <Mono>files</Mono>
                , <Mono>secrets</Mono> and <Mono>console</Mono> are there.
              </p>
            </TabPanel>
            <TabPanel value="schema" className="grid grid-cols-1 gap-1">
              <CodeEditor
                language="json"
                lint
                label="Parameters as JSON Schema"
                className="h-72"
                invalid={schemaProblem !== ""}
                describedBy={schemaProblem ? "schema-problem" : undefined}
                value={draft.parameters}
                onChange={(parameters) => setDraft(draftKey, { ...draft, parameters })}
              />
              <p className="text-ink-3 text-xs">The JSON Schema of the arguments. Models see it.</p>
            </TabPanel>
            <TabPanel value="access">
              <AccessEditor key={resets} value={draft.tool} onChange={set} />
            </TabPanel>
            {tool && (
              <TabPanel value="tests">
                <CustomTests
                  toolRef={{ kind: "custom", name: tool.name }}
                  execute={execute}
                  last={trials?.runs[0]}
                  onLoad={(args) =>
                    setTrial(toolKey(draftRef(draftKey)), {
                      args,
                      text: pretty(args),
                      ...(trials?.mode === "batch" && { mode: "json" }),
                    })
                  }
                />
              </TabPanel>
            )}
            {tool && (
              <TabPanel value="versions">
                <Versions tool={tool} busy={actions.restoreVersion.isPending} onRestore={restore} />
              </TabPanel>
            )}
          </Tabs>
          {schemaProblem && (
            <p id="schema-problem" className="text-danger text-xs">
              Schema: {schemaProblem}
            </p>
          )}
        </div>
        <section className="grid min-w-0 grid-cols-1 content-start gap-2" aria-label="Test">
          <h4 className="flex items-baseline justify-between font-medium text-sm">
            Test
            <span className="font-normal text-ink-3 text-xs">{modName}+Enter runs it as it stands here</span>
          </h4>
          {execute ? (
            <TryIt view={trial} runRef={run} execute={execute} />
          ) : (
            <p className="text-ink-2 text-sm">
              Mend the {!schema ? "schema" : bodyProblem ? "body" : "code"} to run it.
            </p>
          )}
        </section>
      </div>
      <ReachDialog ask={ask} onClose={() => setAsk(undefined)} />
    </form>
  );
}

function Mono({ children }: { children: string }) {
  return <span className="font-mono">{children}</span>;
}
