import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

let daemon;
let page;
before(async () => {
  daemon = await startDaemon();
  page = await openPage(daemon.url);
  await page.getByRole("button", { name: "Paste a server" }).click();
  await page
    .getByRole("textbox")
    .last()
    .fill('{"everything":{"command":"npx","args":["-y","@modelcontextprotocol/server-everything"]}}');
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await page.getByRole("button", { name: /^Save/ }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText(/Connected: \d+ tools/).waitFor({ timeout: 90_000 });
  await page.getByRole("button", { name: "Close" }).first().click();
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

async function ask() {
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("/call everything__trigger-elicitation-request {}");
  await composer.press("Enter");
  await page.getByTestId("approval-bar").waitFor();
  await page.waitForTimeout(700);
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("question").waitFor();
}

test("a server's question is a form that says what is missing, and its answer reaches the server", async () => {
  await ask();
  const dialog = page.getByRole("dialog", { name: /everything asks/ });
  await dialog.getByText("String needs a value.").waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Send" }).isDisabled());
  await dialog.getByRole("checkbox", { name: "Salmon" }).check();
  await dialog.getByRole("checkbox", { name: "Piano" }).check();
  assert.equal(await dialog.getByText(/Unsupported field/).count(), 0);
  assert.deepEqual(await violations(page), []);
  await page.locator("#question_name").fill("Ada");
  await dialog.getByRole("button", { name: "Send" }).click();
  await page.getByText("Name: Ada").first().waitFor();
  await page.getByText("Favorite Integer: 42").first().waitFor();
});

test("a question can be declined, and a stopped run takes its question along", async () => {
  await ask();
  await page.getByRole("button", { name: "Decline" }).click();
  await page
    .getByText(/declined/i)
    .first()
    .waitFor();
  await ask();
  await page.request.post(`${daemon.address}/rpc/chat:stop`, {
    headers: { Authorization: `Bearer ${daemon.token}`, "Content-Type": "application/json" },
    data: { conversationId: page.url().split("/chat/")[1].split("?")[0] },
  });
  await page.getByTestId("question").waitFor({ state: "detached" });
});

test("a server's question to a model is shown before it goes out and before the answer goes back", async () => {
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill('/call everything__trigger-sampling-request {"prompt":"Name a colour","maxTokens":50}');
  await composer.press("Enter");
  await page.getByTestId("approval-bar").waitFor();
  await page.waitForTimeout(700);
  await page.keyboard.press("Control+Enter");
  const asking = page.getByRole("dialog", { name: /wants to ask a model/ });
  const message = asking.getByRole("textbox", { name: "Message 1, user" });
  await message.waitFor();
  assert.match(await message.inputValue(), /Name a colour/);
  await message.fill("Name a fruit");
  assert.deepEqual(await violations(page), []);
  await shot(page, "sampling");
  await asking.getByRole("button", { name: "Ask the model" }).click();
  const back = page.getByRole("dialog", { name: /would get this answer/ });
  await back.getByRole("textbox", { name: "The answer" }).fill("A quince.");
  await back.getByRole("button", { name: "Give it to the server" }).click();
  await back.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /trigger-sampling-request.*Done/ }).click();
  await page.getByText(/"text": "A quince\."/).waitFor();
});
