// Runs of the sample pack in the states that tests want.

import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { asks, ends, start } from "./sample-pack.ts";
import type { Served } from "./served.ts";

export async function startedRun(server: Served, body: JsonObject): Promise<string> {
  const { status, body: summary } = await server.post("/api/runs", body);
  if (status !== 201) throw new Error(`the run was not started: ${JSON.stringify(summary)}`);
  return (summary as unknown as Summary).run;
}

/** Waits for a person at the gate. */
export async function waiting(server: Served, more: JsonObject = {}): Promise<string> {
  const run = await startedRun(server, start(asks, more));
  await server.until(run, ({ status }) => status === "waiting");
  return run;
}

export async function completed(server: Served): Promise<string> {
  const run = await startedRun(server, start(ends));
  await server.until(run, ({ status }) => status === "completed");
  return run;
}
