// How quick the debugger is, in a real Chromium, on runs of 10,000 and 50,000 turns (experience, 4.3). Run with
// `node bench/web.ts` after `npm run build`; medians of five, and on a shared machine only the order counts.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type Browser, chromium } from "playwright-core";
import { systemClock } from "../src/engine/system-clock.ts";
import { noSettings } from "../src/host/run-settings.ts";
import { RunWorlds } from "../src/host/run-worlds.ts";
import { PackloopServer } from "../src/server/server.ts";
import { SideFile } from "../src/server/side-file.ts";
import { TokenFile } from "../src/server/tokens.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { median } from "./measure.ts";
import { longRun } from "./web-journal.ts";

const SIZES = [10_000, 50_000];
const ROUNDS = 5;
const CLICKS = 20;
const say = (line: string) => process.stdout.write(`${line}\n`);

/** In the page: moves the slider and waits until the inspector shows the turn and is painted. */
const clickTo = `(turn) => {
  const slider = document.querySelector("input[type=range]");
  const start = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, String(turn));
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return new Promise((resolve) => {
    const look = () => {
      const shown = document.querySelector(".turn-list .selected .turn-number")?.textContent;
      requestAnimationFrame(shown === String(turn) ? () => resolve(performance.now() - start) : look);
    };
    look();
  });
}`;

interface Measured {
  readonly paint: number;
  readonly table: number;
  readonly loaded: number;
  readonly bytes: number;
  readonly click: number;
  readonly longest: number;
  readonly heap: number;
}

const folder = mkdtempSync(join(tmpdir(), "packloop-bench-"));
const path = join(folder, "runs.db");
const store = await openSqliteStore(path);
for (const turns of SIZES) await longRun(store, `r_${turns}`, turns);
const clock = systemClock();
const web = process.argv[2];
const server = new PackloopServer({
  ...{ store, clock, host: "127.0.0.1", port: 0, tokenNeeded: false, version: "0.0.0" },
  worlds: new RunWorlds({ clock, env: () => undefined, storePath: path, warn: () => undefined }),
  settings: noSettings(folder),
  side: new SideFile(`${path}-server`),
  log: pino({ level: "silent" }),
  principalOf: () => undefined,
  tokens: new TokenFile(join(folder, "tokens.json")),
  post: async () => ({ kind: "refused", why: "nothing is sent here" }),
  ...(web !== undefined && existsSync(web) && { webFolder: web }),
});
const { port } = await server.start();
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--enable-precise-memory-info"],
});
try {
  say("turns   first paint  table  all read  before paint  click p95  longest task  heap of the page");
  for (const turns of SIZES) {
    const all: Measured[] = [];
    for (let round = 0; round < ROUNDS; round++)
      all.push(await measure(browser, `http://127.0.0.1:${port}/r/r_${turns}`, turns));
    const of = (pick: (one: Measured) => number, digits = 0) => median(all.map(pick)).toFixed(digits);
    say(
      `${turns}   ${of((one) => one.paint)} ms   ${of((one) => one.table)} ms   ${of((one) => one.loaded)} ms   ` +
        `${of((one) => one.bytes / 1_000)} kB   ${of((one) => one.click)} ms   ${of((one) => one.longest)} ms   ` +
        `${of((one) => one.heap / 1e6)} MB`,
    );
  }
} finally {
  await browser.close();
  await server.stop(0);
  rmSync(folder, { recursive: true, force: true });
}

async function measure(on: Browser, url: string, turns: number): Promise<Measured> {
  const context = await on.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(`globalThis.seen = { longest: 0 };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.longest = Math.max(seen.longest, entry.duration);
    }).observe({ type: "longtask", buffered: true });`);
  await page.goto(url);
  const since = () => page.evaluate("performance.now()") as Promise<number>;
  await page.locator(".trace-row.selected").waitFor();
  const table = await since();
  await page.getByText("reading").waitFor({ state: "detached", timeout: 120_000 });
  await page.locator(".turn-list .selected").waitFor();
  const loaded = await since();
  const { paint, bytes } = (await page.evaluate(`(() => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
    const before = performance.getEntriesByType("resource").filter((one) => one.responseEnd <= paint);
    const page = performance.getEntriesByType("navigation")[0]?.transferSize ?? 0;
    return { paint, bytes: before.reduce((sum, one) => sum + one.transferSize, page) };
  })()`)) as { paint: number; bytes: number };
  const clicks: number[] = [];
  for (let nth = 1; nth <= CLICKS; nth++) {
    const turn = Math.floor((turns / (CLICKS + 1)) * nth);
    clicks.push(await page.evaluate(`(${clickTo})(${turn})`));
  }
  const longest = (await page.evaluate("seen.longest")) as number;
  const heap = (await page.evaluate("performance.memory.usedJSHeapSize")) as number;
  await context.close();
  clicks.sort((a, b) => a - b);
  return { paint, table, loaded, bytes, click: clicks[Math.ceil(CLICKS * 0.95) - 1] ?? 0, longest, heap };
}
