// Starting runs, listing them, looking at one, cancelling and removing it.

import { z } from "@hono/zod-openapi";
import type { RunRecord } from "../../engine/ports.ts";
import { runLine } from "../../host/run-line.ts";
import { eachRecord, knownRecord, loadedRun, runAt } from "../../host/stored-runs.ts";
import { type BegunRun, beginRun } from "../begin-run.ts";
import { badCursor, cursorText, fromCursor, toCursor } from "../cursor.ts";
import { REPLAYED } from "../idempotent-replies.ts";
import { isOver } from "../is-over.ts";
import { Problem, refusalProblem } from "../problem.ts";
import { type Reply, type RouteRequest, route, tagOf } from "../route.ts";
import { sayTo, summaryFor } from "../run-summary.ts";
import { cancelBody, startBody } from "../schemas/requests.ts";
import { removed, runList, summary } from "../schemas/run-shapes.ts";
import { limitText, positiveText, runParams, status } from "../schemas/shared.ts";
import { speaker } from "../scope.ts";

/** Runs looked at for one page of a search; the cursor goes on from there. */
const SCANNED_MAX = 2_000;

type StartRequest = RouteRequest<unknown, unknown, z.infer<typeof startBody>>;

const startARun = route({
  method: "post",
  path: "/api/runs",
  name: "startRun",
  tag: "runs",
  summary: "Start a run",
  scope: "runs:write",
  body: startBody,
  idempotent: true,
  answers: {
    201: {
      description: "Started, or found by its key.",
      schema: summary,
      headers: { Location: "Where the run is.", ETag: "Its turn." },
    },
  },
  problems: [
    ...([
      "unknown-pack",
      "pack-invalid",
      "script-invalid",
      "variable-invalid",
      "budget-not-tighter",
    ] as const),
    ...(["unknown-state", "unknown-prompt", "unknown-agent", "unsupported", "cannot-start"] as const),
  ],
  async handle({ body, principal, key, bodyHash }: StartRequest, parts) {
    const { context_id: context, ...wish } = body;
    const setup = context === undefined ? {} : { context_id: context };
    const begun = await beginRun(parts, principal, { ...wish, key, requestHash: bodyHash, setup });
    if (!begun.found) return startedReply(begun);
    // As it was when it had just begun, which is what the first request was answered with.
    const reply = startedReply({ ...begun, run: await runAt(parts.store, begun.record.run, 1) });
    return { ...reply, headers: { ...reply.headers, ...REPLAYED } };
  },
});

function startedReply({ record, run }: BegunRun): Reply {
  const location = `/api/runs/${encodeURIComponent(record.run)}`;
  return { status: 201, body: summaryFor(record, run), headers: { ...tagOf(run.turn), location } };
}

const listQuery = z.strictObject({
  status: z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(status))
    .optional()
    .openapi({ type: "string", description: "One status or several, with commas between them." }),
  pack: z.string().optional().openapi({ description: "The id of a pack." }),
  parent: z
    .string()
    .optional()
    .openapi({ description: "Runs of this run's agents; empty for runs that nobody called." }),
  text: z
    .string()
    .max(200)
    .optional()
    .openapi({ description: "Found in the run, its pack, version, digest, state, reason or key." }),
  cursor: cursorText.optional(),
  limit: limitText(200, 50),
});

const listRuns = route({
  method: "get",
  path: "/api/runs",
  name: "listRuns",
  tag: "runs",
  summary: "List runs, the newest first",
  scope: "runs:read",
  query: listQuery,
  answers: {
    200: { description: "A page. A search may give short pages before the last one.", schema: runList },
  },
  async handle({ query }: RouteRequest<unknown, z.infer<typeof listQuery>, unknown>, { store, log }) {
    const { cursor, limit, pack, parent, text } = query;
    const before = fromCursor(cursor);
    if (before !== undefined && (await store.record(before)) === undefined) throw badCursor(cursor ?? "");
    const filter = {
      ...(query.status !== undefined && { status: query.status }),
      ...(pack !== undefined && { packId: pack }),
      ...(parent !== undefined && parent !== "" && { parent }),
      ...(before !== undefined && { before }),
      // One more, to know whether there is a next page.
      page: limit + 1,
    };
    const fits = (record: RunRecord) => (parent !== "" || record.parent === null) && hasText(record, text);
    const items: RunRecord[] = [];
    let last: string | undefined;
    let scanned = 0;
    let next: string | undefined;
    for await (const record of eachRecord(store, filter, (run) => log.error({ run }, "a run is damaged"))) {
      if (items.length === limit || scanned === SCANNED_MAX) {
        next = last;
        break;
      }
      if (fits(record)) items.push(record);
      last = record.run;
      scanned++;
    }
    return { status: 200, body: { items: items.map(runLine), next_cursor: toCursor(next) } };
  },
});

