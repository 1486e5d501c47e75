import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

let daemon;
let page;
before(async () => {
  daemon = await startDaemon();
  page = await openPage(daemon.url);
  await rpc("mcp:addDemoServer");
  await page.getByRole("button", { name: "Tools", exact: true }).first().click();
  await page.getByText(/Connected: \d+ tools/).waitFor({ timeout: 30_000 });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

async function rpc(channel, data = {}) {
  const res = await page.request.post(`${daemon.address}/rpc/${channel}`, {
    headers: { Authorization: `Bearer ${daemon.token}`, "Content-Type": "application/json" },
    data,
  });
  assert.ok(res.ok(), await res.text());
  return res.json();
}

const writeNote = (name, text) =>
  rpc("tools:execute", {
    callId: `e2e-${name}`,
    ref: { kind: "mcp", server: "demo", name: "write_note" },
    arguments: { name, text },
  });

test("a resource is read, its change is told, and its text goes to the chat", async () => {
  await page.getByRole("tab", { name: "Resources" }).click();
  const panel = page.getByTestId("resources");
  await panel.getByRole("button", { name: /All Notes/ }).click();
  await panel.getByRole("button", { name: "Read", exact: true }).click();
  await panel.getByText("There are no notes yet.").waitFor();
  await panel.getByRole("switch", { name: /Tell me when/ }).click();
  const call = writeNote("milk", "buy two bottles");
  await page.getByTestId("approval-bar").waitFor();
  await page.waitForTimeout(700);
  await page.keyboard.press("a");
  await call;
  await panel.getByText("The resource changed since it was read.").waitFor();
  await panel.getByRole("button", { name: "Read again" }).click();
  await panel.getByText(/buy two bottles/).waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "resources");
});

test("a template is filled in with what the server proposes", async () => {
  const panel = page.getByTestId("resources");
  await panel.getByRole("button", { name: /One Note/ }).click();
  const field = panel.getByRole("combobox", { name: "name" });
  await field.fill("mi");
  await panel.locator('datalist option[value="milk"]').waitFor({ state: "attached" });
  await field.fill("milk");
  await panel.getByRole("button", { name: "Read", exact: true }).click();
  await panel.getByText("buy two bottles", { exact: true }).waitFor();
});

test("a prompt is filled in and used in the chat", async () => {
  await page.getByRole("tab", { name: "Prompts" }).click();
  const panel = page.getByTestId("prompts");
  await panel.getByRole("button", { name: /Sum Up the Notes/ }).click();
  assert.ok(await panel.getByRole("button", { name: "Get prompt" }).isDisabled());
  await panel.getByRole("combobox").fill("in one sentence");
  await panel.getByRole("button", { name: "Get prompt" }).click();
  await panel.getByText(/Sum up these notes in one sentence/).waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "prompts");
  await panel.getByRole("button", { name: "Use in chat" }).click();
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.waitFor();
  assert.match(await composer.inputValue(), /^Sum up these notes in one sentence/);
  const { records } = await rpc("audit:get", {});
  assert.ok(records.some((r) => r.ref.kind === "feature" && r.ref.name === "prompts" && r.status === "done"));
});

test("the activity shows the messages, and a call is made again from there", async () => {
  await page.getByRole("button", { name: "Tools", exact: true }).first().click();
  await page.getByRole("tab", { name: "Activity" }).click();
  const panel = page.getByTestId("activity");
  await panel.getByRole("searchbox").fill("write_note");
  const sent = panel.getByRole("button", { name: /to the server.*tools\/call request/ });
  await sent.click();
  await panel.getByText("buy two bottles").waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "activity");
  await panel.getByRole("searchbox").fill("");
  await panel
    .getByRole("button", { name: /from the server.*tools\/call result/ })
    .first()
    .waitFor();
  await shot(page, "activity-all");
  await panel.getByRole("button", { name: "Show the log file" }).click();
  const log = page.getByRole("dialog", { name: /^Log of/ });
  await log.getByText(/ event connected: /).waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "server-log");
  await page.keyboard.press("Escape");
  await log.waitFor({ state: "detached" });
  await panel.getByRole("searchbox").fill("write_note");
  await panel.getByRole("button", { name: "Call again…" }).click();
  await page.getByTestId("try-it").waitFor();
  assert.equal(await page.getByRole("textbox", { name: /text/i }).last().inputValue(), "buy two bottles");
});
