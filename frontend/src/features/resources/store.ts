import { create } from "zustand";

interface ChangesState {
  /** How often a server told that a resource changed, by server and URI. */
  changes: Readonly<Record<string, number>>;
}

const useChanges = create<ChangesState>(() => ({ changes: {} }));

const keyOf = (server: string, uri: string) => `${server}\n${uri}`;

/** Notes that a server told of a change. */
export function noteResourceChange(server: string, uri: string) {
  const key = keyOf(server, uri);
  useChanges.setState((s) => ({ changes: { ...s.changes, [key]: (s.changes[key] ?? 0) + 1 } }));
}

export function useResourceChanges(server: string, uri: string): number {
  return useChanges((s) => s.changes[keyOf(server, uri)] ?? 0);
}
