// A run's summary as an answer, and what is said to a run.

import type { Input } from "../core/input.ts";
import type { Run } from "../core/run.ts";
import { type Summary, summaryOf } from "../core/summary.ts";
import type { RunRecord } from "../engine/ports.ts";
import { knownRecord } from "../host/stored-runs.ts";
import { refusalProblem } from "./problem.ts";
import { type Reply, type RouteRequest, tagOf } from "./route.ts";
import type { ServerParts } from "./server-parts.ts";

export const summaryFor = ({ run: id, packId, packVersion }: RunRecord, run: Run): Summary =>
  summaryOf(id, { id: packId, version: packVersion, digest: run.digest }, run);

/** Commits an input and answers with how the run stands. What changed nothing is fine as well (S50). */
export async function sayTo(
  { engine, store, worlds }: ServerParts,
  request: Pick<RouteRequest<{ readonly id: string }, unknown, unknown>, "params" | "ifTurn">,
  input: Input,
): Promise<Reply> {
  const { params, ifTurn } = request;
  const record = await knownRecord(store, params.id);
  await worlds.learn(store, params.id);
  const submitted = await engine.submit(params.id, input, ifTurn === undefined ? {} : { ifTurn });
  if (submitted.kind === "refused") throw refusalProblem(submitted.refusal);
  const summary = summaryFor(record, submitted.run);
  const ignored = submitted.kind === "ignored" ? { ignored: submitted.why } : {};
  return { status: 200, body: { ...summary, ...ignored }, headers: tagOf(submitted.run.turn) };
}
