import { useEffect, useRef } from "react";
import { announce } from "@/lib/announce";
import { formatMillis } from "@/lib/format";
import { type CallFacts, callLooks, isOpen } from "@/lib/status";
import type { Entry } from "../lib/timeline";

/** Tells a screen reader once how each call of a running turn ended. Never tokens or ticks. */
export function useCallAnnouncements(entries: readonly Entry[]): void {
  const known = useRef(new Map<string, CallFacts["status"]>());
  useEffect(() => {
    for (const e of entries) {
      for (const b of e.blocks) {
        if (b.kind !== "calls") continue;
        for (const c of b.calls) {
          const before = known.current.get(c.callId);
          known.current.set(c.callId, c.status);
          if (before && isOpen(before) && !isOpen(c.status)) announce(endSentence(c));
        }
      }
    }
  }, [entries]);
}

function endSentence(c: CallFacts): string {
  const name = c.ref?.name ?? c.alias;
  const time = c.millis === undefined ? "" : `, ${formatMillis(c.millis)}`;
  return c.status === "done" ? `${name} finished${time}` : `${name}: ${callLooks[c.status].word}${time}`;
}
