// Every state of a server: its icon, its word, its sentence, its button, and what a screen reader hears.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, listen, openPage, rpc, shot, startDaemon, tabTo, violations } from "./helper.mjs";

// Notes its number, answers initialize only while the file "NAME.wait" is not there, lists its tools only
// while "NAME.quiet" is not there, and ends after its list while "NAME.crash" is there.
const server = `
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const base = process.argv[2];
writeFileSync(base + ".pid", String(process.pid));
const free = async (file) => { while (existsSync(file)) await new Promise((r) => setTimeout(r, 20)); };
createInterface({ input: process.stdin }).on("line", async (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  if (m.method === "initialize") await free(base + ".wait");
  if (m.method === "tools/list") await free(base + ".quiet");
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }
      : m.method === "tools/list"
        ? { tools: ["look", "move"].map((name) => ({ name, description: existsSync(base + ".other") ? "Other." : "Same.", inputSchema: { type: "object" } })) }
        : m.method === "ping" ? {} : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
  if (m.method === "tools/list" && existsSync(base + ".crash")) setTimeout(() => process.exit(3), 100);
});
`;

let daemon;
let web;
const file = (name) => join(daemon.home, name);
const make = (name) => writeFileSync(file(name), "");
const drop = (name) => rmSync(file(name), { force: true });

before(async () => {
  web = createServer((_req, res) => {
    res.writeHead(401, { "WWW-Authenticate": "Bearer" });
    res.end();
  });
  await new Promise((done) => web.listen(0, "127.0.0.1", done));
  daemon = await startDaemon({
    prepare: (home) => {
      writeFileSync(join(home, "box.mjs"), server);
      const box = (name, more = {}) => ({
        name,
        command: process.execPath,
        args: [join(home, "box.mjs"), join(home, name)],
        disabled: true,
        ...more,
      });
      writeFileSync(
        join(home, "tools.json"),
        JSON.stringify({
          mcpServers: [
            box("everything", { env: { KEY: "${secret:everything/KEY}" } }),
            { name: "broken", command: "no-such-runtime-0815", disabled: true },
            box("empty", { env: { KEY: "${NO_SUCH_VALUE_0815}" } }),
            { name: "locked", url: `http://127.0.0.1:${web.address().port}/mcp`, disabled: true },
            box("shaky"),
            box("sleepy", { start: "on_demand", idleStop: 1000 }),
          ],
        }),
      );
    },
  });
  await rpc(daemon, "secrets:save", { name: "everything/KEY", value: "first" });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
  await new Promise((done) => web.close(done));
});

let page;
let said;
const list = () => page.getByRole("list", { name: "Servers" });
const row = (name) => list().locator(`[data-server=${name}]`);
const details = () => page.getByTestId("server-details");

async function until(what, ok, tries = 400) {
  for (let i = 0; i < tries; i++) {
    if (await ok()) return;
    await new Promise((r) => setTimeout(r, 50));
  }
  assert.fail(`${what}\n${JSON.stringify(await said?.())}`);
}

// How much of what was said was looked at already: news of a server is new only once.
let heard = 0;
async function hears(sentence) {
  await until(`nobody was told ${sentence}`, async () => {
    const at = (await said()).findIndex((s, i) => i >= heard && sentence.test(s));
    if (at >= 0) heard = at + 1;
    return at >= 0;
  });
}

async function turn(name, on) {
  await row(name).getByRole("switch").focus();
  await page.keyboard.press("Space");
  await row(name).getByRole("switch", { checked: on }).waitFor();
}

/** Looks at a server's row and details, and reaches its button with the keyboard. */
async function looks(name, { word, sentence, button }) {
  await row(name).getByRole("img", { name: word, exact: true }).waitFor();
  await row(name).getByText(sentence).first().waitFor();
  await row(name).locator("[data-open]").focus();
  await page.keyboard.press("Enter");
  await details()
    .getByRole("heading", { name: new RegExp(name) })
    .waitFor();
  await details().getByTestId("server-sentence").getByText(sentence).first().waitFor();
  await details().getByTestId("server-sentence").getByText(word).first().waitFor();
  if (button) await tabTo(page, new RegExp(`^${button}$`));
}

