import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

let daemon;
before(async () => {
  daemon = await startDaemon({
    prepare: (home) => {
      // The files of other programs are looked for below the person's home folder.
      process.env.HOME_BEFORE = process.env.HOME;
      process.env.HOME = home;
      mkdirSync(join(home, ".cursor"));
      writeFileSync(
        join(home, ".cursor", "mcp.json"),
        JSON.stringify({
          mcpServers: {
            first: { command: "node", args: ["--token", "t0ken-of-cursor"], disabled: true },
            second: { url: "https://mcp.example.com/mcp", disabled: true },
          },
        }),
      );
    },
  });
  process.env.HOME = process.env.HOME_BEFORE;
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

async function openAdd(page) {
  await page.getByTestId("tools-button").click();
  await page.getByTestId("tools-dialog").waitFor();
  const add = page.getByTestId("tools-dialog").getByRole("button", { name: "Add", exact: true });
  if (await add.isVisible()) await add.click();
  await page.getByTestId("add-servers").waitFor();
}

const config = () => {
  const file = readdirSync(daemon.home, { recursive: true }).find((f) => String(f).endsWith("tools.json"));
  return file ? readFileSync(join(daemon.home, String(file)), "utf8") : "";
};

async function noViolations(page, where) {
  assert.deepEqual(await violations(page), [], where);
}

test("paste, review, connect with the keyboard: a secret moves, a loader is asked for", async () => {
  const page = await openPage(daemon.url);
  await openAdd(page);
  await page.keyboard.insertText(
    JSON.stringify({
      mcpServers: {
        careful: {
          command: "node",
          args: ["--version"],
          env: { API_KEY: "k3y-0123456789abcdef", NODE_OPTIONS: "--require /tmp/x.js" },
          disabled: true,
        },
        unwanted: { command: "node", args: ["-v"], disabled: true },
      },
    }),
  );
  await page.getByTestId("found-row").nth(1).waitFor();
  await noViolations(page, "paste");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "Review 2 servers" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Review 2 servers");
  const status = page.getByTestId("add-status");
  await status.getByText("Agree to NODE_OPTIONS").waitFor();
  const go = page.getByRole("button", { name: /^Save & connect/ });
  assert.ok(await go.isDisabled(), "what loads other code can be saved without a word");
  await noViolations(page, "review");

  const tabTo = async (match) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const name = await page.evaluate(() => {
        const el = document.activeElement;
        return el?.getAttribute("aria-label") ?? el?.closest("label")?.textContent ?? el?.textContent ?? "";
      });
      if (match.test(name)) return;
    }
    assert.fail(`${match} cannot be reached with Tab`);
  };
  await tabTo(/NODE_OPTIONS makes the program load/);
  await page.keyboard.press("Space");
  await tabTo(/^Add unwanted$/);
  await page.keyboard.press("Space");
  assert.ok(!config().includes("careful"), "something was saved by reviewing");
  await page.waitForFunction(() =>
    [...document.querySelectorAll("button")].some((b) => b.textContent === "Save & connect" && !b.disabled),
  );
  await tabTo(/^Save & connect$/);
  await page.keyboard.press("Enter");
  await status.getByText("1 added, 1 skipped").waitFor();
  await noViolations(page, "connect");
  await tabTo(/^Done$/);
  await page.keyboard.press("Enter");
  await page.getByTestId("server-details").waitFor();

  assert.match(config(), /\$\{secret:careful\/API_KEY\}/);
  assert.ok(!config().includes("k3y-0123456789abcdef"), "the secret is in tools.json");
  assert.ok(!config().includes("unwanted"), "a skipped server was saved");
  const seen = await page.evaluate(() => document.documentElement.outerHTML);
  assert.ok(!seen.includes("k3y-0123456789abcdef"), "the secret is still in the page");
  assert.deepEqual(page.faults, []);
});

test("servers of other apps come with their secrets, which the page never sees", async () => {
  const page = await openPage(daemon.url);
  await openAdd(page);
  await page.getByRole("button", { name: "From other apps" }).click();
  const found = page.getByTestId("found-configs");
  await found.getByText("Found 2 servers in 1 file").waitFor();
  await found.getByRole("checkbox", { name: /^second/ }).uncheck();
  await noViolations(page, "found");
  await found.getByRole("button", { name: "Review 1 server" }).click();
  await page.getByTestId("review-row").getByText("•••").first().waitFor();
  const seen = await page.evaluate(() => document.documentElement.outerHTML);
  assert.ok(!seen.includes("t0ken-of-cursor"), "the secret came into the page");
  await page.getByRole("checkbox", { name: /Move 1 secret to the keychain/ }).uncheck();
  await page.getByRole("button", { name: "Save & connect" }).click();
  await page.getByTestId("add-status").getByText("1 added").waitFor();
  assert.ok(config().includes("t0ken-of-cursor"), "the secret was lost on the way");
  await page.getByRole("button", { name: "Done" }).click();
  assert.deepEqual(page.faults, []);
});

/** A zip archive of a few small files. */
function zip(files) {
  const crc = (buf) => {
    let c = ~0;
    for (const b of buf) {
      c ^= b;
      for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    }
    return ~c >>> 0;
  };
  const local = [];
  const table = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const body = Buffer.from(text);
    const packed = deflateRawSync(body);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc(body), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(body.length, 18);
    head.writeUInt16LE(name.length, 22);
    const one = Buffer.concat([Buffer.from("PK\x03\x04"), head, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    table.push(
      Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), head, rest, Buffer.from(name)]),
    );
    local.push(one);
    at += one.length;
  }
  const toc = Buffer.concat(table);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(table.length, 4);
  end.writeUInt16LE(table.length, 6);
  end.writeUInt32LE(toc.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...local, toc, Buffer.from("PK\x05\x06"), end]);
}

