import { CallError, toCallError } from "./errors";
import type { PatchbayEvent } from "./generated/events";

export interface CallOptions {
  signal?: AbortSignal;
}

/** How the page stands with the daemon. */
export type LinkState = "connecting" | "open" | "lost" | "unauthorized";

/** One way to reach the backend: the window's bindings, or HTTP from a browser. */
export interface Wire {
  /** Resolves to the output as a JSON string. */
  call(channel: string, bound: string, callId: string, input: string): Promise<string>;
  /** Tells the backend that nobody waits for the call any more. Never fails. */
  cancel(callId: string): void;
  /** Starts the flow of events; the first is a resync. Returns the way to stop it. */
  subscribe(onEvents: (events: PatchbayEvent[]) => void, onLink: (state: LinkState) => void): () => void;
}

/** A call without an answer must not leave the page waiting for ever. */
export const answerLimitMs = 10 * 60 * 1000;

let current: Wire | undefined;

export function setWire(wire: Wire): void {
  current = wire;
}

export function getWire(): Wire {
  if (!current) throw new CallError("unavailable", "Patchbay's page is not connected yet. Reload it.");
  return current;
}

export function newCallId(): string {
  // randomUUID exists only in secure contexts, which not every web view's scheme is.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = ((b[6] ?? 0) & 0x0f) | 0x40;
  b[8] = ((b[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Makes one call. What generated/calls.ts stands on. */
export function call<T>(channel: string, bound: string, input: unknown, options?: CallOptions): Promise<T> {
  const wire = getWire();
  const signal = options?.signal;
  if (signal?.aborted) return Promise.reject(new CallError("canceled", "Cancelled."));
  const callId = newCallId();
  return new Promise<T>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout>;
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const onAbort = () => {
      done();
      wire.cancel(callId);
      reject(new CallError("canceled", "Cancelled."));
    };
    timer = setTimeout(() => {
      done();
      wire.cancel(callId);
      reject(new CallError("timeout", `Patchbay did not answer ${channel} for 10 minutes. Try again.`));
    }, answerLimitMs);
    signal?.addEventListener("abort", onAbort);
    wire.call(channel, bound, callId, JSON.stringify(input ?? {})).then(
      (text) => {
        done();
        try {
          resolve((text === "" ? undefined : JSON.parse(text)) as T);
        } catch {
          reject(new CallError("internal", `Patchbay's answer to ${channel} could not be read.`));
        }
      },
      (err: unknown) => {
        done();
        reject(toCallError(err, `Patchbay could not answer ${channel}.`));
      },
    );
  });
}
