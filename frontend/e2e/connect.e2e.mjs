import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon, violations } from "./helper.mjs";

let daemon;
let page;
let api;
let base;
const seen = [];

before(async () => {
  api = createServer((req, res) => {
    let body = "";
    req.on("data", (d) => {
      body += d;
    });
    req.on("end", () => {
      seen.push({ method: req.method, url: req.url, auth: req.headers.authorization, body });
      res.setHeader("Content-Type", "application/json");
      res.end(JSON.stringify({ items: [{ name: "Ada" }, { name: "Bob" }], said: req.headers.authorization }));
    });
  });
  await new Promise((done) => api.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${api.address().port}`;
  daemon = await startDaemon({ prepare: (home) => mkdirSync(join(home, "project")) });
  page = await openPage(daemon.url, { width: 1440, height: 900 });
  await page.getByRole("button", { name: "Add the demo server" }).click();
  await page.getByText(/1 server connected/).waitFor();
  await page.keyboard.press("Control+e");
  await page.getByRole("tab", { name: /Custom Tools/ }).click();
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
  await new Promise((done) => api.close(done));
});

const form = () => page.getByRole("form", { name: /ustom tool/ });
const file = () => JSON.parse(readFileSync(join(daemon.home, "tools.json"), "utf8"));

async function add(item) {
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

test("a connector is declared, tried and saved; its secret is nowhere to be seen", async () => {
  await add("HTTP connector");
  await form().getByRole("heading", { name: "New HTTP connector" }).waitFor();
  await form().getByLabel("Name", { exact: true }).fill("find_people");
  await form().getByLabel("Description").fill("Finds people.");
  await form().getByLabel("URL").fill(`${base}/teams/{{team}}/people`);
  await form().getByRole("button", { name: "Add parameter" }).click();
  await form().getByLabel("Name of parameter 1").fill("q");
  await form().getByLabel("Value of parameter 1").fill("{{q}}");
  await form().getByLabel("How to sign in").selectOption("bearer");
  await form().getByLabel("Value", { exact: true }).fill("hush-hush-token");
  await form().getByRole("button", { name: "Keep" }).click();
  await form().getByText("It has a value.").waitFor();
  assert.equal(await form().getByLabel("Value", { exact: true }).inputValue(), "");
  await form().getByLabel("Keep of the answer").fill("items.#.name");
  await form().getByRole("tab", { name: "Schema" }).click();
  await form().getByRole("textbox", { name: "Parameters as JSON Schema" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(
    '{"type":"object","properties":{"team":{"type":"string"},"q":{"type":"string"}},"required":["team"]}',
  );
  await form().getByRole("tab", { name: "Request" }).click();
  const trial = form().getByTestId("try-it");
  await form().getByLabel(/^team/).fill("a/b ü");
  await form().getByRole("button", { name: /^Run/ }).click();
  await trial.getByText('"Ada"').first().waitFor();
  assert.equal(seen.at(-1).url, "/teams/a%2Fb%20%C3%BC/people");
  assert.equal(seen.at(-1).auth, "Bearer hush-hush-token");
  assert.ok(!(await page.content()).includes("hush-hush"), "the secret is on the page");
  await shot(page, "connector-light");
  assert.deepEqual(await violations(page), []);
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "connector-dark");
  assert.deepEqual(await violations(page), []);
  await page.emulateMedia({ colorScheme: "light" });
  await form().getByRole("button", { name: "Save" }).click();
  await page
    .getByTestId("reach-news")
    .getByText(/Send the secret/)
    .waitFor();
  await page.getByRole("button", { name: "Allow and save" }).click();
  await page.getByText("find_people saved").waitFor();
  const text = readFileSync(join(daemon.home, "tools.json"), "utf8");
  assert.ok(!text.includes("hush"));
  assert.equal(file().tools[0].http.query.q, "{{q}}");
  assert.equal(file().tools[0].code, undefined);
});

test("operations of an OpenAPI document are chosen and added", async () => {
  const doc = {
    openapi: "3.0.3",
    info: { title: "Zoo", version: "1" },
    servers: [{ url: base }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    paths: {
      "/animals": {
        get: { operationId: "listAnimals", summary: "Lists animals", responses: {} },
        post: {
          operationId: "addAnimal",
          requestBody: {
            content: {
              "application/json": { schema: { type: "object", properties: { name: { type: "string" } } } },
            },
          },
          responses: {},
        },
      },
      "/animals/{id}": {
        delete: {
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
          responses: {},
        },
      },
    },
  };
  await add("Import from OpenAPI…");
  const dialog = page.getByRole("dialog", { name: "Import from OpenAPI" });
  await dialog.getByLabel("Document").fill("no document");
  await dialog.getByRole("button", { name: "Read" }).click();
  await dialog.getByText("The document cannot be used.").waitFor();
  writeFileSync(join(daemon.home, "zoo.json"), JSON.stringify(doc));
  await dialog.getByLabel("OpenAPI file").setInputFiles(join(daemon.home, "zoo.json"));
  await dialog.getByRole("checkbox", { name: /listAnimals/ }).check();
  await dialog.getByLabel("Filter operations").fill("delete");
  await dialog.getByRole("checkbox", { name: "All shown" }).check();
  await dialog.getByLabel("Filter operations").fill("");
  await dialog.getByLabel("zoo/key").waitFor();
  await shot(page, "openapi-light");
  assert.deepEqual(await violations(page), []);
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "openapi-dark");
  assert.deepEqual(await violations(page), []);
  await page.emulateMedia({ colorScheme: "light" });
  await dialog.getByRole("button", { name: "Add 2 tools" }).click();
  await page.getByText("2 tools added").waitFor();
  assert.deepEqual(
    file().tools.map((t) => t.name),
    ["find_people", "listAnimals", "delete_animals_id"],
  );
});

test("a built-in tool says what it needs, and works in the folder that was chosen", async () => {
  const run = async () => page.getByRole("button", { name: /^Run/ }).click();
  await page.getByRole("list", { name: "Built-in" }).getByText("list_files").click();
  const tool = page.getByRole("article", { name: "Built-in tool list_files" });
  await run();
  await tool
    .getByText(/No folder was chosen/)
    .first()
    .waitFor();
  await shot(page, "builtin-light");
  assert.deepEqual(await violations(page), []);
  const other = await openPage(daemon.url);
  await other.evaluate(() => {
    location.hash = "#/settings/tools";
  });
  await other.getByLabel("Folder to add").fill("nowhere");
  await other.getByLabel("Folder to add").press("Enter");
  await other.getByText("The folders were not changed.").waitFor();
  writeFileSync(join(daemon.home, "project", "hello.txt"), "hi");
  await other.getByLabel("Folder to add").fill(join(daemon.home, "project"));
  await other.getByLabel("Folder to add").press("Enter");
  await other.getByLabel(/What tools may do in/).waitFor();
  await shot(other, "builtin-folders-light");
  assert.deepEqual(await violations(other), []);
  await other.close();
  await run();
  await tool
    .getByText(/hello\.txt/)
    .first()
    .waitFor();
});
