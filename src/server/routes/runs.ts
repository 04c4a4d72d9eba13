// Starting runs, listing them, looking at one, cancelling and removing it.

import { z } from "@hono/zod-openapi";
import type { Status } from "../../core/facts.ts";
import type { RunRecord } from "../../engine/ports.ts";
import { goalSetup } from "../../host/goal-claim.ts";
import { runLine } from "../../host/run-line.ts";
import { fitsWish, type RunWish, runWhere, timeIn, whereFields } from "../../host/run-where.ts";
import { eachRecord, knownRecord, loadedRun, type RecordFilter, runAt } from "../../host/stored-runs.ts";
import { type BegunRun, beginRun } from "../begin-run.ts";
import { badCursor, cursorText, fromCursor, toCursor } from "../cursor.ts";
import { REPLAYED } from "../idempotent-replies.ts";
import { isOver } from "../is-over.ts";
import { Problem, refusalProblem } from "../problem.ts";
import { type Reply, type RouteRequest, route, tagOf } from "../route.ts";
import { sayTo, summaryFor } from "../run-summary.ts";
import { cancelBody, pauseBody, startBody, unpauseBody } from "../schemas/requests.ts";
import { removed, runList, summary } from "../schemas/run-shapes.ts";
import { limitText, positiveText, runParams, status } from "../schemas/shared.ts";
import { speaker } from "../scope.ts";

/** Runs looked at for one page of a search, and how long; the cursor goes on from there. */
const SCANNED_MAX = 2_000;
const SCAN_MS = 100;

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
    const { context_id: context, goal, ...wish } = body;
    const setup = {
      ...(context !== undefined && { context_id: context }),
      ...(goal !== undefined && goalSetup(goal.max_steps)),
    };
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
  reason: z.string().max(200).optional().openapi({ description: "The code of the reason it ended for." }),
  since: z.string().max(40).optional().openapi({
    description:
      "Changed then or later: `2026-01-31`, `2026-01-31T12:00:00Z`, or `2h`, which is two hours ago.",
  }),
  until: z.string().max(40).optional().openapi({ description: "Changed before that; written like `since`." }),
  where: z
    .string()
    .max(2_000)
    .optional()
    .openapi({
      description: `An expression, as of \`packloop ls --where\`: \`visits>10 and status=budget_exhausted\`. Names: ${[
        ...whereFields.keys(),
      ].join(", ")}.`,
    }),
  cursor: cursorText.optional(),
  limit: limitText(200, 50),
});

type ListQuery = z.infer<typeof listQuery>;

/** The status and the pack that every run of the list has: an index leads to those. */
function listFilter({ status: wished, pack, parent, limit }: ListQuery, wish: RunWish): RecordFilter {
  const needs = wish.where?.needs;
  const needed = needs?.get("status") as Status | undefined;
  const statuses = needed === undefined ? wished : (wished ?? [needed]).filter((one) => one === needed);
  const packId = pack ?? needs?.get("pack");
  // One more than a page, to know whether there is a next one; a search takes more at a time.
  const isSearch = wish.where !== undefined || wish.reason !== undefined || wish.text !== undefined;
  return {
    ...(statuses !== undefined && { status: statuses }),
    ...(packId !== undefined && { packId }),
    ...(parent !== undefined && parent !== "" && { parent }),
    page: isSearch ? SCANNED_MAX / 10 : limit + 1,
  };
}

function wishOf({ text, reason, since, until, where }: ListQuery, now: number): RunWish {
  const parsed = where === undefined || where.trim() === "" ? undefined : runWhere(where);
  if (parsed?.ok === false) throw new Problem("bad-request", `where: ${parsed.problem.message}`);
  return {
    text,
    reason,
    since: momentOf("since", since, now),
    until: momentOf("until", until, now),
    where: parsed,
    now,
  };
}

function momentOf(name: string, given: string | undefined, now: number): number | undefined {
  if (given === undefined || given === "") return undefined;
  const moment = timeIn(given, now);
  if (moment !== undefined) return moment;
  throw new Problem(
    "bad-request",
    `${name}: \`${given}\` is no time (expected 2026-01-31, 2026-01-31T12:00:00Z, or 2h for two hours ago)`,
  );
}

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
  async handle({ query }: RouteRequest<unknown, ListQuery, unknown>, { store, log, clock }) {
    const { cursor, limit, parent } = query;
    const before = fromCursor(cursor);
    if (before !== undefined && (await store.record(before)) === undefined) throw badCursor(cursor ?? "");
    const begun = clock.now();
    const wish = wishOf(query, begun);
    const filter = { ...listFilter(query, wish), ...(before !== undefined && { before }) };
    const fits = (record: RunRecord) => (parent !== "" || record.parent === null) && fitsWish(record, wish);
    const items: RunRecord[] = [];
    let last: string | undefined;
    let scanned = 0;
    let next: string | undefined;
    for await (const record of eachRecord(store, filter, (run) => log.error({ run }, "a run is damaged"))) {
      const isLong = scanned === SCANNED_MAX || (scanned > limit && clock.now() - begun > SCAN_MS);
      if (items.length === limit || isLong) {
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

type Held = RouteRequest<{ id: string }, unknown, z.infer<typeof pauseBody>>;

const pauseRun = route({
  method: "post",
  path: "/api/runs/{id}/pause",
  name: "pauseRun",
  tag: "runs",
  summary: "Hold a run and the agents it called: nothing of it leaves until it is let go",
  scope: "runs:write",
  params: runParams,
  body: pauseBody,
  bodyOptional: true,
  idempotent: true,
  conditional: true,
  answers: { 200: { description: "The summary.", schema: summary, headers: { ETag: "Its turn." } } },
  problems: ["unknown-run"],
  handle(request: Held, parts) {
    const { by, reason } = request.body;
    const at = parts.clock.now();
    const who = speaker(request.principal, by);
    return sayTo(parts, request, { type: "pause", at, by: who, ...(reason !== undefined && { reason }) });
  },
});

const unpauseRun = route({
  method: "post",
  path: "/api/runs/{id}/unpause",
  name: "unpauseRun",
  tag: "runs",
  summary: "Let a run go that somebody holds",
  scope: "runs:write",
  params: runParams,
  body: unpauseBody,
  bodyOptional: true,
  idempotent: true,
  conditional: true,
  answers: { 200: { description: "The summary.", schema: summary, headers: { ETag: "Its turn." } } },
  problems: ["unknown-run"],
  handle(request: RouteRequest<{ id: string }, unknown, z.infer<typeof unpauseBody>>, parts) {
    const at = parts.clock.now();
    const by = speaker(request.principal, request.body.by);
    return sayTo(parts, request, { type: "unpause", at, by });
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
    for (const run of all) parts.blobs.files.drop(run);
    return { status: 200, body: { removed: all } };
  },
});

export const runRoutes = [startARun, listRuns, getRun, cancelRun, pauseRun, unpauseRun, removeRun];
