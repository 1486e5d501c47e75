import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

const value = "s3cret-of-the-box-0815";
let daemon;
before(async () => {
  daemon = await startDaemon({
    prepare: (home) =>
      writeFileSync(
        join(home, "tools.json"),
        JSON.stringify({
          mcpServers: [
            {
              name: "box",
              command: process.execPath,
              args: ["-e", "process.stdin.resume()"],
              env: { KEY: "${secret:box/KEY}" },
            },
          ],
        }),
      ),
  });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

test("a missing secret is entered, replaced and removed, and never seen", async () => {
  const page = await openPage(daemon.url);
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("navigation", { name: "Settings" }).getByRole("button", { name: "Secrets" }).click();
  const list = page.getByTestId("secrets");
  await list.getByText("no value").waitFor();
  assert.deepEqual(await violations(page), []);
  await list.getByRole("button", { name: "Enter value of box/KEY" }).click();
  await page.keyboard.insertText(value); // the field has the focus
  assert.deepEqual(await violations(page), [], "editor");
  await shot(page, "secrets");
  await page.keyboard.press("Enter");
  await list.getByText("no value").waitFor({ state: "hidden" });

  const seen = () =>
    page.evaluate(() => [
      document.documentElement.outerHTML,
      ...[...document.querySelectorAll("input")].map((i) => i.value),
      JSON.stringify({ ...localStorage, ...sessionStorage }),
    ]);
  assert.ok(!(await seen()).join().includes(value), "the value is still in the page");
  for (const f of readdirSync(daemon.home, { recursive: true }).map((f) => join(daemon.home, String(f))))
    if (statSync(f).isFile()) assert.ok(!readFileSync(f).includes(value), `${f} holds the value in clear`);

  // A second one that nothing uses.
  await list.getByRole("button", { name: "Add secret" }).click();
  await list.getByLabel("Name", { exact: true }).fill("provider/x");
  await list.getByLabel("Value", { exact: true }).fill("x");
  await list.getByRole("button", { name: "Add secret" }).click();
  await list.getByText("Keys of providers are kept under Models.", { exact: false }).waitFor();
  await list.getByLabel("Name", { exact: true }).fill("alone");
  await list.getByRole("button", { name: "Add secret" }).click();
  await list.locator("[data-secret=alone]").getByText("not used").waitFor();
  await shot(page, "secrets-two");

  await list.getByRole("button", { name: "Remove box/KEY" }).click();
  const confirm = page.getByRole("dialog");
  await confirm.getByText("The server box will not work any more without it.", { exact: false }).waitFor();
  await page.keyboard.press("Escape");
  await confirm.waitFor({ state: "hidden" });
  await list.getByRole("button", { name: "Remove alone" }).click();
  await confirm.getByRole("button", { name: "Remove for good" }).click();
  await list.locator("[data-secret=alone]").waitFor({ state: "hidden" });
  assert.equal(await list.locator("[data-secret]").count(), 1);
  assert.deepEqual(
    page.faults.filter((f) => !f.includes("400")),
    [],
  );
});
