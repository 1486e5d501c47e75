import { create } from "zustand";
import type { CustomTool, ExecuteOutput } from "@/api/types";

export interface Trial {
  mode: "form" | "json";
  args: Record<string, unknown>;
  /** The raw text, which may not be JSON while it is written. */
  text: string;
  callId?: string;
  startedAt?: number;
  output?: ExecuteOutput;
  error?: unknown;
}

export interface CustomDraft {
  tool: CustomTool;
  /** Parameters as text, which may not be JSON while it is written. */
  parameters: string;
}

interface ToolsState {
  open: Readonly<Record<string, boolean>>;
  trials: Readonly<Record<string, Trial>>;
  search: string;
  custom?: string;
  drafts: Readonly<Record<string, CustomDraft>>;
  setOpen(key: string, open: boolean): void;
  setTrial(key: string, change: Partial<Trial>): void;
  setSearch(search: string): void;
  selectCustom(name: string | undefined): void;
  setDraft(name: string, draft: CustomDraft | undefined): void;
}

const freshTrial: Trial = { mode: "form", args: {}, text: "{}" };

/** Trials and drafts outlive a closed dialog. */
export const useToolsStore = create<ToolsState>((set) => ({
  open: {},
  trials: {},
  search: "",
  drafts: {},
  setOpen: (key, open) => set((s) => ({ open: { ...s.open, [key]: open } })),
  setTrial: (key, change) =>
    set((s) => ({ trials: { ...s.trials, [key]: { ...(s.trials[key] ?? freshTrial), ...change } } })),
  setSearch: (search) => set({ search }),
  selectCustom: (name) => set({ custom: name }),
  setDraft: (name, draft) =>
    set((s) => {
      const { [name]: _old, ...rest } = s.drafts;
      return { drafts: draft ? { ...rest, [name]: draft } : rest };
    }),
}));
