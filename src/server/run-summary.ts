// A run's summary as an answer, and what is said to a run. A request with a key leaves its name in the turn
// it led to: whoever repeats it gets the answer of that turn, also when the first was lost with the server.

import type { Input } from "../core/input.ts";
import type { Run } from "../core/run.ts";
import { type Summary, summaryOf } from "../core/summary.ts";
import type { RunRecord, Store } from "../engine/ports.ts";
import { knownRecord, runAt } from "../host/stored-runs.ts";
import { keyReused, REPLAYED } from "./idempotent-replies.ts";
import { refusalProblem } from "./problem.ts";
import { type Reply, type RouteRequest, tagOf } from "./route.ts";
import type { ServerParts } from "./server-parts.ts";

export const summaryFor = ({ run: id, packId, packVersion }: RunRecord, run: Run): Summary =>
  summaryOf(id, { id: packId, version: packVersion, digest: run.digest }, run);

type Asked = RouteRequest<{ readonly id: string }, unknown, unknown>;

type SayRequest = Pick<Asked, "params" | "ifTurn"> & Partial<Pick<Asked, "key" | "requestId" | "bodyHash">>;

/** Commits an input and answers with how the run stands. What changed nothing is fine as well (S50). */
export async function sayTo(parts: ServerParts, request: SayRequest, input: Input): Promise<Reply> {
  const { engine, store, worlds } = parts;
  const { params, ifTurn } = request;
  const record = await knownRecord(store, params.id);
  const again = await repeated(parts, request, record);
  if (again !== undefined) return again;
  await worlds.learn(store, params.id);
  const requestKey = noteOf(request);
  const submitted = await engine.submit(
    params.id,
    requestKey === undefined ? input : { ...input, requestKey },
    ifTurn === undefined ? {} : { ifTurn },
  );
  if (submitted.kind === "refused") throw refusalProblem(submitted.refusal);
  const summary = summaryFor(record, submitted.run);
  const ignored = submitted.kind === "ignored" ? { ignored: true, ignored_because: submitted.why } : {};
  return { status: 200, body: { ...summary, ...ignored }, headers: tagOf(submitted.run.turn) };
}

const notePrefix = (requestId: string): string => `http ${requestId.slice(0, 32)} `;

const noteOf = ({ requestId, bodyHash = "" }: SayRequest): string | undefined =>
  requestId === undefined ? undefined : `${notePrefix(requestId)}${bodyHash.slice(0, 32)}`;

/** The answer of the turn that this request led to before. */
async function repeated(
  { engine, store }: ServerParts,
  request: SayRequest,
  record: RunRecord,
): Promise<Reply | undefined> {
  const { requestId, key } = request;
  if (requestId === undefined) return undefined;
  const now = await engine.load(record.run);
  const note = Object.keys(now?.dedupe ?? {}).find((one) => one.startsWith(notePrefix(requestId)));
  if (note === undefined) return undefined;
  if (note !== noteOf(request)) throw keyReused(key ?? "");
  const turn = await turnNoting(store, record.run, now?.turn ?? 0, note);
  const run = await runAt(store, record.run, turn);
  return { status: 200, body: summaryFor(record, run), headers: { ...tagOf(turn), ...REPLAYED } };
}

/** Turns read at a time, from the last one back. */
const PAGE = 200;

async function turnNoting(store: Store, run: string, last: number, note: string): Promise<number> {
  for (let to = last; to > 0; to -= PAGE) {
    const rows = await store.rows(run, { from: Math.max(1, to - PAGE + 1), to, limit: PAGE });
    const found = rows.find(({ facts }) =>
      facts.some((fact) => fact.type === "noted" && fact.what === "dedupe" && fact.key === note),
    );
    if (found !== undefined) return found.turn;
  }
  throw new Error(`run ${run} knows a request that no turn of it noted`);
}
