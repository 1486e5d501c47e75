// Cancelling gives the control back at once, whatever the server does: measured in the page, from the key.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, startDaemon } from "./helper.mjs";

// A tool that never answers; told to be stubborn, it never shakes hands either and stays when told to end.
const server = `
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
writeFileSync(process.argv[2], String(process.pid));
const stubborn = process.argv[3] === "stubborn";
if (stubborn) { process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); }
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined || stubborn) return;
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }
      : m.method === "tools/list" ? { tools: [{ name: "hang", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }] }
      : m.method === "ping" ? {} : undefined;
  if (m.method === "tools/call") return;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
});
`;

const rounds = 5;
const limitMs = 100;

let daemon;
let page;
const mark = (name) => join(daemon.home, `${name}.pid`);

before(async () => {
  daemon = await startDaemon({
    prepare: (home) => {
      writeFileSync(join(home, "box.mjs"), server);
      const box = (name, ...more) => ({
        name,
        command: process.execPath,
        args: [join(home, "box.mjs"), join(home, `${name}.pid`), ...more],
      });
      writeFileSync(
        join(home, "tools.json"),
        JSON.stringify({ mcpServers: [box("box"), { ...box("stuck", "stubborn"), start: "manual" }] }),
      );
    },
  });
  page = await openPage(`${daemon.url}`, { width: 1280, height: 800 });
  await page.getByRole("button", { name: /^box: Connected/ }).waitFor();
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

/** Milliseconds from the next press of the key until ready() is true in the page. */
function stopwatch(key, ready) {
  return page.evaluate(
    ([k, body]) => {
      const isReady = new Function(`return (${body})()`);
      globalThis.measured = new Promise((done) => {
        addEventListener(
          "keydown",
          function once(e) {
            if (e.key !== k) return;
            removeEventListener("keydown", once, true);
            const began = e.timeStamp;
            const look = () => {
              if (!isReady()) return;
              watch.disconnect();
              done(performance.now() - began);
            };
            const watch = new MutationObserver(look);
            watch.observe(document, {
              subtree: true,
              childList: true,
              attributes: true,
              characterData: true,
            });
          },
          true,
        );
      });
    },
    [key, String(ready)],
  );
}

async function median(t, what, once) {
  const all = [];
  for (let i = 0; i < rounds; i++) all.push(await once());
  all.sort((a, b) => a - b);
  const mid = all[Math.floor(rounds / 2)];
  t.diagnostic(`${what}: ${all.map((n) => n.toFixed(0)).join(", ")} ms; median ${mid.toFixed(0)} ms`);
  assert.ok(mid < limitMs, `${what} took ${mid} ms`);
}

test("a call that never answers: Escape, until it says Cancelled and Run can be pressed", async (t) => {
  await page.getByTestId("tools-button").click();
  await page.getByRole("list", { name: "Servers" }).locator("[data-server=box] [data-open]").click();
  await page.getByRole("button", { name: /^hang/ }).click();
  const trial = page.getByTestId("try-it");
  const run = trial.getByRole("button", { name: "Run", exact: true });
  await median(t, "cancel a call", async () => {
    await run.focus();
    await page.keyboard.press("Enter");
    await trial.getByRole("button", { name: "Cancel", exact: true }).waitFor();
    await trial.getByText(/^Running/).waitFor();
    await stopwatch("Escape", () => {
      const box = document.querySelector('[data-testid="try-it"]');
      const buttons = [...box.querySelectorAll("button")].map((b) => [b.textContent.trim(), b.disabled]);
      return (
        /Cancelled/.test(box.querySelector('[data-testid="outcome"]')?.textContent ?? "") &&
        buttons.some(([name, disabled]) => name === "Run" && !disabled) &&
        !buttons.some(([name]) => name === "Cancel")
      );
    });
    await page.keyboard.press("Escape");
    return page.evaluate(() => globalThis.measured);
  });
  assert.deepEqual(page.faults, []);
});

test(
  "a connect that hangs, of a server that stays when told to end: Cancel, until it can be connected anew",
  { timeout: 120_000 },
  async (t) => {
    await page.getByRole("list", { name: "Servers" }).locator("[data-server=stuck] [data-open]").click();
    const details = page.getByTestId("server-details");
    const pids = [];
    await median(t, "cancel a connect", async () => {
      rmSync(mark("stuck"), { force: true });
      await details
        .getByTestId("main-action")
        .getByText("Connect", { exact: true })
        .waitFor({ timeout: 30_000 });
      await details.getByTestId("main-action").focus();
      await page.keyboard.press("Enter");
      const cancel = details.getByRole("button", { name: "Cancel", exact: true });
      await cancel.waitFor();
      for (let i = 0; i < 200 && !existsSync(mark("stuck")); i++) await page.waitForTimeout(50);
      pids.push(Number(readFileSync(mark("stuck"), "utf8")));
      await cancel.focus();
      await stopwatch("Enter", () => {
        const box = document.querySelector('[data-testid="server-details"]');
        return (
          /^Off/.test(box.querySelector('[data-testid="server-sentence"]')?.textContent ?? "") &&
          box.querySelector('[data-testid="main-action"]')?.textContent === "Connect"
        );
      });
      await page.keyboard.press("Enter");
      return page.evaluate(() => globalThis.measured);
    });
    // It was not only said: nothing of it is left.
    assert.equal(new Set(pids).size, rounds);
    assert.equal(new Set(pids).size, rounds);
    for (const pid of pids) {
      let left = true;
      for (let i = 0; i < 200 && left; i++) {
        try {
          process.kill(pid, 0);
          await page.waitForTimeout(50);
        } catch {
          left = false;
        }
      }
      assert.ok(!left, `process ${pid} is left`);
    }
    assert.deepEqual(page.faults, []);
  },
);

test("Stop in the chat, while a tool never answers", async (t) => {
  await page.keyboard.press("Escape");
  await page.getByTestId("tools-dialog").waitFor({ state: "detached" });
  const composer = page.getByRole("textbox", { name: "Message" });
  let n = 0;
  await median(t, "stop a run", async () => {
    await composer.fill("/call box__hang {}");
    await composer.press("Enter");
    await page.locator('[data-status="running"]').waitFor();
    n++;
    await page.evaluate((wanted) => {
      globalThis.wanted = wanted;
    }, n);
    await stopwatch("Escape", () => {
      const cards = document.querySelectorAll('[data-status="canceled"]').length;
      const stop = [...document.querySelectorAll("button")].some((b) =>
        /^Stop/.test(b.getAttribute("aria-label") ?? b.textContent.trim()),
      );
      return cards === globalThis.wanted && !stop;
    });
    await composer.press("Escape");
    return page.evaluate(() => globalThis.measured);
  });
  assert.deepEqual(page.faults, []);
});
