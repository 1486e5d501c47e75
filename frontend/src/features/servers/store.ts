import { create } from "zustand";
import type { ServerSpec } from "@/api/types";
import type { ServerFilter, ServerSort } from "@/lib/servers";
import type { ReviewRow } from "./lib/review";

export type DetailTab = "tools" | "resources" | "prompts" | "activity" | "settings";
/** The steps of adding: nothing runs before the last. */
export type AddStep = "paste" | "review" | "connect";

interface ServersState {
  search: string;
  filter: ServerFilter;
  sort: ServerSort;
  tab: DetailTab;
  /** The add flow outlives a closed dialog: text and rows stay until saved or discarded. */
  adding: boolean;
  step: AddStep;
  text: string;
  rows: readonly ReviewRow[];
  /** The text that rows were made from. */
  rowsOf: string;
  /** Settings that were changed and not saved, by server. Gone once they are saved. */
  edits: Readonly<Record<string, ServerSpec>>;
  /** The field of the settings that takes the focus next, such as "url" or "env.KEY". */
  field?: string;
  /** The server whose row takes the focus as soon as it stands in the list. */
  focusRow?: string;
  setEdit(name: string, spec: ServerSpec | undefined): void;
  set(
    change: Partial<
      Pick<
        ServersState,
        | "search"
        | "filter"
        | "tab"
        | "sort"
        | "adding"
        | "step"
        | "text"
        | "rows"
        | "rowsOf"
        | "field"
        | "focusRow"
      >
    >,
  ): void;
  setRow(key: string, change: Partial<ReviewRow>): void;
  /** Drops what was pasted: it may hold keys. */
  clearAdd(): void;
}

export const useServersStore = create<ServersState>((set) => ({
  search: "",
  filter: "all",
  tab: "tools",
  sort: "attention",
  adding: false,
  step: "paste",
  text: "",
  rows: [],
  rowsOf: "",
  edits: {},
  setEdit: (name, spec) =>
    set((s) => {
      const { [name]: _old, ...rest } = s.edits;
      return { edits: spec ? { ...rest, [name]: spec } : rest };
    }),
  set: (change) => set(change),
  setRow: (key, change) =>
    set((s) => ({ rows: s.rows.map((r) => (r.key === key ? { ...r, ...change } : r)) })),
  clearAdd: () => set({ adding: false, step: "paste", text: "", rows: [], rowsOf: "" }),
}));
