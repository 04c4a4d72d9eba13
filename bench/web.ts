// How quick the debugger is, in a real Chromium (experience, 4.3). `node bench/web.ts` after `npm run build`
// measures everything; `node bench/web.ts 10000 live --rounds 1 --web FOLDER` only that, once, of another
// build. Medians of five; on a machine that does something else only the order counts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Figure, heading, lineOf } from "./figure.ts";
import { median } from "./measure.ts";
import { longRun } from "./web-journal.ts";
import { clickMs, scrolled, type Watched, watchedPage } from "./web-pages.ts";
import { FACTS_OF_ROUND, MovingRun, type Rounds, type WebServer, webServer } from "./web-server.ts";

const CLICKS = 20;
const SCROLL_MS = 3_000;
const LARGE = 5_000_000;
const FACTS_PER_SECOND = 1_000;
const LIVE_MS = 5_000;
const FACTS_OF_HOUR = 3_600;

interface World {
  readonly browser: Browser;
  readonly server: WebServer;
}

/** What one round measures, by name. */
type Round = Readonly<Record<string, number>>;

interface Case {
  readonly name: string;
  readonly prepare?: (server: WebServer) => Promise<void>;
  readonly measure: (world: World) => Promise<Round>;
  /** What is held to a bar; the rest is only told. */
  readonly bars: Readonly<Record<string, readonly [what: string, unit: string, bar: Figure["bar"]]>>;
}

const openRun = ({ browser, server }: World, run: string): Promise<Watched> =>
  watchedPage(browser, `${server.url}/r/${run}`);

/** Until the newest row and what it is about are there. */
async function usable(watched: Watched): Promise<{ readonly table: number; readonly all: number }> {
  await watched.page.locator(".trace-row.selected").waitFor();
  const table = await watched.since();
  await watched.page.locator(".turn-list .selected").waitFor();
  return { table, all: await watched.since() };
}

const isRead = (page: Page): Promise<void> =>
  page.getByText("reading").waitFor({ state: "detached", timeout: 120_000 });

const firstPaint = `(() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
  const before = performance.getEntriesByType("resource").filter((one) => one.responseEnd <= paint);
  const page = performance.getEntriesByType("navigation")[0]?.transferSize ?? 0;
  return { paint, kB: before.reduce((sum, one) => sum + one.transferSize, page) / 1000 };
})()`;

async function clicksTo(page: Page, turnOf: (nth: number) => number): Promise<number> {
  const times: number[] = [];
  for (let nth = 1; nth <= CLICKS; nth++) times.push(await clickMs(page, Math.max(1, turnOf(nth))));
  return times.toSorted((a, b) => a - b)[Math.ceil(CLICKS * 0.95) - 1] ?? 0;
}

async function measureLong(world: World, turns: number): Promise<Round> {
  await using watched = await openRun(world, `r_${turns}`);
  const { page } = watched;
  const { table, all } = await usable(watched);
  // Any turn may be looked at, whatever has been read by then.
  const early = await clickMs(page, Math.floor(turns * 0.9));
  await isRead(page);
  const read = await watched.since();
  const { paint, kB } = (await page.evaluate(firstPaint)) as { paint: number; kB: number };
  const click = await clicksTo(page, (nth) => Math.floor((turns / (CLICKS + 1)) * nth));
  const longest = await watched.longestTask();
  const { framesPerSecond, blankMs } = await scrolled(page, SCROLL_MS);
  const heap = (await watched.heap()) / 1e6;
  return { paint, kB, table, usable: all, early, read, click, longest, framesPerSecond, blankMs, heap };
}

const long = (turns: number, bars: Case["bars"]): Case => ({
  name: String(turns),
  prepare: ({ store }) => longRun(store, { run: `r_${turns}`, turns }),
  measure: (world) => measureLong(world, turns),
  bars,
});

const large: Case = {
  name: "large",
  prepare: ({ store }) => longRun(store, { run: "r_large", turns: 200, large: LARGE }),
  async measure(world) {
    await using watched = await openRun(world, "r_large");
    const { all } = await usable(watched);
    await isRead(watched.page);
    const click = await clicksTo(watched.page, (nth) => 90 + nth);
    return { usable: all, click, longest: await watched.longestTask() };
  },
  bars: {
    usable: ["a value of 5 MB: usable", "ms", { max: 1_000 }],
    longest: ["a value of 5 MB: longest task", "ms", { max: 200 }],
  },
};

/** Two long runs that part in the middle, side by side. */
const compare: Case = {
  name: "compare",
  async prepare({ store }) {
    await longRun(store, { run: "r_a", turns: 10_000 });
    await longRun(store, { run: "r_b", turns: 10_000, differsFrom: 5_000 });
  },
  async measure({ browser, server }) {
    await using watched = await watchedPage(browser, `${server.url}/compare/r_a/r_b`);
    await watched.page.locator(".aligned .trace-row").nth(2).waitFor();
    return { all: await watched.since(), longest: await watched.longestTask() };
  },
  bars: {
    all: ["10,000 turns compared with 10,000", "ms", { max: 2_000 }],
    longest: ["meanwhile: longest task", "ms", { max: 200 }],
  },
};

