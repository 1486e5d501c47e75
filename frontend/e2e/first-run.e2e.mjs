import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, startDaemon } from "./helper.mjs";

let daemon;
before(async () => {
  daemon = await startDaemon();
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

test("the first start leads to an answer with a tool, and the token leaves the address", async () => {
  const page = await openPage(daemon.url);
  await page.getByTestId("first-run").waitFor();
  assert.ok(!page.url().includes(daemon.token), "the token stays in the address bar");

  const use = page.getByRole("button", { name: "Use Rehearsal" });
  if (await use.isVisible()) await use.click();
  await page.getByRole("button", { name: "Add the demo server" }).click();
  await page
    .getByTestId("first-run")
    .getByText(/1 server connected/)
    .waitFor();
  // The button is gone; the focus is at what took its place.
  await page.waitForFunction(() => document.activeElement?.textContent === "Open Tools");
  await page.getByRole("button", { name: "Take an example" }).click();

  const composer = page.getByRole("textbox", { name: "Message" });
  assert.equal(await composer.inputValue(), "/call demo__current_time {}");
  await composer.press("Enter");

  const card = page.locator('[data-status="done"]').first();
  await card.waitFor();
  await card.getByRole("button").first().click();
  await card.getByRole("region", { name: "Result", exact: true }).first().waitFor();
  await page.getByText("returned").first().waitFor();

  // The stream's end is the query's truth: after a reload the same is there.
  await page.reload();
  await page.locator('[data-status="done"]').first().waitFor();
  assert.deepEqual(page.faults, []);
});

test("without a token the page asks for it", async () => {
  const page = await openPage(daemon.address);
  await page.getByText("printed, or paste the").waitFor();
  await page.getByLabel("Link or token").fill(daemon.url);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByTestId("tools-button").waitFor();
});

test("a wrong token is refused in words", async () => {
  const page = await openPage(`${daemon.address}/#token=${"x".repeat(43)}`);
  await page.getByText("does not know this page's token").waitFor();
});