test("off, starting, connected, failed, needs values, needs sign-in, on demand", async () => {
  page = await openPage(`${daemon.url}`, { width: 1280, height: 800 });
  await page.getByTestId("tools-button").click();
  await row("sleepy").waitFor();
  said = await listen(page);
  await looks("everything", { word: "Off", sentence: "Off", button: "Turn on" });
  make("everything.wait");
  await page.keyboard.press("Enter");
  await hears(/^everything: starting$/);
  await row("everything")
    .getByRole("img", { name: /Starting|Connecting/ })
    .waitFor();
  drop("everything.wait");
  await hears(/^everything: connected, 2 tools$/);
  await looks("everything", { word: "Connected", sentence: /2 tools/, button: "Disconnect" });

  await turn("broken", true);
  await hears(/^broken: failed, command not found: no-such-runtime-0815$/);
  await looks("broken", { word: "Failed", sentence: /Command not found/, button: "Correct command" });
  await turn("empty", true);
  await hears(/^empty: needs values, .*NO_SUCH_VALUE_0815/);
  await looks("empty", { word: "Needs values", sentence: /NO_SUCH_VALUE_0815/, button: "Fill in" });
  await turn("locked", true);
  await hears(/^locked: needs sign-in, /);
  await looks("locked", { word: "Needs sign-in", sentence: /sign in/i, button: "Sign in" });
  await page.keyboard.press("Enter");
  await details().getByRole("alert").getByText("Signing in to locked did not work.").waitFor();
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY");
  await details().getByRole("button", { name: "Settings for signing in" }).waitFor();
  await turn("sleepy", true);
  await hears(/^sleepy: on demand, ready, starts when used/);
  await looks("sleepy", { word: "On demand", sentence: /starts when used/, button: "Start now" });
  await turn("everything", false);
  await hears(/^everything: off$/);
  // Not each tick, nor each number.
  const all = await said();
  assert.equal(all.filter((s) => s.startsWith("everything: connected")).length, 1, all.join("\n"));
  assert.equal(all.filter((s) => s.startsWith("broken: failed")).length, 1, all.join("\n"));
});

test("reconnecting and crash loop", { timeout: 120_000 }, async () => {
  await turn("shaky", true);
  await hears(/^shaky: connected/);
  make("shaky.wait");
  process.kill(Number(readFileSync(file("shaky.pid"), "utf8")), "SIGKILL");
  await hears(/^shaky: reconnecting$/);
  await looks("shaky", { word: "Reconnecting", sentence: /again|Reconnecting/, button: "Connect now" });
  await shot(page, "state-reconnecting");
  make("shaky.crash");
  drop("shaky.wait");
  await hears(/^shaky: crash loop, shaky crashed \d+ times/);
  await looks("shaky", { word: "Crash loop", sentence: /crashed/, button: "Show log" });
  await turn("shaky", false);
});

test("changed tools are told in the list, and reviewed one after the other", async () => {
  await turn("everything", true);
  await hears(/^everything: connected, 2 tools$/);
  const { tools } = await rpc(daemon, "tools:get");
  const refs = tools.map((t) => t.tool.ref).filter((r) => r.server === "everything");
  await rpc(daemon, "tools:setApproval", { refs, choice: "allow", acceptRisk: true });
  make("everything.other");
  await rpc(daemon, "mcp:refreshTools", { name: "everything" });
  await hears(/^everything: changed, 2 tools changed since you allowed them$/);
  await looks("everything", {
    word: "Changed",
    sentence: "2 tools changed since you allowed them",
    button: "Review",
  });
  await page
    .getByRole("group", { name: "Servers", exact: true })
    .getByRole("button", { name: "everything: Changed" })
    .waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "state-changed");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "look changed since you allowed it (1 of 2)" }).waitFor();
  await page.getByTestId("approval-review").getByText("Other.").waitFor();
  await tabTo(page, /^Ask each time$/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "move changed since you allowed it (2 of 2)" }).waitFor();
  await tabTo(page, /^Allow as it is now$/);
  await page.keyboard.press("Enter");
  await row("everything").getByRole("img", { name: "Connected" }).waitFor();
  await until("the focus is lost", () =>
    page.evaluate(() => document.activeElement?.closest("[data-server]")?.dataset.server === "everything"),
  );
});

