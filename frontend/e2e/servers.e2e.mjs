import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, startDaemon } from "./helper.mjs";

let daemon;
let dir;
before(async () => {
  daemon = await startDaemon();
  dir = mkdtempSync(join(tmpdir(), "patchbay-files-"));
  writeFileSync(join(dir, "hello.txt"), "good morning");
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const box = (page) => page.getByRole("textbox", { name: "Configuration to paste" });

/** From the pasted text to the review. */
async function review(page) {
  await page.getByTestId("add-servers").getByRole("button", { name: "Review", exact: true }).click();
  await page.getByTestId("review-row").first().waitFor();
}

/** From the review to the end. */
async function connect(page) {
  await page
    .getByTestId("add-servers")
    .getByRole("button", { name: /^Save & connect/ })
    .click();
  await page.getByRole("button", { name: "Done" }).click();
}

async function openTools(page) {
  await page.getByTestId("tools-button").click();
  await page.getByTestId("tools-dialog").waitFor();
}

test("two servers with comments and a trailing comma become two rows; nothing runs", async () => {
  const page = await openPage(daemon.url);
  await openTools(page);
  await box(page).fill(`{
  // from a README
  "mcpServers": {
    "one": { "command": "node", "args": ["a b.js"], "env": { "API_KEY": "<YOUR_API_KEY>" } },
    /* the other */
    "two": { "url": "https://mcp.example.com/mcp", },
  },
}`);
  await page.getByTestId("found-row").nth(1).waitFor();
  await review(page);
  const rows = page.getByTestId("review-row");
  await rows.nth(1).waitFor();
  assert.equal(await rows.count(), 2);
  assert.match(await rows.nth(0).getByTestId("command-line").innerText(), /node "a b\.js"/);
  await rows.nth(0).getByText("This will run a program on your computer.").waitFor();
  await rows.nth(0).getByText("API_KEY").first().waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  assert.deepEqual(page.faults, []);
});

test("text that is not JSON is told with line and column, and changes nothing", async () => {
  const page = await openPage(daemon.url);
  await openTools(page);
  await box(page).fill('{\n  "mcpServers": {\n    "a": { "command": "x" "args": [] }\n  }\n}');
  await page
    .getByRole("alert")
    .getByText(/line 3/i)
    .first()
    .waitFor();
  assert.equal(await page.getByTestId("found-row").count(), 0);
  assert.ok(await page.getByRole("button", { name: "Review", exact: true }).isDisabled());
  await page.getByRole("button", { name: "Discard" }).click();
});

test("a missing program is named before anything is saved", async () => {
  const page = await openPage(daemon.url);
  await openTools(page);
  await box(page).fill('{"mcpServers":{"gone":{"command":"no-such-program-here","args":[]}}}');
  await review(page);
  await page
    .getByTestId("review-row")
    .getByText(/no-such-program-here.*(not|install)/i)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
});

test(
  "the filesystem server from npm: test, save, list, try, turn off, remove, undo",
  { timeout: 180_000 },
  async () => {
    const page = await openPage(daemon.url);
    await openTools(page);
    await box(page).fill(
      JSON.stringify({
        mcpServers: {
          files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", dir] },
        },
      }),
    );
    await review(page);
    const row = page.getByTestId("review-row");
    await row.getByRole("button", { name: "Test" }).click();
    await row.getByTestId("test-report").getByText("Handshake").waitFor({ timeout: 120_000 });
    const config = () => {
      try {
        return readFileSync(join(daemon.home, "config", "tools.json"), "utf8");
      } catch {
        return "";
      }
    };
    assert.ok(!config().includes("server-filesystem"), "a test saved something");

    await connect(page);
    const details = page.getByTestId("server-details");
    await details.getByText(/^Connected/).waitFor({ timeout: 90_000 });
    await details
      .getByRole("textbox", { name: "Search tools" })
      .or(details.getByRole("searchbox", { name: "Search tools" }))
      .fill("list_directory");
    await details.locator('[data-tool="list_directory"] button[aria-expanded]:not([aria-haspopup])').click();
    const trial = details.locator('[data-tool="list_directory"]').getByTestId("try-it");
    const run = trial.getByRole("button", { name: "Run" });
    assert.ok(await run.isDisabled(), "runs without its required argument");
    await trial.getByText("path needs a value.").waitFor();
    await trial.getByLabel(/^path/).fill(dir);
    await trial.getByLabel(/^path/).press("Control+Enter");
    const bar = page.getByTestId("approval-bar");
    const outcome = trial.getByTestId("outcome");
    await bar.or(outcome).first().waitFor({ timeout: 30_000 });
    if (await bar.isVisible()) {
      await page.waitForTimeout(700);
      await bar.getByRole("button", { name: /Allow once/ }).click();
    }
    await outcome.getByText("hello.txt").first().waitFor({ timeout: 30_000 });
    await outcome.getByRole("tab", { name: "What a model would see" }).click();
    await outcome.getByText("hello.txt").first().waitFor();

    await details.getByRole("switch", { name: "files on" }).click();
    await details.getByTestId("server-sentence").getByText("Off").waitFor();

    await details.getByRole("button", { name: "More for files" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator('[data-server="files"]').waitFor();
    assert.deepEqual(page.faults, []);
  },
);

test("a server is added with the keyboard alone", async () => {
  const page = await openPage(daemon.url);
  await page.getByTestId("tools-button").waitFor();
  await page.keyboard.press("Control+e");
  await page.getByTestId("tools-dialog").waitFor();
  await page.waitForTimeout(300);
  await page.keyboard.press("Control+n");
  await box(page).waitFor();
  await page.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "Configuration to paste",
  );
  await page.keyboard.insertText(
    '{"mcpServers":{"keys":{"command":"node","args":["--version"],"disabled":true}}}',
  );
  await page.getByTestId("found-row").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("review-row").waitFor();
  await page.waitForFunction(() =>
    [...document.querySelectorAll("button")].some((b) => b.textContent === "Save & connect" && !b.disabled),
  );
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(() => document.activeElement?.textContent)) === "Save & connect") break;
  }
  await page.keyboard.press("Enter");
  await page.getByTestId("connect-row").getByText("Off").first().waitFor();
  await page.getByTestId("add-status").getByText("1 added").waitFor();
  await page.locator('[data-server="keys"]').waitFor();
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(() => document.activeElement?.textContent)) === "Done") break;
  }
  await page.keyboard.press("Enter");
  await page.getByTestId("server-details").waitFor();
  await page.waitForFunction(
    () => document.activeElement?.closest("[data-server]")?.dataset.server === "keys",
  );
  await page.keyboard.press("Control+1");
  await page.getByRole("tab", { name: /Custom Tools/, selected: true }).waitFor();
  await page.waitForFunction(() => document.activeElement !== document.body);
  await page.keyboard.press("Control+n");
  await page.waitForFunction(() => document.activeElement?.matches("[data-begin]"));
  await page.keyboard.press("Control+2");
  await page.getByRole("tab", { name: /MCP Tools/, selected: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("tools-dialog").waitFor({ state: "detached" });
});

