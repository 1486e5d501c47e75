import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const binary = resolve(here, process.env.PATCHBAY_BIN ?? "../../bin/patchbay");
const chromiumPath =
  process.env.CHROMIUM_BIN ??
  ["/usr/bin/chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find((p) =>
    existsSync(p),
  ) ??
  "chromium";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const artifacts = resolve(here, "../../artifacts");
mkdirSync(artifacts, { recursive: true });

/** Starts the daemon with a home of its own; stop ends it and removes the home. */
export async function startDaemon({ prepare, args = [] } = {}) {
  const home = mkdtempSync(join(tmpdir(), "patchbay-e2e-"));
  if (prepare) await prepare(home);
  const child = spawn(binary, ["serve", ...args], {
    env: { ...process.env, PATCHBAY_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (d) => {
    stderr += d;
  });
  const ended = new Promise((done) => child.once("exit", done));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 8000);
      await ended;
      clearTimeout(late);
    }
    rmSync(home, { recursive: true, force: true });
  };
  try {
    const line = await new Promise((got, fail) => {
      const timer = setTimeout(() => fail(new Error(`the daemon printed nothing:\n${stderr}`)), 20_000);
      createInterface({ input: child.stdout }).once("line", (l) => {
        clearTimeout(timer);
        got(l);
      });
      child.once("exit", (code) => fail(new Error(`the daemon ended with ${code}:\n${stderr}`)));
    });
    return { ...JSON.parse(line), home, pid: child.pid, stop, stderr: () => stderr };
  } catch (err) {
    await stop();
    throw err;
  }
}

let browser;

export async function openBrowser() {
  browser ??= await chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return browser;
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/** Opens the page; every console error and page error is kept in page.faults. */
export async function openPage(url, { width = 1280, height = 800, dark = false } = {}) {
  const b = await openBrowser();
  const context = await b.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.faults = [];
  page.on("console", (m) => {
    if (m.type() === "error") page.faults.push(m.text());
  });
  page.on("pageerror", (e) => page.faults.push(String(e)));
  await page.goto(url);
  return page;
}

export async function shot(page, name) {
  await page.waitForTimeout(150);
  await page.screenshot({ path: join(artifacts, `${name}.png`) });
}

/** What breaks WCAG 2.2 AA on the page as it stands, a sentence each. */
export async function violations(page) {
  await page.evaluate(axe);
  const result = await page.evaluate(() =>
    globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    }),
  );
  return result.violations.map(
    (v) =>
      `${v.id} ${v.nodes
        .slice(0, 3)
        .map((n) => `${n.target} ${n.failureSummary?.split("\n")[1] ?? ""}`)
        .join(" | ")}`,
  );
}

/** Calls a channel beside the page. */
export async function rpc(daemon, channel, input = {}) {
  const res = await fetch(`${daemon.address}/rpc/${channel}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${daemon.token}`, "Content-Type": "application/json" },
    body: JSON.stringify(input),
  });
  if (!res.ok) throw new Error(`${channel}: ${await res.text()}`);
  return res.json();
}

/** Moves with Tab until the name of what has the focus matches. */
export async function tabTo(page, match, most = 120) {
  for (let i = 0; i < most; i++) {
    const name = await page.evaluate(() => {
      const el = document.activeElement;
      return el?.getAttribute("aria-label") ?? el?.closest("label")?.textContent ?? el?.textContent ?? "";
    });
    if (match.test(name.trim())) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${match} cannot be reached with Tab`);
}

/** Collects what the polite live region is given from now on; said() returns it. */
export async function listen(page) {
  await page.evaluate(() => {
    globalThis.said = [];
    const region = document.querySelector('[data-testid="live-polite"]');
    new MutationObserver((changes) => {
      for (const c of changes) for (const n of c.addedNodes) globalThis.said.push(n.textContent);
    }).observe(region, { childList: true });
  });
  return () => page.evaluate(() => globalThis.said);
}
