import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, rpc, shot, startDaemon, tabTo, violations } from "./helper.mjs";

// Starts a helper of its own, which stays until it ends.
const server = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const helper = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
writeFileSync(process.argv[2], [process.pid, helper.pid].join(" "));
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }
      : m.method === "tools/list" ? { tools: [] } : m.method === "ping" ? {} : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
}).on("close", () => helper.kill());
`;

let daemon;
before(async () => {
  daemon = await startDaemon({
    prepare: (home) => {
      writeFileSync(join(home, "box.mjs"), server);
      const box = {
        command: process.execPath,
        args: [join(home, "box.mjs"), join(home, "pids"), "--key", "${secret:box/KEY}"],
      };
      writeFileSync(
        join(home, "tools.json"),
        JSON.stringify({
          mcpServers: [
            { name: "box", ...box },
            { name: "far", url: "http://127.0.0.1:1/mcp" },
          ],
        }),
      );
    },
  });
  await rpc(daemon, "secrets:save", { name: "box/KEY", value: "hush-hush-token" });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

async function view(page, name) {
  await page.getByRole("button", { name: `More for ${name}` }).focus();
  await page.keyboard.press("Enter");
  const item = page.getByRole("menuitem", { name: "View processes" });
  await item.waitFor();
  for (let i = 0; i < 8 && !(await item.evaluate((el) => el === document.activeElement)); i++)
    await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  return page.getByRole("dialog", { name: `Processes of ${name}` });
}

for (const [width, height, dark] of [
  [960, 640, false],
  [1600, 1000, true],
]) {
  test(`the whole tree is shown and follows what happens, at ${width}`, async () => {
    const page = await openPage(`${daemon.url}`, { width, height, dark });
    await page.getByRole("button", { name: /^box: Connected/ }).click();
    const pids = () => readFileSync(join(daemon.home, "pids"), "utf8").split(" ");
    const dialog = await view(page, "box");
    const first = pids();
    for (const pid of first) await dialog.getByRole("cell", { name: pid, exact: true }).waitFor();
    await dialog.getByText("--key •••").waitFor();
    assert.equal(await dialog.getByRole("row").count(), 3);
    assert.ok(!(await page.content()).includes("hush-hush"));
    assert.deepEqual(await violations(page), []);
    await shot(page, `processes-${width}${dark ? "-dark" : ""}`);
    await rpc(daemon, "mcp:reconnectServer", { name: "box" });
    for (const pid of first)
      await dialog.getByRole("cell", { name: pid, exact: true }).waitFor({ state: "detached" });
    for (let i = 0; i < 100 && pids()[0] === first[0]; i++) await page.waitForTimeout(50);
    for (const pid of pids()) await dialog.getByRole("cell", { name: pid, exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await tabTo(page, /^box on$/);

    await page.getByRole("list", { name: "Servers" }).locator("[data-server=far] [data-open]").click();
    const far = await view(page, "far");
    await far.getByText("Runs elsewhere: http://127.0.0.1:1/mcp").waitFor();
    await shot(page, `processes-far-${width}${dark ? "-dark" : ""}`);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  });
}
