// What the page's worker does, with its own code and a real server: it shows any turn before all are read,
// misses nothing when it is cut off, and sends the page no more than can be shown.

import { expect, onTestFinished, test, vi } from "vitest";
import { longRun } from "../../bench/web-journal.ts";
import { MovingRun } from "../../bench/web-server.ts";
import { shortRow } from "../../src/core/short-turn.ts";
import type { Summary } from "../../src/core/summary.ts";
import type { TraceRow } from "../../src/core/trace.ts";
import { JournalService } from "../../web/src/journal/journal-service.ts";
import type { Moment, News, VisitRow } from "../../web/src/journal/journal-shapes.ts";
import { serverSource } from "../../web/src/journal/server-source.ts";
import type { Source } from "../../web/src/journal/source.ts";
import { type Served, served } from "../server/served.ts";
import { cuttingProxy } from "./cutting-proxy.ts";

interface Opened {
  readonly service: JournalService;
  /** The table as the page has it. */
  readonly table: ReadonlyMap<number, VisitRow>;
  readonly news: readonly News[];
  /** What was asked of the server. */
  readonly requests: readonly string[];
  readonly until: (wanted: (news: News) => boolean) => Promise<void>;
}

/** Addresses in a page have no host; here they get the one given. */
function opened(run: string, url: string, change: (source: Source) => Source = (source) => source): Opened {
  const requests: string[] = [];
  const { fetch } = globalThis;
  vi.stubGlobal("fetch", (path: string, init?: RequestInit) => {
    if (!path.startsWith("/")) return fetch(path, init);
    requests.push(path);
    return fetch(`${url}${path}`, init);
  });
  const table = new Map<number, VisitRow>();
  const news: News[] = [];
  let wake: () => void = () => undefined;
  const service = new JournalService(run, change(serverSource(run, [0])), (one) => {
    if (one.kind === "visits") for (const [at, row] of one.rows.entries()) table.set(one.first + at, row);
    news.push(one);
    wake();
  });
  onTestFinished(() => {
    service.end();
    vi.unstubAllGlobals();
  });
  const until = async (wanted: (news: News) => boolean): Promise<void> => {
    while (!news.some(wanted))
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  return { service, table, news, requests, until };
}

const hasEnded = (news: News): boolean => news.kind === "live" && news.live === "ended";

/** As if the journal took for ever to read. */
const withoutReading = (source: Source): Source => ({
  ...source,
  follow: () => new Promise(() => undefined),
});

const traceOf = async (server: Served, run: string): Promise<readonly TraceRow[]> =>
  (await server.get(`/api/runs/${run}/trace?limit=10000&values=short`)).body as unknown as TraceRow[];

async function withLongRun(large = 0): Promise<Served> {
  const server = await served();
  await longRun(server.store, { run: "r", turns: 1_500, large });
  return server;
}

test("a worker that is cut off a hundred times has every turn once, and every row", async () => {
  const server = await served();
  const moving = await MovingRun.start(server.url, { rounds: 5_000, delayMs: 2 });
  const { run } = moving;
  const proxy = await cuttingProxy(server.url, { seed: 7, most: 100 });
  const turns: number[] = [];
  const { service, table, news, until } = opened(run, proxy.url, (source) => ({
    ...source,
    follow: (told, signal) =>
      source.follow(
        {
          ...told,
          rows(rows, known) {
            turns.push(...rows.map(({ turn }) => turn));
            told.rows(rows, known);
          },
        },
        signal,
      ),
  }));
  service.begin();
  await moving.send("Work");
  await proxy.done;
  await server.post(`/api/runs/${run}/cancel`);
  await until(hasEnded);
  const { turns: last } = await server.until(run, ({ status }) => status === "cancelled");
  expect(turns).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  const rows = await traceOf(server, run);
  expect([...table.keys()].toSorted((a, b) => a - b)).toEqual([...rows.keys()]);
  expect([...rows.keys()].map((place) => table.get(place)?.turn)).toEqual(rows.map(({ turn }) => turn));
  expect(rows.length).toBeGreaterThan(20);
  expect(news.some((one) => one.kind === "live" && one.live === "lost")).toBe(true);
  expect(news.some(({ kind }) => kind === "broken")).toBe(false);
}, 240_000);

test("any turn is shown after one request, as the server itself shows it", async () => {
  const server = await withLongRun();
  const { service, requests } = opened("r", server.url, withoutReading);
  for (const turn of [1_500, 700, 1]) {
    const before = requests.length;
    const moment = await service.moment(turn);
    const asked = requests.slice(before).filter((path) => !path.startsWith("/api/packs/"));
    expect(asked).toEqual([`/api/runs/r/snapshot?values=short&at=${turn}`]);
    const summary = (await server.get(`/api/runs/r?at=${turn}&output=none`)).body as unknown as Summary;
    expect(moment.summary).toEqual({ ...summary, output: null });
    // Those around it are there, too.
    await service.moment(Math.max(1, turn - 150));
    expect(requests.length).toBe(before + asked.length + (turn === 1_500 ? 1 : 0));
  }
});

test("of many turns that are passed quickly only the last is asked for", async () => {
  const server = await withLongRun();
  const { service, requests } = opened("r", server.url, withoutReading);
  const passed = [1_400, 1_300, 950, 500, 100].map((turn) => service.moment(turn));
  expect((await passed.at(-1))?.turn).toBe(100);
  const asked = requests.filter((path) => path.includes("/snapshot"));
  expect(asked).toEqual([1_400, 100].map((turn) => `/api/runs/r/snapshot?values=short&at=${turn}`));
});

test("a turn that is shown early is the same when everything is read", async () => {
  const server = await withLongRun();
  const { service, until } = opened("r", server.url);
  service.begin(900);
  const early = await service.moment(900);
  expect([early.isWhole, early.ways]).toEqual([false, {}]);
  await until(hasEnded);
  const late = await service.moment(900);
  expect(late.isWhole).toBe(true);
  expect(Object.keys(late.ways).length).toBeGreaterThan(1);
  const told = ({ isWhole: _isWhole, ways: _ways, ...rest }: Moment) => rest;
  expect(told(early)).toEqual(told(late));
});

test("rows that are not read yet are those that come later", async () => {
  const server = await withLongRun();
  const early = opened("r", server.url, withoutReading);
  const rows = await early.service.visits(200, 300);
  expect(rows).toHaveLength(300);
  vi.unstubAllGlobals();
  const { service, table, until, requests } = opened("r", server.url);
  service.begin();
  await until(hasEnded);
  expect(rows).toEqual(Array.from({ length: 300 }, (_, index) => table.get(200 + index)));
  const asked = requests.length;
  expect(await service.visits(200, 300)).toEqual(rows);
  expect(requests.length).toBe(asked);
});

test("a call is told whole from the turns around it, also where others overlap with them", async () => {
  const server = await withLongRun();
  const { service } = opened("r", server.url, withoutReading);
  await service.moment(700);
  const { steps } = await service.moment(550);
  const step = steps.find(({ tool }) => tool === "find")?.step ?? 0;
  const before = await service.whole(step, "args");
  expect(before).toContain("what about");
  // Brings the last of the turns that are here already, and not those of the call.
  await service.moment(1_100);
  expect(await service.whole(step, "args")).toBe(before);
});

test("a value of 5 MB stays with the server until somebody asks for it", async () => {
  const server = await withLongRun(5_000_000);
  const { service, news, requests, until } = opened("r", server.url);
  service.begin();
  await until(hasEnded);
  for (const path of requests)
    expect((await (await fetch(`${server.url}${path}`)).text()).length).toBeLessThan(1_000_000);
  const moments: Moment[] = [];
  for (let turn = 740; turn < 765; turn++) moments.push(await service.moment(turn));
  const cut = moments.find(({ facts }) => facts.isCut);
  expect(cut?.facts.size).toBeGreaterThan(5_000_000);
  for (const sent of [...news, ...moments]) expect(JSON.stringify(sent).length).toBeLessThan(256_000);
  const turn = cut?.turn ?? 0;
  const before = requests.length;
  expect((await service.facts(turn)).length).toBe(cut?.facts.size);
  const step = cut?.steps.find(({ tool }) => tool === "find")?.step ?? 0;
  const view = await service.step(step, turn);
  expect([view.result?.isCut, view.result?.size]).toEqual([true, 5_000_000]);
  expect(await service.whole(step, "result")).toHaveLength(5_000_000);
  expect(requests.slice(before)).toEqual([`/api/runs/r/turns?from=${turn}&to=${turn}`]);
});

test("what a model was shown of a value is told from all of it, also where its end was not sent", async () => {
  const server = await served();
  await longRun(server.store, { run: "r", turns: 60, large: 200_000 });
  const rows = await server.store.rows("r", { from: 1, to: 60, limit: 60 });
  // The model saw the beginning of the first text only: nothing in it says that the second was cut.
  const whole = rows.map((row) => ({
    ...row,
    facts: row.facts.map((fact) =>
      fact.type === "answered" && fact.outcome.ok && typeof fact.outcome.value === "string"
        ? { ...fact, outcome: { ok: true as const, value: { a: "a".repeat(20_000), b: fact.outcome.value } } }
        : fact,
    ),
  }));
  const turn = whole.findIndex((row) => JSON.stringify(row).length > 200_000) + 1;
  const fetched: number[] = [];
  const { service, until } = opened("r", server.url, (source) => ({
    program: (digest) => source.program(digest),
    async follow(told) {
      told.rows(whole.map(shortRow), whole.length);
      told.live("ended");
    },
    async row(one) {
      fetched.push(one);
      return whole[one - 1];
    },
  }));
  service.begin();
  await until(hasEnded);
  const { modelStep } = await service.moment(turn);
  expect(fetched).toEqual([]);
  const view = await service.step(modelStep ?? 0, turn);
  const shown = view.messages.map(({ text }) => text.text).join("\n");
  expect(shown).toContain("[clipped: 16384 of 220");
  expect(fetched).toEqual([turn]);
});
