import { CallError } from "./errors";
import type { PatchbayEvent } from "./generated/events";
import type { Wire } from "./transport";

type Bound = (...args: string[]) => Promise<string>;

interface WailsWindow {
  go?: { main?: { App?: Record<string, Bound> } };
  runtime?: {
    EventsOn(name: string, listener: (batch: string) => void): () => void;
    BrowserOpenURL?(url: string): void;
  };
}

function host(): WailsWindow {
  return window as unknown as WailsWindow;
}

/** Says whether the page runs in the desktop window. */
export function isDesktop(): boolean {
  return host().go?.main?.App !== undefined;
}

function method(name: string): Bound {
  const fn = host().go?.main?.App?.[name];
  if (!fn)
    throw new CallError(
      "internal",
      `This window does not know ${name}. The page and the program differ in version.`,
    );
  return fn;
}

export const desktopWire: Wire = {
  async call(_channel, bound, callId, input) {
    return method(bound)(callId, input);
  },
  cancel(callId) {
    void Promise.resolve(host().go?.main?.App?.RpcCancel?.(callId)).catch(() => {});
  },
  subscribe(onEvents, onLink) {
    const off = host().runtime?.EventsOn("patchbay", (batch) => {
      try {
        onEvents(JSON.parse(batch) as PatchbayEvent[]);
      } catch {
        // An unreadable batch shows as a gap in the sequence, which refetches everything.
      }
    });
    Promise.resolve()
      .then(() => method("RpcSubscribe")())
      .then(
        () => onLink("open"),
        () => onLink("lost"),
      );
    return () => off?.();
  },
};
