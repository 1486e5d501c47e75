import { expect, test } from "vitest";
import type { ServerState, ServerStatus } from "@/api/types";
import { server } from "@/test/fixtures";
import { mainAction, otherAction } from "./actions";
import { needsAttention, serverLooks } from "./status";

const label = (state: ServerState, over: Partial<ServerStatus> = {}, spec = {}, canInstall = true) =>
  mainAction(server("s", state, over, spec), canInstall);

test("every state that needs a person has something to do", () => {
  for (const state of Object.keys(serverLooks) as ServerState[])
    if (needsAttention(server("s", state))) expect(label(state), state).toBeDefined();
  expect(label("connected", { flag: "outdated" })?.label).toBe("Reconnect");
  expect(label("connected", { flag: "verifying" })).toBeUndefined();
  expect(mainAction({ ...server("s", "on_demand"), changed: 1 }, true)?.label).toBe("Review");
  expect(mainAction({ ...server("s", "failed"), changed: 1 }, true)?.label).toBe("Reconnect");
});

test("a failure leads to what mends it", () => {
  expect(label("failed", { fix: "install" }, { command: "/usr/bin/uvx" })?.label).toBe("Install uv");
  expect(label("failed", { fix: "install" }, { command: "odd" }, false)).toMatchObject({ field: "command" });
  const late = "x did not answer within 30 s. If it only needs longer, raise the time limit for connecting.";
  for (const fix of ["show_log", "reconnect"] as const)
    expect(label("failed", { fix, message: late })).toMatchObject({ field: "connectTimeout" });
  expect(label("failed", { fix: "edit" }, { transport: "streamable-http", url: "https://x" })).toMatchObject({
    label: "Edit URL",
    field: "url",
  });
  expect(label("failed", { fix: "edit", message: "The working folder /x does not exist." })).toMatchObject({
    field: "cwd",
  });
  expect(label("failed", { fix: "sign_in" })?.label).toBe("Sign in again");
});

test("a missing value leads to the setting that asks for it", () => {
  const fill = (missing: string, spec: object) =>
    label("needs_values", { missingValues: [missing] }, spec)?.field;
  expect(fill("KEY", { env: { OTHER: "x", TOKEN: "${KEY}" } })).toBe("env.TOKEN");
  expect(fill("KEY", { args: ["-y", "--key=${env:KEY}"] })).toBe("args.1");
  expect(fill("KEY", { url: "https://x/${KEY:-}" })).toBe("url");
  expect(fill("secret:a/KEY", { headers: { "X-Key": "${secret:a/KEY}" } })).toBe("headers.X-Key");
  expect(fill("KEY", { env: { KEY: "" } })).toBe("env.KEY");
});

test("off is turned on, or connected when it is only not running", () => {
  expect(label("off", {}, { disabled: true })?.kind).toBe("turn_on");
  expect(label("off")?.kind).toBe("connect");
  expect(label("on_demand")?.label).toBe("Start now");
});

test("where the system has a dialog, a missing program and folder are chosen", () => {
  const gone = server("s", "failed", { fix: "edit", message: "Command not found: /x. Correct the path." });
  expect(mainAction(gone, true, true)?.kind).toBe("choose_file");
  expect(mainAction(gone, true, false)).toMatchObject({ kind: "settings", field: "command" });
  const folder = server("s", "failed", { fix: "edit", message: "The working folder /x does not exist." });
  expect(mainAction(folder, true, true)?.kind).toBe("choose_folder");
  const uvx = server("s", "failed", { fix: "install", message: "Command not found: uvx. Install uv." });
  expect(mainAction(uvx, true, true)?.kind).toBe("install");
  expect(otherAction(uvx, true, true)?.kind).toBe("choose_file");
  expect(otherAction(uvx, true, false)).toMatchObject({ kind: "settings", field: "command" });
  expect(otherAction(gone, true, true)).toBeUndefined();
});
