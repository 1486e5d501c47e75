import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

let daemon;
let page;
before(async () => {
  daemon = await startDaemon();
  page = await openPage(daemon.url, { width: 1440, height: 900 });
  await page.request.post(`${daemon.address}/rpc/mcp:addDemoServer`, {
    headers: { Authorization: `Bearer ${daemon.token}`, "Content-Type": "application/json" },
    data: {},
  });
  await page.getByRole("button", { name: "Tools", exact: true }).first().click();
  await page.getByText(/Connected: \d+ tools/).waitFor({ timeout: 30_000 });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

const trial = () => page.getByTestId("try-it");

async function openTool(name) {
  await page.getByRole("button", { name: new RegExp(`^${name}`) }).click();
  await trial().waitFor();
}

test("several runs are under way at once, and each keeps its result", async () => {
  await openTool("slow_count");
  const seconds = trial()
    .getByLabel(/seconds/i)
    .first();
  await seconds.fill("3");
  await trial().getByRole("button", { name: "Run", exact: true }).click();
  await seconds.fill("1");
  await trial().getByRole("button", { name: "Run", exact: true }).click();
  await trial().getByRole("button", { name: "Run 1: Running" }).waitFor();
  await trial()
    .getByRole("button", { name: /^Run 2: Done/ })
    .waitFor();
  await trial()
    .getByRole("button", { name: /^Run 1/ })
    .click();
  await trial()
    .getByRole("button", { name: /^Run 1: Done/ })
    .waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "try-runs");
  await page.getByRole("button", { name: /^slow_count/ }).click();
  await trial().waitFor({ state: "detached" });
});

test("arguments are saved, put back, and removed with undo", async () => {
  await openTool("transform_text");
  await trial().getByRole("textbox", { name: /^text/i }).fill("Hello there");
  await trial()
    .getByRole("textbox", { name: /^operation/i })
    .fill("upper");
  await trial().getByRole("button", { name: "Saved", exact: true }).click();
  await page.getByRole("textbox", { name: "Name of the request" }).fill("loud");
  await page.keyboard.press("Enter");
  await page.getByText("loud saved").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Escape");
  await trial().getByRole("textbox", { name: /^text/i }).fill("something else");
  await trial().getByRole("button", { name: "Saved (1)" }).click();
  await page.getByRole("button", { name: /^loud/ }).click();
  assert.equal(await trial().getByRole("textbox", { name: /^text/i }).inputValue(), "Hello there");
  await trial().getByRole("button", { name: "Saved (1)" }).click();
  await page.getByRole("button", { name: "Remove loud" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await trial().getByRole("button", { name: "Saved (1)" }).click();
  await page.getByRole("button", { name: /^loud/ }).waitFor();
  await page.keyboard.press("Escape");
});

test("after an approval the focus is back at Run, where Escape cancels and does not close", async () => {
  await page.getByRole("button", { name: /^transform_text/ }).click();
  await openTool("write_note");
  await trial().getByLabel(/^name/i).fill("focus");
  await trial().getByLabel(/^text/i).fill("stays");
  await trial().getByRole("button", { name: "Run", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByTestId("approval-bar").waitFor();
  await page.waitForTimeout(700); // the guard against a press that was meant for something else
  await page.keyboard.press("a");
  await page.getByTestId("outcome").getByText("Done").first().waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.trim() === "Run");
  await page.getByRole("button", { name: /^write_note/ }).click();
  await openTool("transform_text");
});

test("rows of CSV run some at a time, and a wrong row is named before", async () => {
  await trial().getByRole("button", { name: "Rows" }).click();
  const editor = trial().getByRole("textbox", { name: /Rows of arguments/ });
  await editor.click();
  await page.keyboard.insertText("operation\nupper\n");
  await trial()
    .getByText(/^Row 1: /)
    .waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(
    'text,operation\none,upper\n"two, three",title\nfour,reverse\nfive,count_words\n',
  );
  await trial().getByRole("button", { name: "Run 4 rows" }).click();
  await trial().getByText("4 of 4").waitFor();
  await trial()
    .getByRole("cell", { name: /Two, Three/ })
    .waitFor();
  await trial().getByRole("button", { name: "Row 2" }).click();
  await page.getByTestId("outcome").getByText("Two, Three").first().waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "try-rows");
  assert.deepEqual(page.faults, []);
});