/** The page follows while a run moves; meanwhile somebody goes back and forth. */
const live: Case = {
  name: "live",
  async measure(world) {
    const rounds = Math.round((FACTS_PER_SECOND / FACTS_OF_ROUND) * (LIVE_MS / 1_000));
    const delayMs = (LIVE_MS / rounds) * 0.75;
    await using followed = await followedRun(world, { rounds, delayMs });
    const { moving, watched, turns } = followed;
    await watched.longestTask();
    await moving.send("Work");
    const click = await clicksTo(watched.page, (nth) => nth);
    await watched.page.getByRole("button", { name: "Follow" }).click();
    await hasTurns(watched.page, turns + rounds + 1);
    const longest = await watched.longestTask();
    return { rate: await factsPerSecond(world, moving.run), click, longest };
  },
  bars: {
    rate: ["facts a second while followed", "/s", { min: FACTS_PER_SECOND * 0.9 }],
    click: ["meanwhile: click p95", "ms", { max: 100 }],
    longest: ["meanwhile: longest task", "ms", { max: 200 }],
  },
};

/** As many facts as an hour brings, one a second, only sooner. */
const idle: Case = {
  name: "idle",
  async measure(world) {
    const rounds = FACTS_OF_HOUR / FACTS_OF_ROUND;
    await using followed = await followedRun(world, { rounds, delayMs: 2 });
    const { moving, watched, turns } = followed;
    const before = await watched.heap();
    await moving.send("Work");
    await hasTurns(watched.page, turns + rounds + 1);
    return { growth: ((await watched.heap()) - before) / 1e6 };
  },
  bars: { growth: ["heap after the facts of an hour", "MB", { max: 20 }] },
};

interface Followed extends AsyncDisposable {
  readonly moving: MovingRun;
  readonly watched: Watched;
  readonly turns: number;
}

/** A run of a few turns that waits, and a page that follows it. */
async function followedRun(world: World, rounds: Rounds): Promise<Followed> {
  const moving = await MovingRun.start(world.server.url, rounds);
  await moving.step(CLICKS);
  const watched = await openRun(world, moving.run);
  await usable(watched);
  await watched.page.getByText("live", { exact: true }).waitFor();
  return { moving, watched, turns: CLICKS + 1, [Symbol.asyncDispose]: () => watched[Symbol.asyncDispose]() };
}

const hasTurns = (page: Page, turns: number): Promise<void> =>
  page
    .getByText(`of ${turns.toLocaleString("en")}`)
    .first()
    .waitFor({ timeout: 300_000 });

async function factsPerSecond({ server: { store } }: World, run: string): Promise<number> {
  const rows = await store.rows(run, { from: CLICKS + 2, to: Number.MAX_SAFE_INTEGER, limit: 100_000 });
  const [first, last] = [rows[0]?.at ?? 0, rows.at(-1)?.at ?? 0];
  return (rows.reduce((sum, { facts }) => sum + facts.length, 0) * 1_000) / (last - first);
}

const cases: readonly Case[] = [
  long(10_000, {
    paint: ["10,000 turns: first paint", "ms", { max: 1_000 }],
    kB: ["10,000 turns: sent before it", "kB", { max: 500 }],
    table: ["10,000 turns: table", "ms", { max: 1_500 }],
    early: ["10,000 turns: click while reading", "ms", { max: 500 }],
    click: ["10,000 turns: click p95", "ms", { max: 100 }],
    longest: ["10,000 turns: longest task", "ms", { max: 200 }],
    framesPerSecond: ["10,000 turns: scrolling", "/s", { min: 50 }],
    blankMs: ["10,000 turns: rows not drawn", "ms", { max: 100 }],
  }),
  long(50_000, {
    usable: ["50,000 turns: usable", "ms", { max: 3_000 }],
    heap: ["50,000 turns: heap of page and worker", "MB", { max: 300 }],
    longest: ["50,000 turns: longest task", "ms", { max: 200 }],
  }),
  large,
  compare,
  live,
  idle,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { web: { type: "string" }, rounds: { type: "string", default: "5" } },
});
const strange = positionals.filter((given) => !cases.some(({ name }) => name === given));
if (strange.length > 0) throw new Error(`\`${strange.join(" ")}\` is not a case`);

const say = (line: string) => process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), "packloop-bench-"));
const server = await webServer(folder, values.web);
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  say(heading);
  for (const one of cases)
    if (positionals.length === 0 || positionals.includes(one.name)) await tell(one, { browser, server });
} finally {
  await browser.close();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}

async function tell({ name, prepare, measure, bars }: Case, world: World): Promise<void> {
  await prepare?.(world.server);
  const rounds: Round[] = [];
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await measure(world));
  const of = (key: string) => median(rounds.map((round) => round[key] ?? Number.NaN));
  for (const [key, [what, unit, bar]] of Object.entries(bars))
    say(lineOf({ id: "U", what, value: of(key), unit, bar }));
  const rest = Object.keys(rounds[0] ?? {}).filter((key) => !Object.hasOwn(bars, key));
  if (rest.length > 0) say(`     ${name}: ${rest.map((key) => `${key} ${of(key).toFixed(0)}`).join(", ")}`);
}
