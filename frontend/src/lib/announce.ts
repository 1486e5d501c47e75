import { createStore } from "zustand/vanilla";

export type Politeness = "polite" | "assertive";

/** What a screen reader is told, in two live regions of the shell. */
export const announcements = createStore<{ polite: string; assertive: string }>(() => ({
  polite: "",
  assertive: "",
}));

let flip = false;

export function announce(sentence: string, politeness: Politeness = "polite"): void {
  // The same sentence twice would not be read again without a difference.
  flip = !flip;
  announcements.setState({ [politeness]: flip ? sentence : `${sentence}\u00a0` });
}
