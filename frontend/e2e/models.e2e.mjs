import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, startDaemon } from "./helper.mjs";

const words = "The **bold** answer comes word by word, with `code`".split(" ");
let daemon;
let model;
let base;
const asked = [];

// A model server with no more sense than the page needs: it streams slowly and tries to load a picture.
before(async () => {
  model = createServer((req, res) => {
    asked.push(req.url);
    if (req.url === "/v1/models") {
      res.setHeader("Content-Type", "application/json");
      return res.end(JSON.stringify({ object: "list", data: [{ id: "slow-writer", object: "model" }] }));
    }
    if (req.url !== "/v1/chat/completions") {
      res.statusCode = 404;
      return res.end();
    }
    res.setHeader("Content-Type", "text/event-stream");
    const chunk = (delta, finish = null) =>
      res.write(
        `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "slow-writer", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    let i = 0;
    const all = [
      ...words,
      `\n\n![seen](${base}/pixel.png) <img src="${base}/raw.png"> [a link](https://example.com)\n\nEnd.`,
    ];
    const timer = setInterval(() => {
      if (i < all.length) return chunk({ role: "assistant", content: `${all[i++]} ` });
      clearInterval(timer);
      chunk({}, "stop");
      res.write("data: [DONE]\n\n");
      res.end();
    }, 120);
    req.on("close", () => {});
    res.on("close", () => clearInterval(timer));
  });
  await new Promise((done) => model.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${model.address().port}`;
  daemon = await startDaemon();
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
  model?.closeAllConnections();
  model?.close();
});

let page;

test("a provider is added, lists its models and becomes the default; the key never comes back", async () => {
  page = await openPage(`${daemon.url}`);
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Add provider" }).click();
  await page.getByRole("menuitem", { name: /OpenAI-compatible/ }).click();
  const form = page.getByRole("form", { name: /New provider/ });
  await form.getByLabel("Name").fill("House model");
  await form.getByLabel("Base URL").fill(`${base}/v1`);
  await form.getByLabel("Key").fill("sk-very-secret-0123456789");
  await form.getByRole("button", { name: "Save" }).click();
  const settings = page.getByRole("form", { name: "Settings of House model" });
  await settings
    .getByText("1 models at this endpoint.")
    .or(settings.getByText("1 model at this endpoint."))
    .waitFor();
  await settings.getByLabel("Default model").fill("slow-writer");
  await settings.getByRole("button", { name: "Save" }).click();
  await page.getByText("key saved").waitFor();
  await page.getByRole("button", { name: /Make default.*House model/ }).click();
  const stored = await page.evaluate(
    () => document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage }),
  );
  assert.ok(!stored.includes("very-secret"), "the key is in the page");
});

test("a reply streams in, is whole and single at the end, and loads nothing from elsewhere", async () => {
  await page.getByRole("button", { name: "New chat" }).click();
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("Tell me.");
  await composer.press("Enter");
  const reply = page.getByRole("article", { name: "Reply" }).last();
  await reply.getByText("The bold").waitFor();
  const early = await reply.innerText();
  assert.ok(!early.includes("End."), "the reply came at once and not in pieces");
  await reply.getByText("End.").waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const text = (await reply.innerText()).replace(/\s+/g, " ");
  assert.equal(text.split("The bold answer comes word by word").length, 2, text);
  await reply.getByText("seen, not loaded").waitFor();
  assert.deepEqual(
    asked.filter((u) => u.endsWith(".png")),
    [],
  );
  assert.equal(await reply.locator("img").count(), 0);
  await page.reload();
  await page.getByRole("article", { name: "Reply" }).last().getByText("End.").waitFor();
});

test("Esc stops a reply and keeps what was written", async () => {
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("Again.");
  await composer.press("Enter");
  const reply = page.getByRole("article", { name: "Reply" }).last();
  await reply.getByText("The bold").waitFor();
  await composer.press("Escape");
  await page.getByText("Stopped. The reply is not complete.").waitFor();
  assert.deepEqual(page.faults, []);
});

test("a model that cannot be reached is told in words, with a way on", async () => {
  model.closeAllConnections();
  await new Promise((done) => model.close(done));
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill("Anybody?");
  await composer.press("Enter");
  await page.getByText("The model could not answer.").waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "Try again" }).waitFor();
});

test("a lost daemon is told quietly", async () => {
  await daemon.stop();
  await page.getByText("Reconnecting to Patchbay…").waitFor();
});
