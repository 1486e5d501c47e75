import { useMemo } from "react";
import { CallError, type Tool } from "@/api/types";
import { announce } from "@/lib/announce";
import { isRecord, parseJson, pretty } from "@/lib/json";
import { defaultsOf, hasForm, problemSentence, validate } from "@/lib/schema";
import { callLooks } from "@/lib/status";
import { toolKey } from "../lib/keys";
import { cancelCall, executeTool, newCallId } from "../queries";
import { type Trial, useToolsStore } from "../store";

/** One trial of a tool by a person: its arguments, its run, its result. */
export function useTrial(tool: Tool) {
  const key = toolKey(tool.ref);
  const stored = useToolsStore((s) => s.trials[key]);
  const setTrial = useToolsStore((s) => s.setTrial);
  const fresh = useMemo<Trial>(() => {
    const args = defaultsOf(tool.inputSchema);
    return { mode: hasForm(tool.inputSchema) ? "form" : "json", args, text: pretty(args) };
  }, [tool.inputSchema]);
  const trial = stored ?? fresh;
  const change = (c: Partial<Trial>) => setTrial(key, stored ? c : { ...fresh, ...c });

  const parsed = trial.mode === "json" ? parseJson(trial.text || "{}") : undefined;
  const value: unknown = parsed ? (parsed.ok ? parsed.value : undefined) : trial.args;
  const problem = useMemo(() => {
    if (parsed && !parsed.ok) return `Line ${parsed.problem.line}, column ${parsed.problem.column}: ${parsed.problem.message}`;
    if (!isRecord(value)) return "The arguments must be a JSON object.";
    const first = validate(tool.inputSchema, value)[0];
    return first ? problemSentence(first) : "";
    // The parse is made anew each time; what it says follows from the text.
    // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  }, [trial.text, trial.args, trial.mode, tool.inputSchema]);

  const running = trial.callId !== undefined && trial.output === undefined && trial.error === undefined;

  const run = async () => {
    if (running || problem || tool.broken) return;
    const callId = newCallId();
    change({ callId, startedAt: Date.now(), output: undefined, error: undefined });
    const mine = () => useToolsStore.getState().trials[key]?.callId === callId;
    try {
      const output = await executeTool(callId, tool.ref, value);
      if (!mine()) return;
      setTrial(key, { output });
      announce(`${tool.ref.name}: ${callLooks[output.status].word}`);
    } catch (err) {
      if (mine()) setTrial(key, { error: err });
    }
  };

  const cancel = () => {
    if (!trial.callId || !running) return;
    void cancelCall(trial.callId).catch((err: unknown) => {
      if (!(err instanceof CallError && err.code === "not_found")) setTrial(key, { error: err });
    });
  };

  /** Switches between form and JSON and keeps what was written, both ways. */
  const setMode = (mode: Trial["mode"]) => {
    if (mode === trial.mode) return;
    if (mode === "json") change({ mode, text: pretty(trial.args) });
    else if (parsed?.ok && isRecord(parsed.value)) change({ mode, args: parsed.value });
  };

  return { trial, value, problem, running, run, cancel, setMode, change, canForm: hasForm(tool.inputSchema) };
}
