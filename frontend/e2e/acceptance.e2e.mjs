// The acceptance list of the Tools dialog, with the keyboard. What stands elsewhere: secrets in the page
// (dialog, secrets), a broken tool among good ones and cancelling in time (the Go tests of the engine and
// the gate), changed definitions (tool-approval).
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

const config = Buffer.from(JSON.stringify({ command: "no-such-runtime-0815", args: ["--from-link"] }));
const link = `cursor://anysphere.cursor-deeplink/mcp/install?name=linked&config=${encodeURIComponent(config.toString("base64"))}`;

// Leaves a mark when it runs, and answers unless it is told to hang.
const server = `
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
writeFileSync(process.argv[2], String(process.pid));
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined || process.argv[3]) return;
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }
      : m.method === "tools/list"
        ? { tools: [{ name: "look", inputSchema: { type: "object" } }, { name: "odd", inputSchema: { type: "object", properties: { a: { $ref: "https://example.com/x" } } } }] }
        : m.method === "ping" ? {} : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
});
`;

let daemon;
const mark = (name) => join(daemon.home, `${name}.mark`);
before(async () => {
  daemon = await startDaemon({
    args: ["--open", link],
    prepare: (home) => writeFileSync(join(home, "box.mjs"), server),
  });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

async function tabTo(page, match) {
  for (let i = 0; i < 90; i++) {
    const name = await page.evaluate(() => {
      const el = document.activeElement;
      return el?.getAttribute("aria-label") ?? el?.closest("label")?.textContent ?? el?.textContent ?? "";
    });
    if (match.test(name)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${match} cannot be reached with Tab`);
}

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function until(what, ok) {
  for (let i = 0; i < 200; i++) {
    if (ok()) return;
    await new Promise((r) => setTimeout(r, 50));
  }
  assert.fail(what);
}

test("a link from outside ends at the review, and nothing of it runs or is saved", async () => {
  const page = await openPage(daemon.url);
  await page.getByRole("heading", { name: "Review 1 server" }).waitFor();
  const row = page.getByTestId("review-row");
  // 2: what is missing is named before anything is saved.
  await row.getByText("Command not found: no-such-runtime-0815").first().waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "link-review");
  const file = join(daemon.home, "tools.json");
  assert.ok(!existsSync(file) || !readFileSync(file, "utf8").includes("linked"));
  await tabTo(page, /^Discard$/);
  await page.keyboard.press("Enter");
  // It is given out once.
  await page.reload();
  await page.getByTestId("tools-button").waitFor();
  assert.equal(await page.getByTestId("review-row").count(), 0);
  assert.deepEqual(page.faults, []);
});

test("paste, look, connect, off: with the keyboard, in both themes", { timeout: 120_000 }, async () => {
  const page = await openPage(daemon.url, { width: 960, height: 640 });
  await page.getByTestId("tools-button").focus();
  await page.keyboard.press("Enter");
  await page.getByTestId("add-servers").waitFor();
  // 1: comments and a trailing comma.
  const args = (name, ...more) => JSON.stringify([join(daemon.home, "box.mjs"), mark(name), ...more]);
  const node = JSON.stringify(process.execPath);
  await page.getByTestId("add-servers").getByRole("textbox").first().focus();
  await page.keyboard.insertText(`{
    // two that work differently, and one that cannot
    "mcpServers": {
      "good": { "command": ${node}, "args": ${args("good")} },
      "hangs": { "command": ${node}, "args": ${args("hangs", "hang")} },
      "broken": { "command": "no-such-runtime-0815" },
    },
  }`);
  await page.getByTestId("found-row").nth(2).waitFor();
  // 11: closing loses nothing.
  await tabTo(page, /^Close Tools$/);
  await page.keyboard.press("Enter");
  await page.getByTestId("tools-dialog").waitFor({ state: "hidden" });
  await page.getByTestId("tools-button").focus();
  await page.keyboard.press("Enter");
  await page.getByTestId("found-row").nth(2).waitFor();
  await page.getByTestId("add-servers").getByRole("textbox").first().focus();
  await page.waitForFunction(() =>
    [...document.querySelectorAll("button")].some((b) => /^Review/.test(b.textContent) && !b.disabled),
  );
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "Review 3 servers" }).waitFor();
  assert.deepEqual(await violations(page), [], "review");
  await shot(page, "acceptance-review-960");
  // 3: the command line is on the screen, and nothing ran.
  await page.getByText(mark("good"), { exact: false }).first().waitFor();
  assert.ok(!existsSync(mark("good")) && !existsSync(mark("hangs")), "something ran before it was wanted");
  await tabTo(page, /^Save & connect/);
  await page.keyboard.press("Enter");
  const status = page.getByTestId("add-status");
  await status.getByText("3 added", { exact: false }).waitFor();
  await tabTo(page, /^Done$/);
  await page.keyboard.press("Enter");

  // 4: who never answers delays nobody.
  const list = page.getByRole("list", { name: "Servers" });
  await list.locator("[data-server=good]").getByText("2 tools", { exact: false }).waitFor();
  await list
    .locator("[data-server=hangs]")
    .getByRole("img", { name: /Connecting|Starting/ })
    .waitFor();
  assert.deepEqual(await violations(page), [], "servers");
  await shot(page, "acceptance-servers-960");

  // 8, 12: what failed says so, and offers what mends it.
  const details = page.getByTestId("server-details");
  const open = async (name) => {
    await list.locator(`[data-server=${name}] [data-open]`).focus();
    await page.keyboard.press("Enter");
    await details.getByRole("heading", { name: new RegExp(name) }).waitFor();
  };
  await open("broken");
  await details.getByTestId("server-sentence").getByText("Command not found").waitFor();
  await tabTo(page, /^Correct command$/);
  await page.keyboard.press("Enter");
  await details.getByLabel("Command", { exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.value === "no-such-runtime-0815");
  assert.deepEqual(await violations(page), [], "settings");
  await shot(page, "acceptance-mend-960");

  await page.setViewportSize({ width: 1600, height: 1000 });
  await page.emulateMedia({ colorScheme: "dark" });
  await open("good");
  await details.getByRole("tab", { name: /^Tools/ }).click();
  // 7: a tool that models cannot take says why, and leaves the other alone.
  await details.getByText("not for models").waitFor();
  await tabTo(page, /^Refresh tools$/);
  await page.keyboard.press("Enter");
  await page.getByText("The tools of good are listed anew").waitFor();
  await tabTo(page, /^odd/);
  await page.keyboard.press("Enter");
  await details.getByText("https://example.com/x", { exact: false }).first().waitFor();
  assert.deepEqual(await violations(page), [], "tools, dark");
  await shot(page, "acceptance-tools-1600-dark");

  // 5: off leaves no process.
  for (const name of ["good", "hangs"]) {
    await until(`${name} did not start`, () => existsSync(mark(name)));
    const pid = Number(readFileSync(mark(name), "utf8"));
    assert.ok(alive(pid));
    await list.getByRole("switch", { name: `${name} on` }).focus();
    await page.keyboard.press("Space");
    await until(`${name} still runs`, () => !alive(pid));
  }
  await details.getByTestId("main-action").getByText("Turn on").waitFor();
  assert.deepEqual(await violations(page), [], "off, dark");
  // The browser itself notes that no form can be made of the odd schema.
  assert.deepEqual(
    page.faults.filter((f) => !f.includes("Could not find a definition for https://example.com/x")),
    [],
  );
});
