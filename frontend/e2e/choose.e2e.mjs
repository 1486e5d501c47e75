// The buttons that open the system's dialogs: the page as it is in the window, whose bound methods go to a
// real backend here, and whose dialogs answer at once.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openBrowser, openPage, shot, startDaemon, tabTo, violations } from "./helper.mjs";

let daemon;
const program = () => join(daemon.home, "real-program");
before(async () => {
  daemon = await startDaemon({
    prepare: (home) => {
      mkdirSync(join(home, "work"));
      const script = `#!${process.execPath}
const { createInterface } = require("node:readline");
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const result = m.method === "initialize"
    ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }
    : m.method === "tools/list" ? { tools: [{ name: process.cwd().split("/").at(-1), inputSchema: { type: "object" } }] } : {};
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, result }) + "\\n");
});`;
      writeFileSync(join(home, "real-program"), script);
      chmodSync(join(home, "real-program"), 0o755);
      writeFileSync(
        join(home, "tools.json"),
        JSON.stringify({
          mcpServers: [
            { name: "gone", command: "/no/such/program-0815" },
            { name: "lost", command: join(home, "real-program"), cwd: "/no/such/folder-0815" },
            { name: "uvless", command: "uvx", args: ["x"], env: { PATH: "/no/such/bin" } },
          ],
        }),
      );
    },
  });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

/** The page with what Wails puts beside it. */
async function openWindow() {
  const context = await (await openBrowser()).newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.addInitScript(
    ({ token, file, folder }) => {
      const lower = (s) => s.charAt(0).toLowerCase() + s.slice(1);
      globalThis.asked = [];
      const own = {
        RpcCancel: async () => {},
        RpcSubscribe: async () => {},
        RpcChooseFile: async (title) => {
          globalThis.asked.push(title);
          return globalThis.nothingChosen ? "" : file;
        },
        RpcChooseFolder: async (title) => {
          globalThis.asked.push(title);
          return folder;
        },
      };
      const App = new Proxy(own, {
        get: (target, name) =>
          target[name] ??
          (async (_callId, input) => {
            const [, facade, method] = /^([A-Z][a-z]+)(.+)$/.exec(name);
            const res = await fetch(`/rpc/${lower(facade)}:${lower(method)}`, {
              method: "POST",
              headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
              body: input,
            });
            const text = await res.text();
            if (!res.ok) throw text;
            return text;
          }),
      });
      globalThis.go = { main: { App } };
      let seq = 0;
      globalThis.runtime = {
        EventsOn: (_name, listener) => {
          const timer = setInterval(
            () => listener(JSON.stringify([{ seq: ++seq, type: "resync", data: {} }])),
            300,
          );
          return () => clearInterval(timer);
        },
      };
    },
    { token: daemon.token, file: program(), folder: join(daemon.home, "work") },
  );
  await page.goto(daemon.url);
  return page;
}

const spec = (name) =>
  JSON.parse(readFileSync(join(daemon.home, "tools.json"), "utf8")).mcpServers.find((s) => s.name === name);

test("in the window a missing program is chosen, and so is a folder", async () => {
  const page = await openWindow();
  await page.getByTestId("tools-button").click();
  const list = page.getByRole("list", { name: "Servers" });
  const details = page.getByTestId("server-details");
  const open = async (name) => {
    await list.locator(`[data-server=${name}] [data-open]`).focus();
    await page.keyboard.press("Enter");
    await details.getByRole("heading", { name: new RegExp(name) }).waitFor();
  };
  await open("gone");
  // Nothing chosen changes nothing.
  await page.evaluate(() => {
    globalThis.nothingChosen = true;
  });
  await tabTo(page, /^Choose file…$/);
  assert.deepEqual(await violations(page), []);
  await shot(page, "choose-file");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.asked.length === 1);
  assert.equal(spec("gone").command, "/no/such/program-0815");
  await page.evaluate(() => {
    globalThis.nothingChosen = false;
  });
  await page.keyboard.press("Enter");
  await list.locator("[data-server=gone]").getByRole("img", { name: "Connected" }).waitFor();
  assert.equal(spec("gone").command, program());
  assert.deepEqual(await page.evaluate(() => globalThis.asked), [
    "The program of gone",
    "The program of gone",
  ]);

  await open("lost");
  await tabTo(page, /^Choose folder…$/);
  await page.keyboard.press("Enter");
  await list.locator("[data-server=lost]").getByRole("img", { name: "Connected" }).waitFor();
  await details.getByRole("button", { name: /^work/ }).waitFor();

  // What can be installed may be here all the same.
  await open("uvless");
  await details.getByTestId("main-action").getByText("Install uv").waitFor();
  await details.getByTestId("other-action").getByText("Choose file…").waitFor();
  await details.getByRole("tab", { name: "Settings" }).click();
  await details.getByRole("button", { name: "Choose the program…" }).click();
  await page.waitForFunction(
    (path) => document.querySelector('[data-place="command"] input')?.value === path,
    program(),
  );
  assert.deepEqual(await violations(page), [], "settings");
  await shot(page, "choose-settings");
  await page.context().close();
});

test("in a browser, which tells no paths, the field is led to", async () => {
  const page = await openPage(daemon.url);
  await page.getByRole("button", { name: /^uvless: Failed/ }).click();
  const details = page.getByTestId("server-details");
  await tabTo(page, /^Correct command$/);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.value === "uvx");
  assert.equal(await details.getByRole("button", { name: "Choose the program…" }).count(), 0);
  assert.deepEqual(page.faults, []);
});
