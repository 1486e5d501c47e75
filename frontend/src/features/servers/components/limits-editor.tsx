import type { ServerSpec, StartMode } from "@/api/types";
import { Field } from "@/components/ui/field";
import { Input, NativeSelect } from "@/components/ui/input";
import { longestMs, secondsProblem } from "../lib/limits";

interface LimitsEditorProps {
  spec: ServerSpec;
  onChange: (spec: ServerSpec) => void;
}

type Limit = "connectTimeout" | "timeout" | "maxTotalTimeout" | "idleStop" | "toolListTtl";

/** When a server runs, and how long things may take. */
export function LimitsEditor({ spec, onChange }: LimitsEditorProps) {
  const set = (change: Partial<ServerSpec>) => onChange({ ...spec, ...change });
  const start = spec.start ?? "";
  const limit = (key: Limit, label: string, hint: string) => (
    <Field place={key} label={label} hint={hint} error={secondsProblem(spec[key] ?? 0)}>
      {(ids) => (
        <Input
          {...ids}
          type="number"
          min={0}
          max={longestMs / 1000}
          step="any"
          inputMode="decimal"
          className="nums w-32"
          value={spec[key] ? spec[key] / 1000 : ""}
          onChange={(e) => set({ [key]: e.target.value ? Math.round(Number(e.target.value) * 1000) : 0 })}
        />
      )}
    </Field>
  );
  return (
    <>
      <fieldset className="grid grid-cols-1 gap-4 border-line border-t pt-4 sm:grid-cols-2">
        <legend className="contents">
          <span className="font-medium text-sm sm:col-span-2">When it runs</span>
        </legend>
        <Field
          label="Start"
          hint={
            start === "on_demand"
              ? "It starts when one of its tools is called, and stops when idle."
              : start === "manual"
                ? "Only when you connect it."
                : "Together with Patchbay."
          }
        >
          {(ids) => (
            <NativeSelect
              {...ids}
              value={start}
              onChange={(e) => set({ start: e.target.value as StartMode })}
            >
              <option value="">With the app</option>
              <option value="on_demand">On demand</option>
              <option value="manual">Manual</option>
            </NativeSelect>
          )}
        </Field>
        {start === "on_demand" &&
          limit("idleStop", "Stop after being idle, in seconds", "Empty means 5 minutes.")}
        {limit(
          "toolListTtl",
          "List the tools anew after, in seconds",
          "Empty means only when the server says that they changed.",
        )}
      </fieldset>
      <fieldset className="grid grid-cols-1 gap-4 border-line border-t pt-4 sm:grid-cols-3">
        <legend className="contents">
          <span className="font-medium text-sm sm:col-span-3">Time limits, in seconds</span>
        </legend>
        {limit(
          "connectTimeout",
          "Connecting",
          "Empty means the default, which is longer for npx, uvx and docker.",
        )}
        {limit(
          "timeout",
          "Silence of a call",
          "Progress of the tool starts it anew. Empty means 60 seconds.",
        )}
        {limit("maxTotalTimeout", "A call in all", "Whatever its progress. Empty means the default.")}
      </fieldset>
      <ToolLimits values={spec.toolTimeouts ?? {}} onChange={(toolTimeouts) => set({ toolTimeouts })} />
    </>
  );
}

interface ToolLimitsProps {
  values: Readonly<Record<string, number>>;
  onChange: (values: Record<string, number>) => void;
}

/** Single tools that take longer: one a line, as "name seconds". */
function ToolLimits({ values, onChange }: ToolLimitsProps) {
  const rows = [...Object.entries(values), ["", 0] as const];
  return (
    <fieldset className="grid grid-cols-1 gap-1.5">
      <legend className="mb-1 font-medium text-sm">Tools with a limit of their own</legend>
      {rows.map(([name, ms], i) => (
        <div key={i} className="flex items-center gap-1.5">
          <Input
            aria-label={name ? `Name of the tool ${name}` : "Name of another tool"}
            placeholder="tool name"
            className="min-w-0 flex-1 font-mono text-xs"
            value={name}
            onChange={(e) => onChange(replaced(values, name, e.target.value, ms || 60_000))}
          />
          {name && (
            <>
              <Input
                type="number"
                min={0}
                aria-label={`Seconds for ${name}`}
                aria-invalid={secondsProblem(ms) ? true : undefined}
                className="nums w-24"
                value={ms ? ms / 1000 : ""}
                onChange={(e) => onChange({ ...values, [name]: Math.round(Number(e.target.value) * 1000) })}
              />
              <span className="text-ink-3 text-xs">s</span>
            </>
          )}
        </div>
      ))}
    </fieldset>
  );
}

/** Renames a key in its place; an empty name takes it out. */
function replaced(values: Readonly<Record<string, number>>, old: string, name: string, ms: number) {
  const out = Object.entries(values).map(([k, v]): [string, number] => (k === old ? [name, v] : [k, v]));
  if (!(old in values)) out.push([name, ms]);
  return Object.fromEntries(out.filter(([k]) => k !== ""));
}
