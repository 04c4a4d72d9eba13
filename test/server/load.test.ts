// Many runs and many followers at once: nobody misses a turn.

import { expect, test } from "vitest";
import { changedWorlds } from "./changed-worlds.ts";
import { readEvents } from "./event-reader.ts";
import { pack, start } from "./sample-pack.ts";
import { served } from "./served.ts";
import { startedRun } from "./started-run.ts";

const RUNS = 1_000;
const FOLLOWERS = 200;

const script = {
  states: { work: [{ event: "Again" }, { event: "Again" }, { event: "Done" }], end: [{ text: "Bye." }] },
};

test("1,000 runs in flight with 200 followers: every follower gets every turn once", async () => {
  // Holds every run open until all of them are.
  const gate = Promise.withResolvers<void>();
  const server = await served(
    changedWorlds(({ model, tools }) => ({
      tools,
      model: { call: (request, context) => gate.promise.then(() => model.call(request, context)) },
    })),
  );
  const { digest } = (await server.post("/api/packs", { source: pack })).body as { digest: string };
  const { pack: _text, ...body } = start(script);
  const runs: string[] = [];
  while (runs.length < RUNS) {
    const some = Array.from({ length: 20 }, () => startedRun(server, { ...body, digest }));
    runs.push(...(await Promise.all(some)));
  }
  const followed = runs.slice(-FOLLOWERS);
  const streaming = followed.map((run) => readEvents(server.url, `/api/runs/${run}/stream`));
  const inFlight = await server.get("/api/runs?status=running&limit=200&text=r_");
  expect(inFlight.body["next_cursor"]).not.toBeNull();
  gate.resolve();
  const streams = await Promise.all(streaming);
  for (const [index, { events }] of streams.entries()) {
    const rows = await server.store.rows(followed[index] ?? "", { from: 1, to: 99, limit: 99 });
    expect(events.flatMap(({ id }) => id ?? [])).toEqual(rows.map(({ turn }) => turn));
    expect(events.at(-1)).toMatchObject({ name: "end", data: { status: "completed" } });
  }
  for (const run of runs) await server.until(run, ({ status }) => status === "completed");
}, 120_000);
