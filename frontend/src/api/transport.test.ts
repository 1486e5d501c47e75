import { afterEach, describe, expect, it, vi } from "vitest";
import { CallError, toCallError } from "./errors";
import { followEvents } from "./events";
import type { PatchbayEvent } from "./generated/events";
import { answerLimitMs, call, setWire, type Wire } from "./transport";
import { desktopWire, isDesktop } from "./wire-desktop";
import { httpWire, takeToken, tokenFrom } from "./wire-http";

function wire(over: Partial<Wire> = {}): Wire & { canceled: string[] } {
  const canceled: string[] = [];
  return {
    canceled,
    call: async () => "null",
    cancel: (id) => void canceled.push(id),
    subscribe: () => () => {},
    ...over,
  };
}

describe("call", () => {
  it("tells the backend when nobody waits any more, and rejects at once", async () => {
    const w = wire({ call: () => new Promise(() => {}) });
    setWire(w);
    const abort = new AbortController();
    const p = call("mcp:testServer", "McpTestServer", {}, { signal: abort.signal });
    abort.abort();
    await expect(p).rejects.toMatchObject({ code: "canceled" });
    expect(w.canceled).toHaveLength(1);
  });

  it("never waits for ever", async () => {
    vi.useFakeTimers();
    setWire(wire({ call: () => new Promise(() => {}) }));
    const p = expect(call("mcp:getServers", "McpGetServers", {})).rejects.toMatchObject({ code: "timeout" });
    await vi.advanceTimersByTimeAsync(answerLimitMs + 1);
    await p;
  });

  it("does not start a call that is given up already", async () => {
    const spy = vi.fn(async () => "null");
    setWire(wire({ call: spy }));
    const abort = new AbortController();
    abort.abort();
    await expect(call("x:y", "XY", {}, { signal: abort.signal })).rejects.toBeInstanceOf(CallError);
    expect(spy).not.toHaveBeenCalled();
  });
});

describe("errors", () => {
  it.each([
    ["a JSON string", '{"code":"invalid","message":"m","line":3,"column":7}'],
    ["an Error around it", new Error('{"code":"invalid","message":"m","line":3,"column":7}')],
    ["the HTTP envelope", '{"error":{"code":"invalid","message":"m","line":3,"column":7}}'],
  ])("reads %s", (_name, raw) => {
    const err = toCallError(raw, "fallback");
    expect(err).toMatchObject({ code: "invalid", message: "m", place: { line: 3, column: 7 } });
  });

  it("keeps plain text and survives nonsense", () => {
    expect(toCallError("boom", "f")).toMatchObject({ code: "internal", message: "boom" });
    expect(toCallError(undefined, "f").message).toBe("f");
    expect(toCallError("[1]", "f").message).toBe("f");
  });
});

describe("events", () => {
  it("turns a gap into a resync and drops what came twice", () => {
    let push: (e: PatchbayEvent[]) => void = () => {};
    setWire(
      wire({
        subscribe: (on) => {
          push = on;
          return () => {};
        },
      }),
    );
    const seen: string[] = [];
    followEvents(
      (e) => seen.push(`${e.type}/${e.seq}`),
      () => {},
    );
    push([
      { seq: 1, type: "resync", data: {} },
      { seq: 2, type: "tools:changed", data: {} },
      { seq: 2, type: "tools:changed", data: {} },
      { seq: 4, type: "agents:changed", data: {} },
    ]);
    expect(seen).toEqual(["resync/1", "tools:changed/2", "resync/4", "agents:changed/4"]);
    seen.length = 0;
    push([
      { seq: 1, type: "resync", data: {} },
      { seq: 2, type: "tools:changed", data: {} },
    ]);
    expect(seen).toEqual(["resync/1", "tools:changed/2"]);
  });
});

describe("the window's wire", () => {
  const w = window as unknown as { go?: unknown; runtime?: unknown };
  afterEach(() => {
    delete w.go;
    delete w.runtime;
  });

  it("passes call id and input, and subscribes once", async () => {
    const calls: unknown[][] = [];
    let listener: (batch: string) => void = () => {};
    w.go = {
      main: {
        App: {
          McpGetServers: async (...a: unknown[]) => {
            calls.push(a);
            return '{"servers":[]}';
          },
          RpcSubscribe: async () => {
            calls.push(["subscribe"]);
            return "";
          },
        },
      },
    };
    w.runtime = {
      EventsOn: (_n: string, l: (b: string) => void) => {
        listener = l;
        return () => {};
      },
    };
    expect(isDesktop()).toBe(true);
    setWire(desktopWire);
    await expect(call("mcp:getServers", "McpGetServers", {})).resolves.toEqual({ servers: [] });
    expect(calls[0]?.[1]).toBe("{}");
    const got: PatchbayEvent[] = [];
    const link: string[] = [];
    desktopWire.subscribe(
      (e) => got.push(...e),
      (s) => link.push(s),
    );
    await vi.waitFor(() => expect(link).toEqual(["open"]));
    listener('[{"seq":1,"type":"resync","data":{}}]');
    listener("not json");
    expect(got).toHaveLength(1);
    await expect(call("x:y", "Unknown", {})).rejects.toMatchObject({ code: "internal" });
  });
});

describe("the browser's wire", () => {
  afterEach(() => {
    sessionStorage.clear();
    vi.unstubAllGlobals();
  });

  it("sends the token and the call id, and reports a refusal", async () => {
    const fetcher = vi.fn(async (_url: string, _init: RequestInit) => new Response('{"ok":1}'));
    vi.stubGlobal("fetch", fetcher);
    setWire(httpWire("secret"));
    await expect(call("mcp:addServer", "McpAddServer", { a: 1 })).resolves.toEqual({ ok: 1 });
    const [url, init] = fetcher.mock.calls[0] ?? [];
    expect(url).toBe("rpc/mcp:addServer");
    expect(init?.headers).toMatchObject({ Authorization: "Bearer secret" });
    fetcher.mockResolvedValue(new Response("", { status: 401 }));
    await expect(call("mcp:getServers", "McpGetServers", {})).rejects.toMatchObject({ code: "denied" });
    fetcher.mockResolvedValue(
      new Response('{"error":{"code":"not_found","message":"gone"}}', { status: 404 }),
    );
    await expect(call("chat:get", "ChatGet", {})).rejects.toMatchObject({
      code: "not_found",
      message: "gone",
    });
  });

  it("takes the token out of the address", () => {
    history.replaceState(null, "", "/#token=abc_DEF-1");
    expect(takeToken()).toBe("abc_DEF-1");
    expect(location.href).not.toContain("abc_DEF-1");
    expect(takeToken()).toBe("abc_DEF-1");
  });

  it("accepts a link or a bare token", () => {
    expect(tokenFrom(" http://127.0.0.1:1/#token=abcdefgh ")).toBe("abcdefgh");
    expect(tokenFrom("abcdefghij")).toBe("abcdefghij");
    expect(tokenFrom("not a token")).toBeUndefined();
  });
});
