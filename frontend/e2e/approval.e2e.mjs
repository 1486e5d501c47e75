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

async function say(text) {
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill(text);
  await composer.press("Enter");
  await page.waitForFunction(() => document.querySelector("textarea")?.value === "");
}

const bar = () => page.getByTestId("approval-bar");

test("a call that changes data waits; Deny runs nothing", async () => {
  await say('/call demo__write_note {"name":"a","text":"one"}');
  await bar().waitFor();
  assert.match(await page.title(), /^\(1\)/);
  await bar().getByText("one", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "H2", "a button has the focus");
  await bar().getByRole("button", { name: /Deny/ }).click();
  await page.locator('[data-status="denied"]').first().waitFor();
  await bar().waitFor({ state: "detached" });
  assert.doesNotMatch(await page.title(), /^\(1\)/);
});

test("Enter does nothing; the letter a allows once", async () => {
  await say('/call demo__write_note {"name":"a","text":"two"}');
  await bar().waitFor();
  await page.waitForTimeout(700);
  await page.keyboard.press("Enter");
  await page.waitForTimeout(200);
  assert.ok(await bar().isVisible(), "Enter decided");
  await page.keyboard.press("a");
  await page.locator('[data-status="done"]').first().waitFor();
});

test("a destructive tool asks again, and allowing for the chat is remembered", async () => {
  await say('/call demo__delete_note {"name":"a"}');
  await bar().waitFor();
  await bar().getByText(/risk/i).first().waitFor();
  await page.waitForTimeout(700);
  await page.keyboard.press("Control+Enter");
  await bar().waitFor({ state: "detached" });
  await page.locator('[data-status="done"], [data-status="tool_error"]').nth(1).waitFor();

  await say('/call demo__write_note {"name":"b","text":"three"}');
  await bar().waitFor();
  await page.waitForTimeout(700);
  await page.keyboard.press("s");
  await bar().waitFor({ state: "detached" });
  await page.getByText("Wrote the note b.").first().waitFor();
  await say('/call demo__write_note {"name":"c","text":"four"}');
  await page.getByText("Wrote the note c.").first().waitFor();
  assert.equal(await bar().count(), 0);
});

test("a running call shows progress and can be stopped", async () => {
  await say('/call demo__slow_count {"seconds":30}');
  const card = page.locator('[data-status="running"]').first();
  await card.getByRole("progressbar").first().waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('[data-status="canceled"]').first().waitFor();
});

test("the audit log tells every end by its own word", async () => {
  await page.getByRole("button", { name: "Audit" }).click();
  const table = page.getByRole("table", { name: "Audit log" });
  for (const word of ["Denied by you", "Done", "Cancelled"]) await table.getByText(word).first().waitFor();
  await table.getByText("Denied by you").first().click();
  await page
    .getByRole("complementary", { name: /Record/ })
    .getByText("Arguments")
    .first()
    .waitFor();
  assert.deepEqual(page.faults, []);
});
