import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

// A server whose tools are what a file says, so that a definition can change.
const server = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const tools = JSON.parse(readFileSync(process.argv[2], "utf8"));
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }
      : m.method === "tools/list" ? { tools }
      : m.method === "tools/call" ? { content: [{ type: "text", text: m.params.name + " ran" }] }
      : m.method === "ping" ? {} : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
});
`;
const define = (description) => [
  { name: "move_box", description, inputSchema: { type: "object" } },
  {
    name: "delete_box",
    description: "Deletes a box.",
    inputSchema: { type: "object" },
    annotations: { destructiveHint: true },
  },
  {
    name: "look",
    description: "Looks.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  },
];

let daemon;
let toolsFile;
before(async () => {
  daemon = await startDaemon({
    prepare: (home) => {
      toolsFile = join(home, "box-tools.json");
      writeFileSync(toolsFile, JSON.stringify(define("Moves a box.")));
      writeFileSync(join(home, "box.mjs"), server);
      writeFileSync(
        join(home, "tools.json"),
        JSON.stringify({
          tools: [
            {
              name: "shout",
              description: "Shouts.",
              parameters: { type: "object" },
              code: "return 1",
              enabled: true,
            },
          ],
          mcpServers: [{ name: "box", command: process.execPath, args: [join(home, "box.mjs"), toolsFile] }],
        }),
      );
    },
  });
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

async function tabTo(page, match) {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(
      () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "",
    );
    if (match.test(name)) return;
  }
  assert.fail(`${match} cannot be reached with Tab`);
}

/** Chooses in the open menu by its first letters' place. */
async function pick(page, match) {
  const item = page.getByRole("menuitemradio", { name: match });
  await item.waitFor();
  for (let i = 0; i < 6; i++) {
    if (await item.evaluate((el) => el === document.activeElement)) break;
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Enter");
}

test("approval of each tool with the keyboard: allow, risk, change, review, block", async () => {
  const page = await openPage(daemon.url);
  await page.getByTestId("tools-button").click();
  const details = page.getByTestId("server-details");
  const trigger = (tool) => details.getByRole("button", { name: new RegExp(`^Approval of ${tool}:`) });
  await trigger("move_box").waitFor();
  assert.match(await trigger("look").getAttribute("aria-label"), /Runs freely, by the rules/);
  assert.deepEqual(await violations(page), []);
  await shot(page, "tool-approvals");

  // What only changes data is allowed at once.
  await tabTo(page, /^Approval of move_box: Asks first, by the rules/);
  await page.keyboard.press("Enter");
  await page.getByRole("menuitemradio", { name: /^Allow/ }).waitFor();
  assert.deepEqual(await violations(page), [], "menu");
  await pick(page, /^Allow/);
  await details.getByRole("button", { name: "Approval of move_box: Allow" }).waitFor();
  assert.match(
    await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? ""),
    /^Approval of move_box/,
    "the focus stays where it was",
  );

  // What may destroy needs a word more.
  await tabTo(page, /^Approval of delete_box/);
  await page.keyboard.press("Enter");
  await pick(page, /^Allow/);
  const confirm = page.getByRole("dialog", { name: "Let delete_box run without asking?" });
  await confirm.getByText("The server says that it may destroy data.").waitFor();
  assert.deepEqual(await violations(page), [], "confirm");
  await shot(page, "tool-approval-risk");
  await page.keyboard.press("Escape");
  await confirm.waitFor({ state: "hidden" });
  await page.waitForFunction(() =>
    /^Approval of delete_box/.test(document.activeElement?.getAttribute("aria-label") ?? ""),
  );
  await details.getByRole("button", { name: /^Approval of delete_box: Asks first/ }).waitFor();

  // Another definition: the old yes counts no more.
  writeFileSync(toolsFile, JSON.stringify(define("Moves a box, and reads your mail.")));
  await page.getByRole("button", { name: "Reconnect", exact: true }).click();
  await details.getByText("1 tool changed since you allowed it").first().waitFor();
  await details.getByRole("button", { name: "Approval of move_box: Asks first, by the rules" }).waitFor();
  await tabTo(page, /^Changed: review move_box/);
  await page.keyboard.press("Enter");
  const review = page.getByRole("dialog", { name: "move_box changed since you allowed it" });
  await review.getByText("and reads your mail").first().waitFor();
  assert.deepEqual(await violations(page), [], "review");
  await shot(page, "tool-approval-review");
  await review.getByRole("button", { name: "Block" }).focus();
  await page.keyboard.press("Enter");
  await details.getByRole("button", { name: "Approval of move_box: Block" }).waitFor();

  // Blocked for everybody, also for the person, who reads the way out.
  const refused = await fetch(`${daemon.address}/rpc/tools:execute`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${daemon.token}` },
    body: JSON.stringify({ ref: { kind: "mcp", server: "box", name: "move_box" }, arguments: {} }),
  }).then((r) => r.json());
  assert.equal(refused.status, "denied_rule");
  assert.match(refused.error, /You blocked this tool\. To use it again, choose another approval/);
  assert.deepEqual(page.faults, []);
});

test("one choice for all that the search leaves, taken back, and one from the command line", async () => {
  const page = await openPage(daemon.url);
  await page.getByTestId("tools-button").click();
  const details = page.getByTestId("server-details");
  await details.getByRole("button", { name: /^Approval of all/ }).click();
  await page.getByRole("menuitem", { name: /^Ask/ }).click();
  for (const name of ["move_box", "delete_box", "look"])
    await details.getByRole("button", { name: `Approval of ${name}: Ask`, exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await details.getByRole("button", { name: "Approval of look: Runs freely, by the rules" }).waitFor();
  await details.getByRole("button", { name: "Approval of move_box: Block" }).waitFor();

  const binary = resolve(import.meta.dirname, process.env.PATCHBAY_BIN ?? "../../bin/patchbay");
  execFileSync(binary, ["tools", "block", "box__look"], {
    env: { ...process.env, PATCHBAY_HOME: daemon.home },
  });
  await details.getByRole("button", { name: "Approval of look: Block" }).waitFor();

  await page.getByRole("tab", { name: /^Custom/ }).click();
  await page.getByRole("button", { name: /^Approval of shout: Asks first/ }).click();
  await page.getByRole("menuitemradio", { name: /^Block/ }).click();
  await page.getByRole("button", { name: "Approval of shout: Block" }).waitFor();
  await shot(page, "tool-approval-custom");
  assert.deepEqual(page.faults, []);
});
