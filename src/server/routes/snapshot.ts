// A run around a turn, in one answer: how it stood before, and the turns from there on. Whoever folds
// journals shows any turn of a long run with it, long before the whole journal is read.

import { z } from "@hono/zod-openapi";
import { put } from "../../base/json.ts";
import { itemsOf, type Log, logOf } from "../../base/log.ts";
import { type ArtifactValue, emptyRun, type Run } from "../../core/run.ts";
import { shortRun } from "../../core/short-turn.ts";
import { knownRecord, runAt } from "../../host/stored-runs.ts";
import { Problem } from "../problem.ts";
import { IMMUTABLE, type RouteRequest, route, tagOf } from "../route.ts";
import { snapshot } from "../schemas/run-shapes.ts";
import { positiveText, runParams, valuesText, wholeText } from "../schemas/shared.ts";
import { turnJsonWith } from "../turn-json.ts";

/** Turns on each side at most. */
const SIDE_MAX = 500;
const SIDE = 200;

const sideText = (description: string) =>
  wholeText
    .default(SIDE)
    .transform((turns) => Math.min(turns, SIDE_MAX))
    .openapi({ type: "integer", minimum: 0, maximum: SIDE_MAX, default: SIDE, description });

const aroundQuery = z.strictObject({
  at: positiveText.optional().openapi({ description: "The turn that is looked at; the last if left out." }),
  before: sideText("Turns that come before it."),
  after: sideText("Turns that come after it, as far as there are."),
  values: valuesText,
});

type AroundRequest = RouteRequest<{ readonly id: string }, z.infer<typeof aroundQuery>, unknown>;

const getSnapshot = route({
  method: "get",
  path: "/api/runs/{id}/snapshot",
  name: "getSnapshot",
  tag: "history",
  summary: "A run before a turn, folded, and the turns from there on",
  scope: "runs:read",
  params: runParams,
  query: aroundQuery,
  answers: {
    200: {
      description: "A folded run and the turns that follow it. With all turns asked for it never changes.",
      schema: snapshot,
      headers: { ETag: "The run's turn." },
    },
    304: { description: "Nothing has changed since the turn in If-None-Match." },
  },
  problems: ["unknown-run", "unknown-turn"],
  async handle({ params: { id }, query }: AroundRequest, { store }) {
    const { turn: last } = await knownRecord(store, id);
    const at = query.at ?? last;
    if (at > last) throw new Problem("unknown-turn", `run \`${id}\` has no turn ${at} (it has 1 to ${last})`);
    const base = Math.max(0, at - 1 - query.before);
    const to = Math.min(at + query.after, last);
    const run = base === 0 ? emptyRun : await runAt(store, id, base);
    const rows = await store.rows(id, { from: base + 1, to, limit: to - base });
    const isFull = query.at !== undefined && at + query.after <= last;
    const { values } = query;
    const items = rows.map((row) => turnJsonWith(id, row, values));
    return {
      status: 200,
      body: { run: id, snapshot: values === "short" ? shortRun(run) : withOwnCells(run), items },
      headers: isFull ? { ...tagOf(last), ...IMMUTABLE } : tagOf(last),
    };
  },
});

/** Logs share their storage with longer ones; what is sent holds no more than is theirs. */
function withOwnCells(run: Run): Run {
  const artifacts: Record<string, ArtifactValue> = {};
  for (const [name, artifact] of Object.entries(run.artifacts))
    put(
      artifacts,
      name,
      artifact.mode === "append" ? { ...artifact, pieces: own(artifact.pieces) } : artifact,
    );
  return { ...run, conversation: own(run.conversation), artifacts };
}

const own = <T>(log: Log<T>): Log<T> => logOf(itemsOf(log));

export const snapshotRoutes = [getSnapshot];
