import { create } from "zustand";
import { readLayout, writeLayout } from "@/lib/storage";

interface LayoutState {
  rail: boolean;
  drawer: boolean;
  palette: boolean;
  sheetWidth: number;
  set(change: Partial<Pick<LayoutState, "rail" | "drawer" | "palette" | "sheetWidth">>): void;
}

/** Where things stand in the window. The only client state that is kept on disk. */
export const useLayout = create<LayoutState>((set) => ({
  rail: readLayout("rail", true),
  drawer: false,
  palette: false,
  sheetWidth: readLayout("sheetWidth", 960),
  set: (change) => {
    if (change.rail !== undefined) writeLayout("rail", change.rail);
    if (change.sheetWidth !== undefined) writeLayout("sheetWidth", change.sheetWidth);
    set(change);
  },
}));

export const narrowQuery = "(max-width: 899px)";
