import { useEffect, useState } from "react";
import { CallError, type ParsedServers } from "@/api/types";
import { rowsFrom } from "../lib/review";
import { parseServers } from "../queries";
import { useServersStore } from "../store";

const debounceMs = 220;

export interface ParseState {
  pending: boolean;
  error?: unknown;
  found?: ParsedServers;
}

/** Understands the pasted text while it is written. Nothing is run or saved. */
export function useParse(): ParseState {
  const text = useServersStore((s) => s.text);
  const set = useServersStore((s) => s.set);
  const [state, setState] = useState<ParseState>({ pending: false });

  useEffect(() => {
    if (text.trim() === "") {
      setState({ pending: false });
      if (useServersStore.getState().rowsOf !== "") set({ rows: [], rowsOf: "", step: "paste" });
      return;
    }
    const abort = new AbortController();
    setState((s) => ({ ...s, pending: true }));
    const timer = setTimeout(() => {
      parseServers(text, abort.signal).then(
        (found) => {
          setState({ pending: false, found });
          if (useServersStore.getState().rowsOf !== text) set({ rows: rowsFrom(found), rowsOf: text });
        },
        (error: unknown) => {
          if (error instanceof CallError && error.code === "canceled") return;
          setState({ pending: false, error });
          set({ rows: [], rowsOf: "" });
        },
      );
    }, debounceMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, set]);

  return state;
}
