// Runs that are held over HTTP: nothing of them leaves, what is out comes back, and nothing is lost when the
// server goes away meanwhile.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { changedWorlds } from "./changed-worlds.ts";
import { leads, nested } from "./one-run-scene.ts";
import { asks, start } from "./sample-pack.ts";
import { type Served, served } from "./served.ts";
import { startedRun, waiting } from "./started-run.ts";

/** A world whose calls of a tool come back when they are let, and that counts what leaves. */
function gatedWorld() {
  const left = { model: 0, tool: 0 };
  const answer = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  const change = ({ model, tools }: RunPorts): RunPorts => ({
    model: {
      call(asked, context) {
        left.model++;
        return model.call(asked, context);
      },
    },
    tools: {
      ...{ knows: tools.knows.bind(tools), isSafe: tools.isSafe.bind(tools) },
      async call(tool, args, context) {
        left.tool++;
        called.resolve();
        await answer.promise;
        return tools.call(tool, args, context);
      },
    },
  });
  return { left, answer, called, options: changedWorlds(change) };
}

const isListed = async (server: Served, where: string): Promise<readonly unknown[]> => {
  const { body } = await server.get(`/api/runs?where=${encodeURIComponent(where)}`);
  return (body["items"] as unknown as readonly JsonObject[]).map(({ run }) => run);
};

test("what is out comes back and is recorded, and nothing new leaves before the run is let go", async () => {
  const { left, answer, called, options } = gatedWorld();
  const server = await served(options);
  const run = await startedRun(server, start(asks));
  await called.promise;
  const held = await server.post(`/api/runs/${run}/pause`, { reason: "lunch", by: "ann" });
  expect(held.body).toMatchObject({ status: "waiting", held: { by: "ann", reason: "lunch" } });
  const { turns } = held.body as unknown as Summary;
  answer.resolve();
  // The answer and the ask it leads to are one turn.
  const after = await server.until(run, (summary) => summary.turns > turns);
  expect(after).toMatchObject({
    status: "waiting",
    waiting_for: [],
    used: { tool_calls: 1, model_calls: 2 },
  });
  expect(await isListed(server, "held=yes")).toEqual([run]);
  expect(left).toEqual({ model: 1, tool: 1 });
  await server.stop();

  const again = await served({ folder: server.folder });
  const { body: still } = await again.get(`/api/runs/${run}`);
  expect(still).toMatchObject({ turns: after.turns, held: { reason: "lunch" } });
  expect((await again.post(`/api/runs/${run}/unpause`, {})).body).toMatchObject({ held: null });
  const gate = await again.until(run, ({ state }) => state === "gate");
  expect(gate.used).toMatchObject({ tool_calls: 1, model_calls: 2 });
  expect(await isListed(again, "held=yes")).toEqual([]);
});

test("an event for a run that is held is taken, and followed when it is let go", async () => {
  const server = await served();
  const run = await waiting(server);
  const tag = String((await server.get(`/api/runs/${run}`)).headers.get("etag"));
  const pause = () => server.post(`/api/runs/${run}/pause`, {}, { "idempotency-key": "k", "if-match": tag });
  expect((await pause()).status).toBe(200);
  expect((await pause()).headers.get("idempotency-replayed")).toBe("true");
  expect((await server.post(`/api/runs/${run}/pause`, {}, { "if-match": tag })).status).toBe(412);
  expect((await server.post(`/api/runs/${run}/pause`)).body).toMatchObject({ ignored: true });
  const sent = await server.post(`/api/runs/${run}/events`, { name: "Yes" });
  expect(sent.body).toMatchObject({ state: "end", status: "waiting", held: { by: "api" } });
  await server.post(`/api/runs/${run}/unpause`);
  const { used } = await server.until(run, ({ status }) => status === "completed");
  expect(used.model_calls).toBe(3);
  expect((await server.post(`/api/runs/${run}/pause`)).body).toMatchObject({ ignored: true, held: null });
  expect((await server.post("/api/runs/nobody/unpause")).status).toBe(404);
});

test("an agent is held with its caller and let go with it", async () => {
  const server = await served();
  const run = await startedRun(server, { pack: nested, variables: { who: "Ada" }, script: leads });
  const { children } = await server.until(run, ({ status }) => status === "waiting");
  const child = children[0]?.run ?? "";
  const path = `/api/runs/${encodeURIComponent(child)}`;
  await server.post(`/api/runs/${run}/pause`);
  await server.until(child, ({ held }) => held?.by === run);
  await server.post(`${path}/events`, { name: "Yes" });
  await server.post(`/api/runs/${run}/unpause`);
  await server.until(run, ({ status }) => status === "completed");
  expect((await server.get(path)).body).toMatchObject({ status: "completed", held: null });
});
