import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, startDaemon } from "./helper.mjs";

let daemon;
let page;
before(async () => {
  daemon = await startDaemon();
  page = await openPage(daemon.url);
  await page.getByRole("button", { name: "Add the demo server" }).click();
  await page.getByText(/1 server connected/).waitFor();
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

test("an agent with one tool is made, and a chat with it begins", async () => {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("button", { name: "Agents" }).click();
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByLabel("Name").fill("Clock");
  await page.getByLabel("Instructions").fill("Tell the time.");
  await page.getByLabel("Some tools").check();
  await page.getByLabel("current_time").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("1 tool", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "Clock", exact: true }).click();
  await page.getByRole("button", { name: "Agent: Clock" }).waitFor();
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("/call demo__current_time {}");
  await composer.press("Enter");
  await page.locator('[data-status="done"]').first().waitFor();
  await page.getByRole("button", { name: "Agent: Clock" }).waitFor();
});

test("Try it shows progress, and Esc cancels it without closing the dialog", async () => {
  await page.keyboard.press("Control+e");
  const row = page.locator('[data-tool="slow_count"]');
  await row.getByRole("button").first().click();
  const trial = row.getByTestId("try-it");
  await trial.getByLabel(/^seconds/).fill("30");
  await trial.getByLabel(/^seconds/).press("Control+Enter");
  await trial.getByRole("progressbar").waitFor();
  const began = Date.now();
  await trial.getByRole("button", { name: "Cancel" }).press("Escape");
  await trial.getByTestId("outcome").getByText("Cancelled").first().waitFor();
  assert.ok(Date.now() - began < 3000, "cancelling took long");
  await page.getByTestId("tools-dialog").waitFor();
});

test("raw JSON and the form keep each other's edits", async () => {
  const trial = page.locator('[data-tool="slow_count"]').getByTestId("try-it");
  await trial.getByRole("button", { name: "Raw JSON" }).click();
  await trial.locator(".cm-content").getByText("30").waitFor();
  await trial.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText('{"seconds": "x"');
  await trial.getByText(/Line \d+, column \d+/).waitFor();
  assert.ok(await trial.getByRole("button", { name: "Run" }).isDisabled());
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText('{"seconds": 1}');
  await trial.getByRole("button", { name: "Form" }).click();
  assert.equal(await trial.getByLabel(/^seconds/).inputValue(), "1");
  await trial.getByRole("button", { name: "Run" }).click();
  await trial.getByTestId("outcome").getByText("Done").first().waitFor();
  assert.deepEqual(page.faults, []);
});