const manyTools = `
import { createInterface } from "node:readline";
const tools = Array.from({ length: 1000 }, (_, i) => ({
  name: "tool_" + i + (i === 500 ? "_with_a_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on" : ""),
  description: "Does thing " + i,
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
}));
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const info = { name: "many", version: "1" };
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: info }
      : m.method === "tools/list" ? { tools } : m.method === "ping" ? {} : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
});
`;

test("a thousand tools scroll, and only those in sight are on the page", { timeout: 60_000 }, async () => {
  writeFileSync(join(dir, "many.mjs"), manyTools);
  const page = await openPage(daemon.url, { width: 900, height: 600 });
  await openTools(page);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await box(page).fill(
    JSON.stringify({ mcpServers: { many: { command: "node", args: [join(dir, "many.mjs")] } } }),
  );
  await review(page);
  await connect(page);
  const details = page.getByTestId("server-details");
  await details.getByRole("tab", { name: "Tools (1000)" }).waitFor({ timeout: 30_000 });
  await details.locator("[data-tool]").first().waitFor();
  assert.ok((await page.locator("[data-tool]").count()) < 60, "the list is not virtual");
  await details.getByRole("list", { name: "Tools" }).evaluate((ul) => {
    ul.parentElement.scrollTop = ul.parentElement.scrollHeight;
  });
  await details.locator('[data-tool="tool_999"]').waitFor();
  await details.getByRole("searchbox", { name: "Search tools" }).fill("goes_on");
  await details.locator('[data-tool^="tool_500_"] button[aria-expanded]:not([aria-haspopup])').click();
  const sideways = await page.getByTestId("tools-dialog").evaluate((d) => d.scrollWidth > d.clientWidth);
  assert.ok(!sideways, "a long name breaks the layout");
  assert.deepEqual(page.faults, []);
});

