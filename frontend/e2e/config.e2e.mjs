import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
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

test("a broken tools.json is told with its place and path, and heals", async () => {
  const page = await openPage(daemon.url);
  await page.getByRole("button", { name: "Add the demo server" }).click();
  await page.getByText(/1 server connected/).waitFor();
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "About" }).click();
  const path = (await page.locator("dd").allInnerTexts()).find((t) => t.endsWith("tools.json"));
  assert.ok(path, "the path of tools.json is not shown");

  writeFileSync(path, '{\n  "mcpServers": [\n    { "name": "demo" "oops" }\n  ]\n}\n');
  const banner = page.getByTestId("config-banner").first();
  await banner
    .getByText(/line 3/)
    .first()
    .waitFor();
  await banner.getByText(path).waitFor();
  await page.getByTestId("tools-button").click();
  await page.getByTestId("tools-dialog").getByTestId("config-banner").waitFor();
  // The last good state keeps running.
  await page.locator('[data-server="demo"]').waitFor();

  writeFileSync(path, "{}\n");
  await page.getByTestId("config-banner").first().waitFor({ state: "detached" });
  assert.deepEqual(page.faults, []);
});
