// What happens, as it happens: server-sent events of one run, and of all runs.

import { z } from "@hono/zod-openapi";
import { loadedRun } from "../../host/stored-runs.ts";
import { eventStream } from "../event-stream.ts";
import { allEvents, runEvents } from "../event-text.ts";
import { hasEnded, isOver } from "../is-over.ts";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { summaryFor } from "../run-summary.ts";
import { runParams, valuesText, wholeText } from "../schemas/shared.ts";
import type { ServerParts } from "../server-parts.ts";

const TYPE = "text/event-stream";

const followQuery = z.strictObject({
  after: wholeText.optional().openapi({ description: "As Last-Event-ID, which wins over it." }),
  ticket: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: "In place of a token; see POST /api/tickets." }),
});

const followRunQuery = followQuery.extend({ values: valuesText });

type FollowQuery = z.infer<typeof followQuery>;

const followRun = route({
  method: "get",
  path: "/api/runs/{id}/stream",
  name: "followRun",
  tag: "history",
  streams: true,
  summary: "Follow a run: its turns from the first on, then as they come",
  scope: "runs:read",
  params: runParams,
  query: followRunQuery,
  answers: {
    200: {
      description:
        "Without a place first `snapshot` with the summary; then `turn` (the turn is its id), `token` (streamed text, without an id), `resync` for who is left behind, `end`.",
      schema: z.string(),
      type: TYPE,
    },
    204: { description: "The run has ended, and every turn of it is known." },
  },
  problems: ["unknown-run", "run-removed", "too-many-readers"],
  async handle(request: RouteRequest<{ id: string }, z.infer<typeof followRunQuery>, unknown>, parts) {
    const { id } = request.params;
    const after = placeOf(request);
    const record = await parts.store.record(id);
    if (record === undefined) throw missing(parts, id);
    if (isOver(record) && after !== undefined && after >= record.turn) return { status: 204 };
    const reader = parts.feed.follow(id);
    const snapshot = async () => {
      const { run } = await loadedRun(parts.store, id);
      return summaryFor(record, run);
    };
    const { values } = request.query;
    const followed = { id, after, reader, values, ended: hasEnded(record), snapshot };
    return eventStream(runEvents(parts.store, followed), reader);
  },
});

function missing({ side }: ServerParts, id: string): Problem {
  return side.wasRemoved(id)
    ? new Problem("run-removed", `run \`${id}\` was removed`)
    : new Problem("unknown-run", `run \`${id}\` does not exist (see packloop ls)`);
}

function placeOf({ header, query }: RouteRequest<unknown, FollowQuery, unknown>): number | undefined {
  const last = header("last-event-id");
  if (last === undefined || last === "") return query.after;
  if (/^\d{1,15}$/.test(last)) return Number(last);
  throw new Problem("bad-request", "Last-Event-ID expects the id of an event of this stream");
}

const followAll = route({
  method: "get",
  path: "/api/stream",
  name: "followAll",
  tag: "runs",
  streams: true,
  summary: "Follow all runs: every turn, in one order",
  scope: "runs:read",
  query: followQuery,
  answers: {
    200: {
      description:
        "Without a place first `snapshot` with the newest one; then `turn` (its place among all turns is its id), `resync` for who is left behind.",
      schema: z.string(),
      type: TYPE,
    },
  },
  problems: ["cursor-expired", "too-many-readers"],
  async handle(request: RouteRequest<unknown, FollowQuery, unknown>, parts) {
    const after = placeOf(request);
    if (after !== undefined && !parts.stream.holds(after))
      throw new Problem("cursor-expired", `place ${after} is too old (look at the list, then begin anew)`);
    const reader = parts.feed.followAll();
    return eventStream(allEvents(parts, { after, reader }), reader);
  },
});

export const streamRoutes = [followRun, followAll];
