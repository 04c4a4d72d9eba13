// The tree of runs over HTTP: parents and children in summaries, traces, steps, lists and the inbox.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
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
  await server.post(`${path(`${run}/2/3`)}/events`, { name: "Approved", by: "ann" });
  const done = await server.until(run, ({ status }) => status === "completed");
  expect(done).toMatchObject({ used_by_agents: { visits: 5 } } satisfies { used_by_agents: object });
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
