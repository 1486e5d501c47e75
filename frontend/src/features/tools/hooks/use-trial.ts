import { useMemo } from "react";
import { CallError, type ExecuteOutput, type Tool } from "@/api/types";
import { announce } from "@/lib/announce";
import { isRecord, parseJson, pretty } from "@/lib/json";
import { defaultsOf, hasForm, problemSentence, validate } from "@/lib/schema";
import { callLooks } from "@/lib/status";
import { toolKey } from "../lib/keys";
import { cancelCall, executeTool, newCallId } from "../queries";
import { type Trial, useToolsStore } from "../store";

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
  return { value, problem: first ? problemSentence(first) : "" };
}

export type Execute = (callId: string, args: unknown) => Promise<ExecuteOutput>;

/**
 * One trial of a tool by a person: its arguments, its run, its result. execute
 * makes the call in another way than by the tool's reference.
 */
export function useTrial(tool: Tool, execute?: Execute) {
  const key = toolKey(tool.ref);
  const stored = useToolsStore((s) => s.trials[key]);
  const setTrial = useToolsStore((s) => s.setTrial);
  const fresh = useMemo<Trial>(() => {
    const args = defaultsOf(tool.inputSchema);
    return { mode: hasForm(tool.inputSchema) ? "form" : "json", args, text: pretty(args) };
  }, [tool.inputSchema]);
  const trial = stored ?? fresh;
  const change = (c: Partial<Trial>) => setTrial(key, stored ? c : { ...fresh, ...c });

  const { value, problem } = useMemo(
    () => readTrial(trial.mode, trial.text, trial.args, tool.inputSchema),
    [trial.mode, trial.text, trial.args, tool.inputSchema],
  );

  const running = trial.callId !== undefined && trial.output === undefined && trial.error === undefined;

  const run = async () => {
    if (running || problem || tool.broken) return;
    const callId = newCallId();
    change({ callId, startedAt: Date.now(), output: undefined, error: undefined });
    const mine = () => useToolsStore.getState().trials[key]?.callId === callId;
    try {
      const output = await (execute ? execute(callId, value) : executeTool(callId, tool.ref, value));
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
    else if (isRecord(value)) change({ mode, args: value });
  };

  return { trial, value, problem, running, run, cancel, setMode, change, canForm: hasForm(tool.inputSchema) };
}
