// Time travel over HTTP: forks, comparisons, replays.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { asks, pack, start } from "./sample-pack.ts";
import { served } from "./served.ts";
import { completed, startedRun, waiting } from "./started-run.ts";

test("a fork goes on from a turn with its edits, and its origin stays as it was", async () => {
  const server = await served();
  const run = await waiting(server);
  const before = (await server.get(`/api/runs/${run}/facts`)).body;
  const made = await server.post(`/api/runs/${run}/fork`, {
    edits: [{ event: "Yes" }, { artifact: "note", value: "other" }, { variable: "task", value: "that" }],
  });
  expect(made.status).toBe(201);
  const fork = made.body as unknown as Summary;
  expect(fork.forked_from).toMatchObject({ run });
  const end = await server.until(fork.run, ({ status }) => status === "completed");
  expect(end.output?.artifacts).toEqual({ note: "other" });
  expect((await server.get(`/api/runs/${run}/facts`)).body).toEqual(before);
  const diff = (await server.get(`/api/runs/${run}/diff/${fork.run}`)).body;
  expect(diff).toMatchObject({ same: false, artifacts: { note: { a: "seen", b: "other" } } });
});

test("a dry run says which calls a fork would make and makes none", async () => {
  const server = await served();
  const run = await completed(server);
  const plan = await server.post(`/api/runs/${run}/fork?dry_run=true`, { turn: 2 });
  expect(plan.status).toBe(200);
  expect(plan.body).toMatchObject({ dry_run: true, from: { run, turn: 2 }, calls: [{ kind: "model" }] });
  expect((await server.get("/api/runs")).body["items"]).toHaveLength(1);
});

test("a dry run says how much harm the calls can do, its own and those of the origin", async () => {
  const look = { exec: ["true"], tier: "destructive", approval: "auto" };
  const server = await served({ settings: { ...noSettings("."), tools: { look } } });
  const { tools: _tools, ...unscripted } = asks;
  const run = await startedRun(server, start(unscripted));
  await server.until(run, ({ status }) => status === "waiting");
  const risk = { tier: "destructive", idempotent: false };
  const plan = (turn: number) => server.post(`/api/runs/${run}/fork?dry_run=true`, { turn });
  expect((await plan(1)).body).toMatchObject({
    calls: [{ kind: "model" }],
    origin_called: [{ tool: "look", calls: 1, risk }],
  });
  expect((await plan(2)).body).toMatchObject({ calls: [{ kind: "tool", tool: "look", risk }] });
  const { turns } = await server.until(run, () => true);
  expect((await plan(turns)).body["origin_called"]).toEqual([]);
});

test("a fork takes an answer in place of a call, and another pack", async () => {
  const server = await served();
  const run = await completed(server);
  const answered = await server.post(`/api/runs/${run}/fork`, {
    turn: 1,
    edits: [
      { step: 1, value: { text: "mine", event: "Done" } },
      { pack: pack.replace("version: 1.0.0", "version: 1.1.0") },
    ],
  });
  const fork = answered.body as unknown as Summary;
  expect(fork).toMatchObject({ state: "end", pack: { version: "1.1.0" } });
});

test("forks that cannot be are refused with their codes", async () => {
  const server = await served();
  const run = await waiting(server);
  const done = await completed(server);
  const cases: readonly (readonly [string, JsonObject, number, string])[] = [
    [run, { turn: 99 }, 404, "unknown-turn"],
    [run, { edits: [{ event: "Maybe" }] }, 409, "event-not-allowed"],
    [run, { edits: [{ artifact: "nothing", value: 1 }] }, 422, "bad-artifact"],
    [run, { edits: [{ variable: "task", value: 3 }] }, 422, "variable-invalid"],
    [run, { edits: [{ step: 77, value: 1 }] }, 409, "step-not-open"],
    [run, { turn: 1, edits: [{ step: 1, value: { txt: 1 } }] }, 422, "bad-arguments"],
    [run, { edits: [{ pack: "id: x" }] }, 422, "pack-invalid"],
    [run, { edits: [{ digest: "none" }] }, 404, "unknown-pack"],
    [done, {}, 409, "run-finished"],
    [run, { turn: 0 }, 400, "bad-request"],
    [run, { event: "Yes" }, 400, "bad-request"],
    [run, { edits: [{ artifact: "note", valeu: 1 }] }, 400, "bad-request"],
    [run, { edits: { event: "Yes" } }, 400, "bad-request"],
  ];
  for (const [origin, body, status, code] of cases) {
    const answer = await server.post(`/api/runs/${origin}/fork`, body);
    expect([code, answer.status, answer.body["code"]]).toEqual([code, status, code]);
  }
  expect((await server.get("/api/runs")).body["items"]).toHaveLength(2);
});

test("the same key makes one fork", async () => {
  const server = await served();
  const run = await waiting(server);
  const fork = () =>
    server.post(`/api/runs/${run}/fork`, { edits: [{ event: "Yes" }] }, { "idempotency-key": "f" });
  const [first, again] = [await fork(), await fork()];
  expect(again.body["run"]).toBe(first.body["run"]);
  expect((await server.get("/api/runs")).body["items"]).toHaveLength(2);
});

test("a replay decides every turn again and finds the same", async () => {
  const server = await served();
  const run = await completed(server);
  const { body } = await server.call("POST", `/api/runs/${run}/replay`);
  expect(body).toMatchObject({ run, same: true, first_difference: null });
});
