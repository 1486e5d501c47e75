import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

let daemon;
let page;
before(async () => {
  daemon = await startDaemon();
  page = await openPage(daemon.url, { width: 1440, height: 900 });
  await page.getByRole("button", { name: "Add the demo server" }).click();
  await page.getByText(/1 server connected/).waitFor();
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

const form = () => page.getByRole("form", { name: /ustom tool/ });
const code = () => form().getByRole("textbox", { name: "Code in JavaScript" });
const save = () => form().getByRole("button", { name: "Save" });

async function write(text) {
  await code().click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

async function allow() {
  await page
    .getByRole("button", { name: /^Allow once/ })
    .first()
    .click();
}

function file() {
  return JSON.parse(readFileSync(join(daemon.home, "tools.json"), "utf8"));
}

test("a tool is written with completion, tried as it stands, and saved", async () => {
  await page.keyboard.press("Control+e");
  await page.getByRole("tab", { name: /Custom Tools/ }).click();
  await form().getByLabel("Name", { exact: true }).fill("word_count");
  await form().getByLabel("Description").fill("Counts words.");
  await code().click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("const text = args.te");
  await page.locator(".cm-tooltip-autocomplete").getByText("text").waitFor();
  // The key that takes an offer needs a moment after it appeared.
  await page.waitForTimeout(150);
  await page.keyboard.press("Enter");
  await page.keyboard.type(";");
  assert.equal(await code().innerText(), "const text = args.text;");

  await write("const words = args.text.split(/\\s+/;\nreturn words");
  await form().locator("#code-problem").waitFor();
  assert.ok(await save().isDisabled(), "code with a syntax error can be saved");

  await write(
    'const words = args.text.split(/\\s+/).filter(Boolean);\nconsole.log("counting", words.length);\nprogress(1, 2, "halfway");\nawait new Promise((r) => setTimeout(r, 200));\nreturn { words: words.length };',
  );
  await form().locator("#code-problem").waitFor({ state: "detached" });
  await form().getByLabel(/^text/).fill("one two three");
  await code().click();
  await page.keyboard.press("Control+Enter");
  await allow();
  const trial = form().getByTestId("try-it");
  await trial.getByText("counting 3").waitFor();
  await trial.getByTestId("outcome").getByText("Done").first().waitFor();
  await trial.getByText('"words": 3').first().waitFor();
  assert.equal(file().tools?.length ?? 0, 0, "trying saved the tool");

  await code().press("Control+s");
  await page.getByText("word_count saved").waitFor();
  assert.equal(file().tools[0].name, "word_count");
  await shot(page, "custom-tool-light");
});

test("what a tool may newly reach is asked before it is saved", async () => {
  await form()
    .getByRole("tab", { name: /^Access/ })
    .click();
  await form().getByLabel("Hosts").fill("api.example.com");
  await form().getByLabel("Folders to read", { exact: true }).fill("~/notes");
  await save().click();
  const news = page.getByTestId("reach-news");
  await news.getByText("Connect to api.example.com").waitFor();
  await news.getByText("Read files in ~/notes").waitFor();
  assert.equal(file().tools[0].hosts, undefined, "it was saved before the answer");
  await page.getByRole("button", { name: "Allow and save" }).click();
  await form().getByRole("button", { name: "Revert" }).and(page.locator(":disabled")).waitFor();
  assert.deepEqual(file().tools[0].hosts, ["api.example.com"]);
});

test("an exception and a limit are told with their place", async () => {
  await form().getByRole("tab", { name: "Code" }).click();
  await write('const a = 1;\nthrow new Error("on purpose");');
  await code().press("Control+Enter");
  await allow();
  const outcome = form().getByTestId("outcome");
  await outcome
    .getByText(/Error: on purpose \(line 2, column \d+\)/)
    .first()
    .waitFor();
  await form().getByLabel("Time limit, seconds").fill("0.2");
  await write("for (;;) {}");
  await code().press("Control+Enter");
  await allow();
  await outcome
    .getByText(/ran longer than its limit of 200ms/)
    .first()
    .waitFor();
});

test("a call of other tools is in the audit under its parent", async () => {
  await form().getByRole("button", { name: "Revert" }).click();
  await write(
    'const [a, b] = await Promise.all([tools.call("demo__list_notes"), tools.call("demo__current_time")]);\nreturn [a.isError, b.isError];',
  );
  await code().press("Control+Enter");
  await allow();
  await form().getByTestId("outcome").getByText("Done").first().waitFor();
  await save().click();
  await page.getByText("word_count saved").last().waitFor();
  const other = await openPage(daemon.url);
  await other.getByText(/1 server connected/).waitFor();
  await other.evaluate(() => {
    location.hash = "#/audit";
  });
  const rows = other.getByRole("row");
  await rows.filter({ hasText: "list_notes" }).getByRole("img", { name: "Called by a tool:" }).waitFor();
  await rows.filter({ hasText: "current_time" }).first().click();
  await other
    .getByRole("button", { name: /record \d+/ })
    .last()
    .waitFor();
  await other.close();
});

test("an older version is compared and restored", async () => {
  await form().getByRole("tab", { name: "Versions" }).click();
  const diff = form().getByRole("region", { name: "Differences in the code" });
  await diff.getByText("counting").first().waitFor();
  await diff.getByText("demo__list_notes").first().waitFor();
  await shot(page, "custom-versions-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "custom-versions-dark");
  await form().getByRole("button", { name: "Restore this version" }).click();
  await page.getByText("word_count is as it was before").waitFor();
  assert.match(file().tools[0].code, /counting/);
  await form().getByRole("tab", { name: "Code" }).click();
  await code().getByText("counting").waitFor();
  await form()
    .getByRole("tab", { name: /^Access/ })
    .click();
  await shot(page, "custom-access-dark");
  await form().getByRole("tab", { name: "Code" }).click();
  await shot(page, "custom-tool-dark");
  assert.deepEqual(await violations(page), []);
});

test("a run is kept as a test, which notices when the result changes", async () => {
  await form().getByLabel(/^text/).fill("four words are here");
  await code().click();
  await page.keyboard.press("Control+Enter");
  await allow();
  await form().getByTestId("outcome").getByText('"words": 4').first().waitFor();
  await form().getByRole("tab", { name: "Tests" }).click();
  const tests = form().getByTestId("custom-tests");
  await tests.getByLabel("Name of the test").fill("four words");
  await page.keyboard.press("Enter");
  await tests.getByText("four words are here").waitFor();
  await tests.getByRole("button", { name: "Run 1 test" }).click();
  await allow();
  await tests.getByText("As expected").waitFor();
  assert.deepEqual(await violations(page), []);

  await form().getByRole("tab", { name: "Code" }).click();
  await write("return { words: args.text.length };");
  await form().getByRole("tab", { name: "Tests" }).click();
  await tests.getByRole("button", { name: "Run 1 test" }).click();
  await allow();
  await tests.getByText("Another result").waitFor();
  await tests
    .getByRole("region", { name: /What four words should give/ })
    .getByText("19")
    .waitFor();
  await shot(page, "custom-tests-dark");
  await tests.getByRole("button", { name: "Remove the test four words" }).click();
  await tests.getByText("No tests yet").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await tests.getByText("four words", { exact: true }).waitFor();
  await form().getByRole("button", { name: "Revert" }).click();
});

test("a tool is duplicated, switched off, removed and taken back", async () => {
  await form().getByRole("button", { name: "Duplicate" }).click();
  assert.equal(await form().getByLabel("Name", { exact: true }).inputValue(), "word_count_copy");
  await save().click();
  await page.getByRole("button", { name: "Allow and save" }).click();
  await page.getByText("word_count_copy saved").waitFor();
  await page.getByRole("switch", { name: "word_count_copy on" }).click();
  await page.getByRole("list", { name: "Custom tools" }).getByText("Off").waitFor();
  await form().getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("list", { name: "Custom tools" }).getByText("word_count_copy").waitFor();
  assert.equal(file().tools.length, 2);
  assert.deepEqual(page.faults, []);
});
