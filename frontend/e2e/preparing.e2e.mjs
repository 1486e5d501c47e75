// What a model writes of a call's arguments is on the screen while it writes.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, rpc, shot, startDaemon, violations } from "./helper.mjs";

let daemon;
let model;
let goOn;
before(async () => {
  model = createServer((req, res) => {
    if (req.url === "/v1/models") {
      res.setHeader("Content-Type", "application/json");
      return res.end(JSON.stringify({ object: "list", data: [{ id: "slow-writer", object: "model" }] }));
    }
    let body = "";
    req.on("data", (d) => {
      body += d;
    });
    req.on("end", async () => {
      res.setHeader("Content-Type", "text/event-stream");
      const chunk = (delta, finish = null) =>
        res.write(
          `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "slow-writer", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        );
      const asked = JSON.parse(body);
      if (asked.messages.at(-1).role !== "user" || !asked.tools) {
        chunk({ role: "assistant", content: "It is upper now." });
        chunk({}, "stop");
      } else {
        const args = (index, text, more = {}) =>
          chunk({ tool_calls: [{ index, ...more, function: { arguments: text, ...more.function } }] });
        args(0, "", { id: "c1", type: "function", function: { name: "demo__transform_text" } });
        args(0, '{"text":"a long letter');
        await new Promise((done) => {
          goOn = done;
        });
        args(0, ' to nobody","operation":"upper"}');
        chunk({}, "tool_calls");
      }
      res.end("data: [DONE]\n\n");
    });
  });
  await new Promise((done) => model.listen(0, "127.0.0.1", done));
  daemon = await startDaemon();
  await rpc(daemon, "mcp:addDemoServer");
});
after(async () => {
  goOn?.();
  await closeBrowser();
  await daemon?.stop();
  model?.closeAllConnections();
  model?.close();
});

test("the card says what is written, and becomes the call", async () => {
  const page = await openPage(daemon.url);
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Add provider" }).click();
  await page.getByRole("menuitem", { name: /OpenAI-compatible/ }).click();
  const form = page.getByRole("form", { name: /New provider/ });
  await form.getByLabel("Name").fill("Slow writer");
  await form.getByLabel("Base URL").fill(`http://127.0.0.1:${model.address().port}/v1`);
  await form.getByLabel("Key").fill("sk-none-0123456789");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("form", { name: "Settings of Slow writer" }).waitFor();
  const { providers } = await rpc(daemon, "models:getProviders");
  const own = providers.find((p) => p.name === "Slow writer");
  await rpc(daemon, "settings:update", {
    theme: "system",
    defaultProviderId: own.id,
    defaultModel: "slow-writer",
  });
  await page.getByRole("button", { name: "New chat" }).click();
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("write it large");
  await composer.press("Enter");
  const card = page.getByRole("group", { name: "transform_text: Preparing" });
  await card.getByText("Writing arguments…").waitFor();
  await card.getByText('{"text":"a long letter').waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, "card-preparing");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 900, height: 600 });
  await shot(page, "card-preparing-900-dark");
  goOn();
  await page.getByRole("group", { name: "transform_text: Done" }).waitFor();
  await page.getByText("It is upper now.").waitFor();
  assert.equal(await card.count(), 0);
  assert.deepEqual(page.faults, []);
});