function hasText(record: RunRecord, text: string | undefined): boolean {
  if (text === undefined || text === "") return true;
  const wanted = text.toLowerCase();
  const { run, packId, packVersion, digest, state, reason, key } = record;
  return [run, packId, packVersion, digest, state, reason, key].some((one) =>
    (one ?? "").toLowerCase().includes(wanted),
  );
}

const atQuery = z.strictObject({
  at: positiveText.optional().openapi({ description: "As it was after this turn." }),
  output: z
    .enum(["all", "none"])
    .optional()
    .openapi({ description: "`none` leaves out what the run came to, which may be large." }),
});

const getRun = route({
  method: "get",
  path: "/api/runs/{id}",
  name: "getRun",
  tag: "runs",
  summary: "How a run stands, or stood after a turn",
  scope: "runs:read",
  params: runParams,
  query: atQuery,
  answers: {
    200: { description: "The summary.", schema: summary, headers: { ETag: "Its turn." } },
    304: { description: "Nothing has changed since the turn in If-None-Match." },
  },
  problems: ["unknown-run", "unknown-turn"],
  async handle({ params, query }: RouteRequest<{ id: string }, z.infer<typeof atQuery>, unknown>, { store }) {
    const { record, run } = await loadedRun(store, params.id, query.at);
    const body = summaryFor(record, run);
    const shown = query.output === "none" ? { ...body, output: null } : body;
    return { status: 200, body: shown, headers: tagOf(run.turn) };
  },
});

const cancelRun = route({
  method: "post",
  path: "/api/runs/{id}/cancel",
  name: "cancelRun",
  tag: "runs",
  summary: "Cancel a run and the agents it called",
  scope: "runs:write",
  params: runParams,
  body: cancelBody,
  bodyOptional: true,
  idempotent: true,
  conditional: true,
  answers: { 200: { description: "The summary.", schema: summary, headers: { ETag: "Its turn." } } },
  problems: ["unknown-run"],
  handle(request: RouteRequest<{ id: string }, unknown, z.infer<typeof cancelBody>>, parts) {
    const { by, reason = "" } = request.body;
    const at = parts.clock.now();
    return sayTo(parts, request, { type: "cancel", at, by: speaker(request.principal, by), reason });
  },
});

const removeRun = route({
  method: "delete",
  path: "/api/runs/{id}",
  name: "removeRun",
  tag: "runs",
  summary: "Remove a run that has ended, with its history and the runs of its agents",
  scope: "runs:write",
  params: runParams,
  conditional: true,
  answers: { 200: { description: "What was removed.", schema: removed } },
  problems: ["unknown-run", "run-unfinished"],
  async handle({ params, ifTurn }: RouteRequest<{ id: string }, unknown, unknown>, parts) {
    const { store, webhooks, side, clock } = parts;
    const record = await knownRecord(store, params.id);
    if (ifTurn !== undefined && ifTurn !== record.turn)
      throw refusalProblem({ code: "precondition-failed", expected: ifTurn, turn: record.turn });
    const children = await store.names({ prefix: `${params.id}/`, limit: Number.MAX_SAFE_INTEGER });
    const all = [params.id, ...children];
    for (const run of all) {
      const one = await knownRecord(store, run);
      if (!isOver(one)) throw new Problem("run-unfinished", `run \`${run}\` has not ended (cancel it first)`);
    }
    await store.remove(all);
    side.noteRemoved(all, clock.now());
    await parts.worlds.removeFiles(all);
    webhooks.forgetRuns(all);
    return { status: 200, body: { removed: all } };
  },
});

export const runRoutes = [startARun, listRuns, getRun, cancelRun, removeRun];
