import { expect, test } from "vitest";
import type { ServerStatus } from "@/api/types";
import { server } from "@/test/fixtures";
import { newsSentence, serverNews, type Told } from "./news";

const say = (state: ServerStatus["state"], over: Partial<ServerStatus> = {}) =>
  newsSentence(server("s", state, over));

test("every state is a sentence of its own", () => {
  expect(say("connected", { toolCount: 13, message: "13 tools, 38 ms" })).toBe("s: connected, 13 tools");
  expect(say("failed", { message: "Command not found: uvx. Install uv, or give the full path." })).toBe(
    "s: failed, command not found: uvx",
  );
  expect(say("failed", { message: "HTTP 500 came back." })).toBe("s: failed, HTTP 500 came back");
  expect(say("starting", { message: "Starting… 3 tools (cached)" })).toBe("s: starting");
  expect(say("connected", { toolCount: 2, flag: "verifying" })).toBe("s: unverified, checking after sleep…");
  expect(newsSentence({ ...server("s", "connected"), changed: 2 })).toBe(
    "s: changed, 2 tools changed since you allowed them",
  );
});

test("what goes on by itself is told once", () => {
  const told = new Map<string, Told>();
  const now = (state: ServerStatus["state"], over: Partial<ServerStatus> = {}) =>
    serverNews([server("s", state, over)], told);
  expect(now("connected", { toolCount: 2 })).toEqual(["s: connected, 2 tools"]);
  expect(now("connected", { toolCount: 3 })).toEqual([]);
  expect(now("reconnecting", { message: "Connection lost. It ended." })).toEqual(["s: reconnecting"]);
  expect(now("reconnecting", { message: "Connecting again…" })).toEqual([]);
  expect(now("failed", { message: "No answer." })).toEqual(["s: failed, no answer"]);
  expect(now("reconnecting", { message: "Connecting again…" })).toEqual([]);
  expect(now("failed", { message: "No answer." })).toEqual([]);
  expect(now("starting")).toEqual(["s: starting"]);
  expect(now("negotiating")).toEqual([]);
  expect(now("failed", { message: "No answer." })).toEqual(["s: failed, no answer"]);
  expect(serverNews([], told)).toEqual(["s: removed"]);
});

test("a fleet is told in one sentence", () => {
  const fleet = ["a", "b", "c", "d", "e"].map((n) => server(n, n === "e" ? "failed" : "connected"));
  expect(serverNews(fleet, new Map())).toEqual(["5 servers: 4 connected, 1 failed"]);
});

test("another name is no removal", () => {
  const told = new Map<string, Told>();
  serverNews([server("shop", "connected", { toolCount: 2 })], told);
  expect(serverNews([server("store", "connected", { toolCount: 2 })], told)).toEqual([
    "shop: is called store now",
    "store: connected, 2 tools",
  ]);
});
