import { useSyncExternalStore } from "react";
import { useLayout } from "./layout-store";

const railWidth = 260;
const margin = 24;
/** Below this a chat beside the dialog is of no use. */
const chatNeeds = 340;
const railFrom = 1184;

function useWindowWidth(): number {
  return useSyncExternalStore(
    (changed) => {
      window.addEventListener("resize", changed);
      return () => window.removeEventListener("resize", changed);
    },
    () => window.innerWidth,
  );
}

export interface SheetLayout {
  width: number;
  /** The rail stays free beside the dialog. */
  railFree: boolean;
  /** The chat stays usable beside the dialog; else it is covered whole. */
  chatFree: boolean;
}

function sheetLayout(windowWidth: number, rail: boolean, wanted: number): SheetLayout {
  const railFree = rail && windowWidth >= railFrom;
  const room = windowWidth - margin - (railFree ? railWidth : 0);
  const chatFree = room - wanted >= chatNeeds;
  return { width: chatFree ? wanted : room, railFree, chatFree };
}

/** Where the Tools dialog stands, and what it leaves free. Nothing is half covered. */
export function useSheetLayout(): SheetLayout {
  const { rail, sheetWidth } = useLayout();
  return sheetLayout(useWindowWidth(), rail, sheetWidth);
}
