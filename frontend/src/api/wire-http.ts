import { CallError, toCallError } from "./errors";
import type { PatchbayEvent } from "./generated/events";
import type { LinkState, Wire } from "./transport";

const storageKey = "patchbay.token";
const tokenPattern = /token=([A-Za-z0-9_-]+)/;

/** Takes the token out of the address, so that it does not stay in the history. */
export function takeToken(): string | undefined {
  const found = tokenPattern.exec(location.hash)?.[1] ?? tokenPattern.exec(location.search)?.[1];
  if (found) {
    saveToken(found);
    const search = location.search.replace(/([?&])token=[A-Za-z0-9_-]+&?/, "$1").replace(/[?&]$/, "");
    const hash = location.hash.includes("token=") ? "" : location.hash;
    history.replaceState(history.state, "", location.pathname + search + hash);
  }
  return found ?? sessionStorage.getItem(storageKey) ?? undefined;
}

/** Accepts a token or a whole link that holds one. */
export function tokenFrom(text: string): string | undefined {
  const trimmed = text.trim();
  return tokenPattern.exec(trimmed)?.[1] ?? (/^[A-Za-z0-9_-]{8,}$/.test(trimmed) ? trimmed : undefined);
}

export function saveToken(token: string): void {
  sessionStorage.setItem(storageKey, token);
}

const firstDelayMs = 300;
const longestDelayMs = 10_000;

export function httpWire(token: string): Wire {
  let report: (state: LinkState) => void = () => {};

  async function post(channel: string, callId: string, input: string): Promise<string> {
    let res: Response;
    try {
      res = await fetch(`rpc/${channel}`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Authorization: `Bearer ${token}`,
          "X-Call-Id": callId,
        },
        body: input,
      });
    } catch {
      throw new CallError(
        "unavailable",
        "Patchbay's daemon cannot be reached. Is `patchbay serve` still running?",
      );
    }
    const text = await res.text();
    if (res.ok) return text;
    if (res.status === 401) {
      report("unauthorized");
      throw new CallError("denied", "Patchbay did not accept this page's token.");
    }
    throw toCallError(text, `Patchbay answered ${res.status} to ${channel}.`);
  }

  return {
    call: (channel, _bound, callId, input) => post(channel, callId, input),
    cancel(callId) {
      void post("rpc:cancel", `cancel-${callId}`, JSON.stringify({ callId })).catch(() => {});
    },
    subscribe(onEvents, onLink) {
      report = onLink;
      let stopped = false;
      let delay = firstDelayMs;
      let socket: WebSocket | undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;

      const open = () => {
        const url = new URL("events", document.baseURI);
        url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
        url.hash = "";
        url.search = "";
        socket = new WebSocket(url, ["patchbay", `token.${token}`]);
        socket.onopen = () => {
          delay = firstDelayMs;
          onLink("open");
        };
        socket.onmessage = (msg) => {
          if (typeof msg.data !== "string") return;
          try {
            onEvents(JSON.parse(msg.data) as PatchbayEvent[]);
          } catch {
            // An unreadable batch shows as a gap in the sequence, which refetches everything.
          }
        };
        socket.onclose = () => {
          if (stopped) return;
          onLink("lost");
          // A refused socket does not say why; a plain call does (401).
          void post("settings:get", `probe-${Date.now()}`, "{}").catch(() => {});
          timer = setTimeout(open, delay);
          delay = Math.min(delay * 2, longestDelayMs);
        };
      };
      open();
      return () => {
        stopped = true;
        clearTimeout(timer);
        socket?.close();
      };
    },
  };
}
