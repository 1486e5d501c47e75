// A thousand tools: scrolling and searching must not drop frames. The machine may be busy, so what is counted
// is held against a bare list of a thousand rows in the same page, which does next to nothing.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage, shot, startDaemon } from "./helper.mjs";

const count = 1000;
const server = `
import { createInterface } from "node:readline";
const tools = Array.from({ length: ${count} }, (_, i) => ({
  name: "tool_" + i,
  title: "Tool number " + i,
  description: "Does the thing number " + i + " to an item of the list.\\\\nAnd says what came of it, in one line or two.",
  inputSchema: {
    type: "object",
    properties: { id: { type: "string", description: "Which item" }, kind: { enum: ["a", "b", "c"] }, deep: { type: "object", properties: { n: { type: "integer" } } } },
    required: ["id"],
  },
  annotations: { readOnlyHint: i % 3 === 0, destructiveHint: i % 5 === 0, idempotentHint: i % 2 === 0 },
}));
createInterface({ input: process.stdin }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.id === undefined) return;
  const result =
    m.method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }
      : m.method === "tools/list" ? { tools } : m.method === "ping" ? {} : undefined;
  const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: m.id, ...answer }) + "\\n");
});
`;

let daemon;
let page;
before(async () => {
  daemon = await startDaemon({
    prepare: (home) => {
      writeFileSync(join(home, "box.mjs"), server);
      writeFileSync(
        join(home, "tools.json"),
        JSON.stringify({
          mcpServers: [{ name: "box", command: process.execPath, args: [join(home, "box.mjs")] }],
        }),
      );
    },
  });
  page = await openPage(daemon.url, { width: 1280, height: 800 });
  await page.getByRole("button", { name: /^box: Connected/ }).click();
  await page.getByRole("button", { name: /^tool_0/ }).waitFor();
  // A list that only moves a few rows about: what the browser and the machine cost by themselves.
  await page.evaluate((n) => {
    const box = document.createElement("div");
    box.id = "bare";
    box.style.cssText =
      "position:fixed;inset:100px 200px;overflow-y:auto;z-index:99;background:white;display:none";
    const inner = document.createElement("div");
    inner.style.cssText = `position:relative;height:${n * 56}px`;
    const rows = Array.from({ length: 20 }, () => {
      const row = document.createElement("div");
      row.style.cssText = "position:absolute;left:0;right:0;height:50px";
      inner.append(row);
      return row;
    });
    const draw = () => {
      const first = Math.floor(box.scrollTop / 56);
      rows.forEach((row, i) => {
        row.style.transform = `translateY(${(first + i) * 56}px)`;
        row.textContent = `row ${first + i}`;
      });
    };
    box.addEventListener("scroll", draw);
    draw();
    box.append(inner);
    document.body.append(box);
  }, count);
});
after(async () => {
  await closeBrowser();
  await daemon?.stop();
});

/** Runs work while the page counts its frames and its long tasks. */
async function watch(work) {
  await page.evaluate(() => {
    const seen = { frames: 0, late: 0, worst: 0, long: [] };
    globalThis.frames = seen;
    const observer = new PerformanceObserver((l) => {
      for (const e of l.getEntries()) seen.long.push(Math.round(e.duration));
    });
    observer.observe({ type: "longtask" });
    let last = performance.now();
    let going = true;
    const tick = (now) => {
      const gap = now - last;
      last = now;
      seen.frames++;
      if (gap > 34) seen.late++;
      seen.worst = Math.max(seen.worst, Math.round(gap));
      if (going) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    globalThis.unwatch = () => {
      going = false;
      for (const e of observer.takeRecords()) seen.long.push(Math.round(e.duration));
      observer.disconnect();
      return seen;
    };
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  const script = async () => {
    const { metrics } = await cdp.send("Performance.getMetrics");
    const of = (name) => metrics.find((m) => m.name === name)?.value ?? 0;
    return { script: of("ScriptDuration"), layout: of("LayoutDuration") + of("RecalcStyleDuration") };
  };
  const began = await script();
  await work();
  const ended = await script();
  await cdp.detach();
  const seen = await page.evaluate(() => globalThis.unwatch());
  return {
    ...seen,
    scriptMs: Math.round((ended.script - began.script) * 1000),
    layoutMs: Math.round((ended.layout - began.layout) * 1000),
  };
}

async function wheel() {
  const until = Date.now() + 3000;
  let turns = 0;
  for (let i = 0; Date.now() < until; i++, turns++) {
    await page.mouse.wheel(0, i % 40 < 30 ? 240 : -400);
    await page.waitForTimeout(16);
  }
  return turns;
}

const line = (what, r) =>
  `${what}: ${r.frames} frames, ${r.late} later than 34 ms, worst ${r.worst} ms, long tasks [${r.long}], script ${r.scriptMs} ms, layout ${r.layoutMs} ms`;

test("scrolling a thousand tools, beside a bare list", { timeout: 60_000 }, async (t) => {
  const bare = page.locator("#bare");
  await bare.evaluate((el) => {
    el.style.display = "block";
  });
  await page.mouse.move(640, 450);
  const floor = await watch(wheel);
  await bare.evaluate((el) => {
    el.style.display = "none";
  });
  const box = await page.locator("ul[aria-label=Tools]").locator("..").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const ours = await watch(wheel);
  t.diagnostic(line("bare list", floor));
  t.diagnostic(line("tools", ours));
  // Frames that come late are the machine's as much as ours; what our script takes of each is ours alone.
  const each = ours.scriptMs / ours.frames;
  assert.ok(each < 16, `${each.toFixed(1)} ms of script a frame leave no time to paint it`);
  assert.notEqual(await page.locator("[data-tool]").first().getAttribute("data-tool"), "tool_0");
  await shot(page, "thousand-tools");
});

test("searching a thousand tools, letter by letter", { timeout: 60_000 }, async (t) => {
  const search = page.getByRole("searchbox", { name: "Search tools" });
  await search.focus();
  const ours = await watch(async () => {
    for (const key of "number 99") {
      await page.keyboard.press(key);
      await page.waitForTimeout(60);
    }
    for (let i = 0; i < 9; i++) {
      await page.keyboard.press("Backspace");
      await page.waitForTimeout(60);
    }
  });
  t.diagnostic(line("search", ours));
  const each = ours.scriptMs / 18;
  assert.ok(each < 50, `${each.toFixed(1)} ms of script a stroke can be felt`);
  assert.equal(await search.inputValue(), "");
});
