import type { PatchbayEvent } from "./generated/events";
import { getWire, type LinkState } from "./transport";

/**
 * Follows the events. A gap in the sequence is turned into a resync, because
 * what was lost cannot be known.
 */
export function followEvents(
  onEvent: (event: PatchbayEvent) => void,
  onLink: (state: LinkState) => void,
): () => void {
  let last: number | undefined;
  return getWire().subscribe((events) => {
    for (const event of events) {
      if (event.type === "resync") {
        last = event.seq;
        onEvent(event);
        continue;
      }
      if (last !== undefined && event.seq <= last) continue;
      if (last !== undefined && event.seq > last + 1) onEvent({ seq: event.seq, type: "resync", data: {} });
      last = event.seq;
      onEvent(event);
    }
  }, onLink);
}
