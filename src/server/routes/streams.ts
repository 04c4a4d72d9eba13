// What happens, as it happens: server-sent events of one run, and of the list of runs.

import { z } from "@hono/zod-openapi";
import { runLine } from "../../host/run-line.ts";
import { knownRecord } from "../../host/stored-runs.ts";
import { eventStream } from "../event-stream.ts";
import { listEvents, runEvents } from "../event-text.ts";
import { hasEnded, isOver } from "../is-over.ts";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { runParams, wholeText } from "../schemas/shared.ts";

const TYPE = "text/event-stream";

const followQuery = z.strictObject({
  after: wholeText.optional().openapi({ description: "As Last-Event-ID, which wins over it." }),
});

const followRun = route({
  method: "get",
  path: "/api/runs/{id}/events",
  name: "followRun",
  tag: "history",
  streams: true,
  summary: "Follow a run: its turns from the first on, then as they come",
  scope: "runs:read",
  params: runParams,
  query: followQuery,
  answers: {
    200: {
      description: "Events `turn` (with the turn as id), `delta` (streamed text, without one), then `end`.",
      schema: z.string(),
      type: TYPE,
    },
    204: { description: "The run has ended, and every turn of it is known." },
  },
  problems: ["unknown-run", "too-many-readers"],
  async handle(request: RouteRequest<{ id: string }, z.infer<typeof followQuery>, unknown>, parts) {
    const { id } = request.params;
    const after = lastSeen(request.header("last-event-id")) ?? request.query.after ?? 0;
    const record = await knownRecord(parts.store, id);
    if (isOver(record) && after >= record.turn) return { status: 204 };
    const reader = parts.feed.follow(id);
    return eventStream(runEvents(parts.store, { id, after, reader, ended: hasEnded(record) }), reader);
  },
});

function lastSeen(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,15}$/.test(header)) return Number(header);
  throw new Problem("bad-request", "Last-Event-ID expects the number of a turn");
}

const followRuns = route({
  method: "get",
  path: "/api/events",
  name: "followRuns",
  tag: "runs",
  streams: true,
  summary: "Follow the list of runs: each run that moves, as it stands",
  scope: "runs:read",
  answers: {
    200: {
      description: "Events `run` with an entry of the list, and `resync` when some were left out.",
      schema: z.string(),
      type: TYPE,
    },
  },
  problems: ["too-many-readers"],
  async handle(_request, { feed, store }) {
    const reader = feed.followAll();
    const line = async (run: string) => {
      const record = await store.record(run);
      return record === undefined ? undefined : runLine(record);
    };
    return eventStream(listEvents(reader, line), reader);
  },
});

export const streamRoutes = [followRun, followRuns];
