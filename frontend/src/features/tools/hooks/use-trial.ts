import { useMemo } from "react";
import { CallError, type ExecuteOutput, type Tool } from "@/api/types";
import { announce } from "@/lib/announce";
import { isRecord, parseJson, pretty } from "@/lib/json";
import { defaultsOf, hasForm, problemSentence, validate } from "@/lib/schema";
import { callLooks } from "@/lib/status";
import { toolKey } from "../lib/keys";
import { cancelCall, executeTool, newCallId } from "../queries";
import { type Run, type Trial, useToolsStore } from "../store";

interface Reading {
  /** undefined when the text is no JSON. */
  value: unknown;
  /** The first thing that keeps it from running; "" for none. */
  problem: string;
}

function readTrial(mode: Trial["mode"], text: string, args: Trial["args"], schema: unknown): Reading {
  let value: unknown = args;
  if (mode === "json") {
    const parsed = parseJson(text || "{}");
    if (!parsed.ok) {
      const { line, column, message } = parsed.problem;
      return { value: undefined, problem: `Line ${line}, column ${column}: ${message}` };
    }
    value = parsed.value;
  }
  if (!isRecord(value)) return { value, problem: "The arguments must be a JSON object." };
  const first = validate(schema, value)[0];
  return { value, problem: first ? problemSentence(first, mode === "form" ? schema : undefined) : "" };
}

export type Execute = (callId: string, args: unknown) => Promise<ExecuteOutput>;

const keptRuns = 10;

export function isRunning(run: Run | undefined): boolean {
  return run !== undefined && run.output === undefined && run.error === undefined;
}

/**
 * A person trying a tool: its arguments and its runs, of which several may be
 * under way. execute makes the call in another way than by the tool's reference.
 */
export function useTrial(tool: Tool, execute?: Execute) {
  const key = toolKey(tool.ref);
  const stored = useToolsStore((s) => s.trials[key]);
  const setTrial = useToolsStore((s) => s.setTrial);
  const setRun = useToolsStore((s) => s.setRun);
  const fresh = useMemo<Trial>(() => {
    const args = defaultsOf(tool.inputSchema);
    return { mode: hasForm(tool.inputSchema) ? "form" : "json", args, text: pretty(args), runs: [] };
  }, [tool.inputSchema]);
  const trial = stored ?? fresh;
  const change = (c: Partial<Trial>) => setTrial(key, stored ? c : { ...fresh, ...c });

  const { value, problem } = useMemo(
    () => readTrial(trial.mode, trial.text, trial.args, tool.inputSchema),
    [trial.mode, trial.text, trial.args, tool.inputSchema],
  );

  const shown = trial.runs.find((r) => r.callId === trial.shown) ?? trial.runs[0];

  const run = async () => {
    if (problem || tool.broken || trial.mode === "batch" || !isRecord(value)) return;
    const callId = newCallId();
    const kept = trial.runs.filter((r, i) => i < keptRuns - 1 || isRunning(r));
    change({ runs: [{ callId, startedAt: Date.now(), args: value }, ...kept], shown: callId });
    try {
      const output = await (execute ? execute(callId, value) : executeTool(callId, tool.ref, value));
      setRun(key, callId, { output });
      announce(`${tool.ref.name}: ${callLooks[output.status].word}`);
    } catch (err) {
      setRun(key, callId, { error: err });
    }
  };

  const cancel = () => {
    if (!shown || !isRunning(shown)) return;
    void cancelCall(shown.callId).catch((err: unknown) => {
      if (!(err instanceof CallError && err.code === "not_found")) setRun(key, shown.callId, { error: err });
    });
  };

  /** Switches between form, JSON and rows, and keeps what was written, both ways. */
  const setMode = (mode: Trial["mode"]) => {
    if (mode === trial.mode) return;
    if (mode === "json") change({ mode, text: pretty(trial.args) });
    else if (isRecord(value)) change({ mode, args: value });
  };

  /** Puts in arguments that were kept. */
  const load = (args: Record<string, unknown>) =>
    change({ mode: trial.mode === "batch" ? fresh.mode : trial.mode, args, text: pretty(args) });

  return {
    trial,
    value,
    problem,
    shown,
    running: isRunning(shown),
    run,
    cancel,
    setMode,
    change,
    load,
    canForm: hasForm(tool.inputSchema),
  };
}
