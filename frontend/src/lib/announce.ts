import { createStore } from "zustand/vanilla";

export type Politeness = "polite" | "assertive";

export interface Announcement {
  id: number;
  text: string;
}

/** What a screen reader is told, in two live regions of the shell; the newest last. */
export const announcements = createStore<Record<Politeness, readonly Announcement[]>>(() => ({
  polite: [],
  assertive: [],
}));

const kept = 4;
let count = 0;

/** Tells a sentence. It is added to those before, so that none is lost when several come at once. */
export function announce(sentence: string, politeness: Politeness = "polite"): void {
  count++;
  const next: Announcement = { id: count, text: sentence };
  announcements.setState((s) => ({ [politeness]: [...s[politeness], next].slice(-kept) }));
}
