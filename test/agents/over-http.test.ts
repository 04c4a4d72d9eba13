// The tree of runs over HTTP: parents and children in summaries, traces, steps, lists and the inbox.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { Fault, type Store } from "../../src/engine/ports.ts";
import { inboxOf } from "../../src/host/inbox.ts";
import { type Served, served } from "../server/served.ts";
import { startedRun } from "../server/started-run.ts";
import { tree } from "./tree-pack.ts";

const script = {
  states: {
    lead: [{ calls: [{ tool: "auditor", args: { query: "first" } }] }, { event: "Done" }],
    look: [{ event: "Again" }, { calls: [{ tool: "guard", args: { query: "may we" } }] }, { event: "Found" }],
    report: [{ text: "reported" }],
    verdict: [{ text: "it is real" }],
  },
};

async function waiting(server: Served): Promise<string> {
  const run = await startedRun(server, { pack: tree, file: "tree.pack.yaml", script });
  await server.until(run, ({ status }) => status === "waiting");
  return run;
}

const path = (run: string): string => `/api/runs/${encodeURIComponent(run)}`;

test("a run and its agents name each other", async () => {
  const server = await served();
  const run = await waiting(server);
  expect((await server.get(path(run))).body).toMatchObject({
    parent: null,
    children: [{ run: `${run}/2`, step: 2, agent: "auditor", state: "lead", visit: 1 }],
  });
  expect((await server.get(path(`${run}/2`))).body).toMatchObject({
    parent: { run, step: 2 },
    children: [{ run: `${run}/2/3`, agent: "guard" }],
  });
  expect((await server.get(`${path(run)}/steps/2`)).body).toMatchObject({ child: `${run}/2` });
  expect((await server.get(`${path(run)}/trace`)).body).toMatchObject([{ children: [`${run}/2`] }]);
  const below = (await server.get(`/api/runs?parent=${run}`)).body as {
    readonly items?: readonly JsonObject[];
  };
  expect(below.items?.map((item) => item["run"])).toEqual([`${run}/2`]);
});

test("the inbox has the agent's question and who waits for its answer, and the answer ends all three", async () => {
  const server = await served();
  const run = await waiting(server);
  const inbox = (await server.get("/api/inbox")).body as { readonly items?: readonly JsonObject[] };
  expect(inbox.items).toMatchObject([{ run: `${run}/2/3`, kind: "event", parents: [run, `${run}/2`] }]);
  const own = (await server.get(`/api/inbox?run=${run}&limit=1`)).body;
  expect(own).toMatchObject({ items: [{ run: `${run}/2/3` }], next_cursor: null });
  const cursor = (place: string) =>
    `/api/inbox?run=${run}&cursor=${Buffer.from(place).toString("base64url")}`;
  expect((await server.get(cursor(`${run}/2`))).body["items"]).toHaveLength(1);
  expect((await server.get(cursor(`${run}/2/3`))).body["items"]).toEqual([]);
  await server.post(`${path(`${run}/2/3`)}/events`, { name: "Approved", by: "ann" });
  const done = await server.until(run, ({ status }) => status === "completed");
  expect(done).toMatchObject({ used_by_agents: { visits: 5 } } satisfies { used_by_agents: object });
});

test("an agent's run that is damaged is named, and the rest of the tree's inbox is there", async () => {
  const { store, ...server } = await served();
  const run = await waiting({ store, ...server });
  const damaged: string[] = [];
  const worlds = { riskOf: () => ({ tier: null, idempotent: true, reversibility: null, rollback: null }) };
  const corrupt = new Fault("store-corrupt", "a turn does not fit", { retry: "never" });
  const partly = {
    record: (id: string) => store.record(id),
    names: (filter: Parameters<Store["names"]>[0]) => store.names(filter),
    loadAt: (id: string, turn: number) =>
      id === `${run}/2` ? Promise.reject(corrupt) : store.loadAt(id, turn),
  };
  const terms = { limit: 10, run, worlds };
  const page = await inboxOf(partly as unknown as Store, (id) => damaged.push(id), terms);
  expect([page.items.map((item) => item.run), damaged]).toEqual([[`${run}/2/3`], [`${run}/2`]]);
});

test("cancelling over HTTP reaches every agent", async () => {
  const server = await served();
  const run = await waiting(server);
  await server.post(`${path(run)}/cancel`, {});
  for (const one of [run, `${run}/2`, `${run}/2/3`]) {
    const ended: Summary = await server.until(one, ({ status }) => status === "cancelled");
    expect(ended.run).toBe(one);
  }
});

test("an agent is started by its name", async () => {
  const server = await served();
  const run = await startedRun(server, { pack: tree, file: "tree.pack.yaml", script, agent: "guard" });
  const summary = await server.until(run, ({ status }) => status === "waiting");
  expect(summary).toMatchObject({ state: "gate", visits: { gate: 1 } });
});