test("a secret that changed asks for a reconnect", async () => {
  await rpc(daemon, "secrets:save", { name: "everything/KEY", value: "second" });
  await hears(/^everything: settings changed, a secret that it uses has another value/);
  await looks("everything", {
    word: "Settings changed",
    sentence: /Reconnect to apply your changes/,
    button: "Reconnect",
  });
  assert.deepEqual(await violations(page), []);
  await shot(page, "state-settings-changed");
  const pid = readFileSync(file("everything.pid"), "utf8");
  await page.keyboard.press("Enter");
  await row("everything").getByRole("img", { name: "Connected" }).waitFor();
  assert.notEqual(readFileSync(file("everything.pid"), "utf8"), pid);
});

test("after a sleep it is unverified until it answered", { timeout: 120_000 }, async () => {
  make("everything.quiet");
  // Who does not run notices what who slept notices: the clock moved on.
  process.kill(daemon.pid, "SIGSTOP");
  await new Promise((r) => setTimeout(r, 16_000));
  process.kill(daemon.pid, "SIGCONT");
  await hears(/^everything: unverified, checking after sleep/);
  await looks("everything", { word: "Unverified", sentence: "Checking after sleep…" });
  await shot(page, "state-unverified");
  drop("everything.quiet");
  await row("everything").getByRole("img", { name: "Connected" }).waitFor();
  assert.ok(existsSync(file("everything.pid")));
});

test("after Remove the next row has the focus, after Undo the one that came back", async () => {
  const focused = () => page.evaluate(() => document.activeElement?.closest("[data-server]")?.dataset.server);
  await row("empty").locator("[data-open]").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "More for empty" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Remove" }).waitFor();
  // The menu takes keys once it has the focus.
  await until("the focus is not at Remove", async () => {
    await page.keyboard.press("End");
    return page.evaluate(() => document.activeElement?.textContent?.trim() === "Remove");
  });
  await page.keyboard.press("Enter");
  await row("empty").waitFor({ state: "detached" });
  await until("the focus is not at the next row", async () => (await focused()) === "locked");
  await hears(/^empty: removed$/);
  await details()
    .getByRole("heading", { name: /locked/ })
    .waitFor();
  const undo = page.getByRole("button", { name: "Undo" }).first();
  await undo.focus();
  await page.keyboard.press("Enter");
  await row("empty").waitFor();
  await until("the focus is not at the row that came back", async () => (await focused()) === "empty");
  await page.waitForTimeout(500); // the toast leaves, and must not take the focus along
  assert.equal(await focused(), "empty");
  // With the key, on a row that is not open.
  await row("sleepy").locator("[data-open]").focus();
  await page.keyboard.press("Delete");
  await row("sleepy").waitFor({ state: "detached" });
  await until("the focus is not at the row before", async () => (await focused()) !== undefined);
});

test("closing gives the focus back to what opened; copying is told", async () => {
  const label = () =>
    page.evaluate(
      () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent,
    );
  await page.keyboard.press("Escape");
  await page.getByTestId("tools-dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^locked: / }).focus();
  await page.keyboard.press("Enter");
  await page.getByTestId("tools-dialog").waitFor();
  await page.keyboard.press("Escape");
  await until("the focus is not back", async () => /^locked: /.test(await label()));
  // The entry of the palette that opened it is gone.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("everything");
  await page
    .getByRole("option", { name: /everything/ })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await page.getByTestId("tools-dialog").waitFor();
  await page.getByTestId("server-details").getByRole("tab", { name: "Activity" }).click();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: /^Copy what is shown/ }).click();
  await page.getByText(/^Copied \d+ entries/).waitFor();
  await page.getByRole("button", { name: "Close Tools" }).focus();
  await page.keyboard.press("Enter");
  await page.getByTestId("tools-dialog").waitFor({ state: "detached" });
  await until(
    "the focus is nowhere",
    async () => await page.evaluate(() => document.activeElement !== document.body),
  );
  // The browser itself notes the sign-in that was refused.
  assert.deepEqual(
    page.faults.filter((f) => !f.includes("403")),
    [],
  );
});
