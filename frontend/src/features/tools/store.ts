import { create } from "zustand";
import type { CustomTool, ExecuteOutput } from "@/api/types";

/** One call that a person made by hand. It runs until there is an output or an error. */
export interface Run {
  callId: string;
  startedAt: number;
  /** What it was called with. */
  args: Record<string, unknown>;
  output?: ExecuteOutput;
  error?: unknown;
}

export interface Trial {
  mode: "form" | "json" | "batch";
  args: Record<string, unknown>;
  /** The raw text, which may not be JSON while it is written. */
  text: string;
  /** The newest first. */
  runs: readonly Run[];
  /** The run that is looked at; the newest if it is none of them. */
  shown?: string;
}

export interface BatchRow {
  args: Record<string, unknown>;
  callId?: string;
  output?: ExecuteOutput;
  error?: unknown;
}

/** One tool run over many rows of arguments. */
export interface Batch {
  /** What was pasted: JSON or CSV. */
  text: string;
  atOnce: number;
  rows: readonly BatchRow[];
  running: boolean;
}

export interface CustomDraft {
  tool: CustomTool;
  /** Parameters as text, which may not be JSON while it is written. */
  parameters: string;
}

interface ToolsState {
  open: Readonly<Record<string, boolean>>;
  trials: Readonly<Record<string, Trial>>;
  batches: Readonly<Record<string, Batch>>;
  search: string;
  custom?: string;
  drafts: Readonly<Record<string, CustomDraft>>;
  setOpen(key: string, open: boolean): void;
  setTrial(key: string, change: Partial<Trial>): void;
  setRun(key: string, callId: string, change: Partial<Run>): void;
  setBatch(key: string, change: Partial<Batch>): void;
  setBatchRow(key: string, index: number, change: Partial<BatchRow>): void;
  setSearch(search: string): void;
  selectCustom(name: string | undefined): void;
  setDraft(name: string, draft: CustomDraft | undefined): void;
}

const freshTrial: Trial = { mode: "form", args: {}, text: "{}", runs: [] };
export const freshBatch: Batch = { text: "", atOnce: 2, rows: [], running: false };

/** Trials and drafts outlive a closed dialog. */
export const useToolsStore = create<ToolsState>((set) => ({
  open: {},
  trials: {},
  batches: {},
  search: "",
  drafts: {},
  setOpen: (key, open) => set((s) => ({ open: { ...s.open, [key]: open } })),
  setTrial: (key, change) =>
    set((s) => ({ trials: { ...s.trials, [key]: { ...(s.trials[key] ?? freshTrial), ...change } } })),
  setRun: (key, callId, change) =>
    set((s) => {
      const trial = s.trials[key];
      if (!trial) return {};
      const runs = trial.runs.map((r) => (r.callId === callId ? { ...r, ...change } : r));
      return { trials: { ...s.trials, [key]: { ...trial, runs } } };
    }),
  setBatch: (key, change) =>
    set((s) => ({ batches: { ...s.batches, [key]: { ...(s.batches[key] ?? freshBatch), ...change } } })),
  setBatchRow: (key, index, change) =>
    set((s) => {
      const batch = s.batches[key];
      if (!batch) return {};
      const rows = batch.rows.map((r, i) => (i === index ? { ...r, ...change } : r));
      return { batches: { ...s.batches, [key]: { ...batch, rows } } };
    }),
  setSearch: (search) => set({ search }),
  selectCustom: (name) => set({ custom: name }),
  setDraft: (name, draft) =>
    set((s) => {
      const { [name]: _old, ...rest } = s.drafts;
      return { drafts: draft ? { ...rest, [name]: draft } : rest };
    }),
}));
