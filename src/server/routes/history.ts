// The way a run took: its trace, its turns and its artifacts at any of them.

import { z } from "@hono/zod-openapi";
import { put } from "../../base/json.ts";
import { emptyRun } from "../../core/run.ts";
import { artifactsOf } from "../../core/summary.ts";
import { type TraceRow, Tracer } from "../../core/trace.ts";
import { knownRecord, loadedRun, runAt, turnsOf } from "../../host/stored-runs.ts";
import { cursorText, toCursor } from "../cursor.ts";
import { Problem } from "../problem.ts";
import { type Reply, type RouteRequest, route, tagOf } from "../route.ts";
import { artifact, artifacts, traceRow, turnList } from "../schemas/run-shapes.ts";
import { limitText, positiveText, runParams, wholeText } from "../schemas/shared.ts";
import type { ServerParts } from "../server-parts.ts";
import { turnJson } from "../turn-json.ts";

type RunPath = { readonly id: string };

const traceQuery = z.strictObject({
  after: wholeText.optional().openapi({ description: "Rows of later turns than this." }),
  at: positiveText.optional().openapi({ description: "Only the rows of this turn." }),
  limit: limitText(10_000, 1_000),
  values: z
    .enum(["all", "changed"])
    .optional()
    .openapi({ description: "`changed` leaves out artifacts that a row did not change." }),
});

type TraceRequest = RouteRequest<RunPath, z.infer<typeof traceQuery>, unknown>;

const getTrace = route({
  method: "get",
  path: "/api/runs/{id}/trace",
  name: "getTrace",
  tag: "history",
  summary: "The way a run took, one row per transition",
  scope: "runs:read",
  params: runParams,
  query: traceQuery,
  answers: {
    200: {
      description: "Rows in order.",
      schema: z.array(traceRow),
      headers: { Link: "The next page, where there is one.", ETag: "The run's turn." },
    },
    304: { description: "Nothing has changed since the turn in If-None-Match." },
  },
  problems: ["unknown-run", "unknown-turn"],
  handle: (request: TraceRequest, parts) => tracePage(request, parts),
});

async function tracePage({ params, query, url }: TraceRequest, { store }: ServerParts): Promise<Reply> {
  const { turn: last } = await knownRecord(store, params.id);
  if (query.at !== undefined && query.at > last)
    throw new Problem("unknown-turn", `run \`${params.id}\` has no turn ${query.at} (it has 1 to ${last})`);
  const after = query.at === undefined ? Math.min(query.after ?? 0, last) : query.at - 1;
  const tracer = new Tracer(after === 0 ? emptyRun : await runAt(store, params.id, after));
  const rows: TraceRow[] = [];
  let next: number | undefined;
  for await (const row of turnsOf(store, params.id, { from: after + 1, to: query.at ?? last })) {
    if (rows.length >= query.limit) {
      next = row.turn - 1;
      break;
    }
    rows.push(...tracer.take(row));
  }
  const body = query.values === "changed" ? rows.map(onlyChanged) : rows;
  const page = new URLSearchParams(url.searchParams);
  page.set("after", String(next));
  const link = next === undefined ? {} : { link: `<${url.pathname}?${page.toString()}>; rel="next"` };
  return { status: 200, body, headers: { ...tagOf(last), ...link } };
}

function onlyChanged(row: TraceRow): TraceRow {
  const values = {};
  for (const name of row.changed) put(values, name, row.artifacts[name]);
  return { ...row, artifacts: values };
}

const factsQuery = z.strictObject({
  from: positiveText.optional(),
  to: positiveText.optional(),
  limit: limitText(1_000, 200),
  cursor: cursorText.optional(),
});

const getFacts = route({
  method: "get",
  path: "/api/runs/{id}/facts",
  name: "getFacts",
  tag: "history",
  summary: "The turns of a run with their facts",
  scope: "runs:read",
  params: runParams,
  query: factsQuery,
  answers: {
    200: { description: "A page of turns.", schema: turnList, headers: { ETag: "The run's turn." } },
  },
  problems: ["unknown-run"],
  async handle({ params, query }: RouteRequest<RunPath, z.infer<typeof factsQuery>, unknown>, { store }) {
    const { turn: last } = await knownRecord(store, params.id);
    const from = Math.max(query.from ?? 1, turnIn(query.cursor));
    const to = Math.min(query.to ?? last, last);
    const rows = await store.rows(params.id, { from, to, limit: query.limit });
    const next = from + rows.length;
    const items = rows.map((row) => turnJson(params.id, row));
    const cursor = next <= to ? toCursor(String(next)) : null;
    return { status: 200, body: { items, next_cursor: cursor }, headers: tagOf(last) };
  },
});

function turnIn(cursor: string | undefined): number {
  if (cursor === undefined) return 1;
  const turn = Buffer.from(cursor, "base64url").toString("utf8");
  if (/^[1-9]\d{0,14}$/.test(turn)) return Number(turn);
  throw new Problem("bad-request", "that is not a cursor of this list (begin anew without it)");
}

const atQuery = z.strictObject({ at: positiveText.optional().openapi({ description: "After this turn." }) });

const getArtifacts = route({
  method: "get",
  path: "/api/runs/{id}/artifacts",
  name: "getArtifacts",
  tag: "history",
  summary: "The artifacts of a run, now or after a turn",
  scope: "runs:read",
  params: runParams,
  query: atQuery,
  answers: { 200: { description: "Their values.", schema: artifacts, headers: { ETag: "The turn." } } },
  problems: ["unknown-run", "unknown-turn"],
  async handle({ params, query }: RouteRequest<RunPath, { at?: number | undefined }, unknown>, { store }) {
    const { id, turn, run } = await loadedRun(store, params.id, query.at);
    return { status: 200, body: { run: id, turn, artifacts: artifactsOf(run) }, headers: tagOf(turn) };
  },
});

const getArtifact = route({
  method: "get",
  path: "/api/runs/{id}/artifacts/{name}",
  name: "getArtifact",
  tag: "history",
  summary: "One artifact of a run, now or after a turn",
  scope: "runs:read",
  params: runParams.extend({ name: z.string().min(1).max(500) }),
  query: atQuery,
  answers: { 200: { description: "Its value.", schema: artifact, headers: { ETag: "The turn." } } },
  problems: ["unknown-run", "unknown-turn", "unknown-artifact"],
  async handle(
    request: RouteRequest<RunPath & { name: string }, { at?: number | undefined }, unknown>,
    { store },
  ) {
    const { name } = request.params;
    const { id, turn, run } = await loadedRun(store, request.params.id, request.query.at);
    const all = artifactsOf(run);
    if (!Object.hasOwn(all, name))
      throw new Problem("unknown-artifact", `run \`${id}\` has no artifact \`${name}\` at turn ${turn}`);
    return { status: 200, body: { run: id, turn, name, value: all[name] }, headers: tagOf(turn) };
  },
});

export const historyRoutes = [getTrace, getFacts, getArtifacts, getArtifact];
