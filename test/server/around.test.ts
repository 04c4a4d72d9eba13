// Long runs in pieces: any turn with those around it in one answer, and any row of the trace by its number.

import { expect, test } from "vitest";
import { longRun } from "../../bench/web-journal.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { fold } from "../../src/core/apply.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import type { Run } from "../../src/core/run.ts";
import { runAt } from "../../src/host/stored-runs.ts";
import { isSameRun } from "../../src/store/stored-journal.ts";
import { asks, start } from "./sample-pack.ts";
import { type Served, served } from "./served.ts";
import { waiting } from "./started-run.ts";

const TURNS = 1_500;

async function withLongRun(): Promise<Served> {
  const server = await served();
  await longRun(server.store, { run: "r", turns: TURNS });
  return server;
}

interface Around {
  readonly snapshot: Run;
  readonly items: readonly (Omit<TurnRow, "at"> & { readonly at: string })[];
}

const around = async (server: Served, query: string): Promise<Around> =>
  (await server.get(`/api/runs/r/snapshot?${query}`)).body as unknown as Around;

const rowsOf = ({ items }: Around): readonly TurnRow[] =>
  items.map(({ turn, at, v, facts }) => ({ turn, at: Date.parse(at), v, facts }));

test("one answer has what every turn in it folds to", async () => {
  const server = await withLongRun();
  const places = [1, 2, 201, 202, 777, 1_000, TURNS - 1, TURNS];
  for (const at of places) {
    const found = await around(server, `at=${at}`);
    const rows = rowsOf(found);
    expect(found.snapshot.turn).toBe(Math.max(0, at - 201));
    expect(rows[0]?.turn).toBe(found.snapshot.turn + 1);
    expect(rows.at(-1)?.turn).toBe(Math.min(TURNS, at + 200));
    const upTo = rows.filter(({ turn }) => turn <= at);
    const expected = await runAt(server.store, "r", at);
    expect(isSameRun(fold(upTo, found.snapshot), expected), `turn ${at}`).toBe(true);
  }
});

test("without a turn it is the last, and sides are as long as asked for, to a limit", async () => {
  const server = await withLongRun();
  const last = await around(server, "before=3");
  expect(last.items.map(({ turn }) => turn)).toEqual([TURNS - 3, TURNS - 2, TURNS - 1, TURNS]);
  const one = await around(server, "at=1000&before=0&after=0");
  expect(one.items.map(({ turn }) => turn)).toEqual([1_000]);
  const most = await around(server, "at=750&before=99999&after=99999");
  expect(most.items).toHaveLength(1_001);
});

test("only what can no longer change may be kept", async () => {
  const server = await withLongRun();
  const kept = async (query: string) =>
    (await server.get(`/api/runs/r/snapshot?${query}`)).headers.get("cache-control");
  expect(await kept("at=1000")).toContain("immutable");
  expect(await kept(`at=${TURNS - 10}`)).not.toContain("immutable");
  expect(await kept("")).not.toContain("immutable");
});

test("a turn that is not there is told so", async () => {
  const server = await served();
  const run = await waiting(server);
  const beyond = await server.get(`/api/runs/${run}/snapshot?at=999`);
  expect([beyond.status, beyond.body["code"]]).toEqual([404, "unknown-turn"]);
  const nobody = await server.get("/api/runs/nobody/snapshot");
  expect([nobody.status, nobody.body["code"]]).toEqual([404, "unknown-run"]);
});

type Rows = readonly JsonObject[];

const trace = async (server: Served, query: string): Promise<Rows> =>
  (await server.get(`/api/runs/r/trace?${query}`)).body as unknown as Rows;

test("the trace is taken up at any row, with what changed since the row before", async () => {
  const server = await withLongRun();
  const all = await trace(server, "limit=10000&values=changed");
  expect(all.length).toBeGreaterThan(500);
  const places = [1, 2, 3, 499, 500, 501, Math.floor(all.length / 2), all.length - 1, all.length];
  for (const row of places) {
    const page = await trace(server, `row=${row}&limit=4&values=changed`);
    expect(page, `row ${row}`).toEqual(all.slice(row - 1, row + 3));
  }
  expect(await trace(server, `row=${all.length + 1}`)).toEqual([]);
  expect(await trace(server, "row=999999999")).toEqual([]);
});

test("pages from a row on follow one another by their links", async () => {
  const server = await withLongRun();
  const all = await trace(server, "limit=10000&values=short");
  const seen: Json[] = [];
  let next: string | undefined = "/api/runs/r/trace?row=101&limit=400&values=short";
  while (next !== undefined) {
    const answer: Awaited<ReturnType<Served["get"]>> = await server.get(next);
    seen.push(...(answer.body as unknown as Rows));
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  expect(seen).toEqual(all.slice(100));
});

test("a row and a turn at once are refused", async () => {
  const server = await served();
  const { body } = await server.post("/api/runs", start(asks));
  const answer = await server.get(`/api/runs/${String(body["run"])}/trace?row=1&after=1`);
  expect([answer.status, answer.body["code"]]).toEqual([400, "bad-request"]);
});