test("a saved value is masked, survives an edit, and an edit survives a closed dialog", async () => {
  const page = await openPage(daemon.url);
  await openTools(page);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await box(page).fill(
    '{"mcpServers":{"masked":{"command":"node","args":["--version"],"env":{"TOKEN":"sk-live-123456"},"disabled":true}}}',
  );
  await review(page);
  await page.getByRole("checkbox", { name: /Move 1 secret to the keychain/ }).uncheck();
  await connect(page);
  await page.getByTestId("server-details").getByRole("tab", { name: "Settings" }).click();
  const value = page.getByLabel("Value of TOKEN");
  assert.equal(await value.inputValue(), "••••••••");
  await page.getByLabel("Argument 1", { exact: true }).fill("--help");
  await page.getByRole("tab", { name: /Custom Tools/ }).click();
  await page.keyboard.press("Escape");
  await page.getByTestId("tools-dialog").waitFor({ state: "detached" });
  await openTools(page);
  await page.locator('[data-server="masked"] [data-open]').click();
  await page.getByTestId("server-details").getByRole("tab", { name: "Settings" }).click();
  assert.equal(await page.getByLabel("Argument 1", { exact: true }).inputValue(), "--help");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("masked saved").waitFor();

  const file = readdirSync(daemon.home, { recursive: true }).find((f) => f.endsWith("tools.json"));
  const saved = readFileSync(join(daemon.home, file), "utf8");
  assert.ok(saved.includes("--help"), "the edit was not saved");
  assert.ok(!saved.includes("•"), "a mask was saved as a value");

  // What is missing is led to, and what was typed there shows as saved.
  const first = page.getByLabel("Argument 1", { exact: true });
  await first.fill("$" + "{NO_SUCH_0815}");
  await page.getByLabel("Off: do not start this server").uncheck();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByTestId("main-action").and(page.getByText("Fill in")).click();
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Argument 1");
  await first.fill("--version");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Save", exact: true }).and(page.locator(":disabled")).waitFor();
  await page.waitForFunction(
    () => document.querySelector('[aria-label="Argument 1"]')?.value === "--version",
  );

  // A name that is taken is told where the eye is, beside Save.
  await page.getByLabel("Name", { exact: true }).fill("many");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const refused = page.getByRole("alert").filter({ hasText: "The settings were not saved." });
  await refused.waitFor();
  const place = await refused.boundingBox();
  assert.ok(place && place.y + place.height <= 800, "the refusal is below the fold");
  await page.getByRole("button", { name: "Revert" }).click();
  const seen = await page.evaluate(
    () => document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }),
  );
  assert.ok(!seen.includes("sk-live-123456"), "the secret is still in the page");
  // The browser itself tells of the refused save.
  assert.deepEqual(
    page.faults.filter((f) => !/409/.test(f)),
    [],
  );
});