const server = `
import { createInterface } from "node:readline";
const tools = ["read_note", "write_note"].map((name) => ({
  name, description: name, inputSchema: { type: "object" }, annotations: { readOnlyHint: name === "read_note" },
}));
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: process.env.NOTES_KEY, version: "1" } }
      : m.method === "tools/list" ? { tools } : m.method === "ping" ? {} : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
});
`;

test(
  "a bundle is chosen as a file, asks for its values, and is unpacked by saving",
  { timeout: 60_000 },
  async () => {
    const page = await openPage(daemon.url);
    await openAdd(page);
    const buffer = zip({
      "manifest.json": JSON.stringify({
        manifest_version: "0.2",
        name: "notes",
        server: {
          type: "node",
          entry_point: "index.mjs",
          mcp_config: {
            command: "node",
            args: ["${__dirname}/index.mjs"],
            env: { NOTES_KEY: "${user_config.key}" },
          },
        },
        user_config: {
          key: { type: "string", title: "Key of your notes", description: "Any word.", required: true },
        },
      }),
      "index.mjs": server,
    });
    await page.getByTestId("file-chooser").setInputFiles({ name: "notes.mcpb", mimeType: "", buffer });
    const row = page.getByTestId("review-row");
    await row.getByLabel("Key of your notes").waitFor();
    await page.getByTestId("add-status").getByText("Fill in Key of your notes.").waitFor();
    const folders = () =>
      readdirSync(daemon.home, { recursive: true }).filter((f) => /notes-/.test(String(f)));
    assert.deepEqual(folders(), [], "the bundle was unpacked before it was wanted");
    await row.getByLabel("Key of your notes").fill("opensesame");
    await page.getByRole("button", { name: "Save & connect" }).click();
    await page.getByTestId("add-status").getByText("1 added, 1 connected").waitFor({ timeout: 30_000 });
    await page.getByRole("button", { name: "Done" }).click();
    assert.notDeepEqual(folders(), []);

    // One tool off, all off, and back.
    const details = page.getByTestId("server-details");
    await details.getByRole("switch", { name: "write_note on" }).click();
    await details.getByText(/1 tool, about \d+ tokens, 1 off/).waitFor();
    assert.match(config(), /"disabledTools":\s*\[\s*"write_note"\s*\]/);
    await details.getByRole("button", { name: "Turn all off" }).click();
    await details.getByText("Every tool here is off").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await details.getByText(/1 tool, about \d+ tokens, 1 off/).waitFor();
    await page.getByTestId("meter").waitFor();
    await noViolations(page, "tools");
    await shot(page, "tools-switched");

    // Export without the value.
    await page.getByRole("button", { name: "More for notes" }).click();
    await page.getByRole("menuitem", { name: "Export to…" }).click();
    const dialog = page.getByTestId("export-dialog");
    await dialog.getByText("mcpServers").waitFor();
    await dialog.getByRole("combobox", { name: "For" }).selectOption("codex");
    await dialog.getByText("[mcp_servers.notes]").waitFor();
    assert.ok(!(await dialog.innerText()).includes("opensesame"), "a secret is exported");
    await noViolations(page, "export");
    await page.keyboard.press("Escape");
    assert.deepEqual(page.faults, []);
  },
);

test("a file or an address that is dropped on the window does not take its place", async () => {
  const page = await openPage(daemon.url);
  const dir = mkdtempSync(join(tmpdir(), "patchbay-drop-"));
  const path = join(dir, "servers.json");
  writeFileSync(path, '{"mcpServers":{"dropped":{"command":"npx","args":["-y","from-a-file"]}}}');
  const cdp = await page.context().newCDPSession(page);
  const drop = async (data) => {
    for (const type of ["dragEnter", "dragOver", "drop"])
      await cdp.send("Input.dispatchDragEvent", {
        type,
        x: 700,
        y: 300,
        data: { dragOperationsMask: 1, ...data },
      });
  };
  const address = page.url();
  await drop({ items: [{ mimeType: "text/uri-list", data: "http://127.0.0.1:9/elsewhere" }] });
  await drop({ items: [], files: [path] });
  await page.getByTestId("found-row").getByText("dropped").waitFor();
  assert.equal(new URL(page.url()).origin, new URL(address).origin);
  await page.getByRole("button", { name: "Discard" }).click();
  assert.deepEqual(page.faults, []);
  rmSync(dir, { recursive: true });
});

test("a dropped file is read, and a hostile bundle is refused with a reason", async () => {
  const page = await openPage(daemon.url);
  await openAdd(page);
  await page.getByTestId("file-chooser").setInputFiles({
    name: "bad.mcpb",
    mimeType: "",
    buffer: zip({ "manifest.json": "{}", "../evil.js": "1" }),
  });
  await page
    .getByRole("alert")
    .getByText(/points outside the bundle/)
    .first()
    .waitFor();
  await page.getByTestId("add-servers").evaluate((el) => {
    const data = new DataTransfer();
    data.items.add(new File(["[mcp_servers.dropped]\ncommand = 'uvx'\n"], "config.toml"));
    el.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.getByTestId("found-row").getByText("dropped").waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  // The browser itself notes the refusal.
  assert.deepEqual(
    page.faults.filter((f) => !f.includes("400")),
    [],
  );
});
