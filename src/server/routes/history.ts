// The way a run took: its trace, its turns and its artifacts at any of them.

import { z } from "@hono/zod-openapi";
import { isoTime } from "../../base/iso-time.ts";
import { type Json, type JsonObject, put } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import type { TurnRow } from "../../core/facts.ts";
import { oneLineOf } from "../../core/one-line.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import { artifactsOf, childrenOf } from "../../core/summary.ts";
import { rowsWithChildren, type TraceRow, Tracer } from "../../core/trace.ts";
import type { Store } from "../../engine/ports.ts";
import { knownRecord, loadedRun, runAt, turnsOf } from "../../host/stored-runs.ts";
import { BATCH_TYPE, type CloudEvent, cloudEvents } from "../cloud-event.ts";
import { cursorText, toCursor } from "../cursor.ts";
import { Problem } from "../problem.ts";
import { IMMUTABLE, type Reply, type RouteRequest, route, tagOf } from "../route.ts";
import { placeBefore } from "../row-place.ts";
import { artifact, artifacts, factList, traceRow, turnList } from "../schemas/run-shapes.ts";
import { limitText, positiveText, runParams, valuesText, wholeText } from "../schemas/shared.ts";
import type { ServerParts } from "../server-parts.ts";
import { turnJsonWith } from "../turn-json.ts";

type RunPath = { readonly id: string };

const traceQuery = z.strictObject({
  after: wholeText.optional().openapi({ description: "Rows of later turns than this." }),
  at: positiveText.optional().openapi({ description: "Only the rows of this turn." }),
  row: positiveText
    .optional()
    .openapi({ description: "From this row on, in place of `after`; 1 is the first." }),
  limit: limitText(10_000, 1_000),
  values: z.enum(["all", "changed", "short"]).optional().openapi({
    description: "`changed` leaves out artifacts that a row did not change; `short` cuts values to one line.",
  }),
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
  const { id } = params;
  const { turn: last } = await knownRecord(store, id);
  const run = await runAt(store, id, last);
  const { turn: after, skip } = await traceStart(store, { id, query, run });
  const tracer = new Tracer(after === 0 ? emptyRun : await runAt(store, id, after));
  const rows: TraceRow[] = [];
  let next: number | undefined;
  for await (const row of turnsOf(store, id, { from: after + 1, to: query.at ?? last })) {
    if (rows.length >= query.limit + skip) {
      next = row.turn - 1;
      break;
    }
    rows.push(...tracer.take(row));
  }
  const shown = rowsWithChildren(rows.slice(skip), childrenOf(id, run));
  const body = shown.map(SHOWN[query.values ?? "all"]);
  const page = new URLSearchParams(url.searchParams);
  page.delete("row");
  page.set("after", String(next));
  const link = next === undefined ? {} : { link: `<${url.pathname}?${page.toString()}>; rel="next"` };
  return { status: 200, body, headers: { ...tagOf(last), ...link } };
}

interface TraceStart {
  readonly id: string;
  readonly query: TraceRequest["query"];
  /** At its last turn. */
  readonly run: Run;
}

/** The turn that the rows come after, and how many of those are not asked for. */
async function traceStart(store: Store, { id, query, run }: TraceStart) {
  const { at, after, row } = query;
  const { turn: last } = run;
  if (row !== undefined && (at ?? after) !== undefined)
    throw new Problem("bad-request", "`row` stands in place of `after` and `at` (give one of them)");
  if (at !== undefined && at > last)
    throw new Problem("unknown-turn", `run \`${id}\` has no turn ${at} (it has 1 to ${last})`);
  if (row === undefined) return { turn: at === undefined ? Math.min(after ?? 0, last) : at - 1, skip: 0 };
  const { turn, rows } = await placeBefore(store, { id, row, run });
  return { turn, skip: rows < row ? row - 1 - rows : 0 };
}

const SHOWN = {
  all: (row: TraceRow): TraceRow => row,
  changed: (row: TraceRow): TraceRow => ({ ...row, artifacts: picked(row, row.changed, (value) => value) }),
  short: (row: TraceRow): TraceRow => ({
    ...row,
    artifacts: picked(row, Object.keys(row.artifacts), (value) => oneLineOf(value)),
  }),
} as const;

function picked(
  { artifacts: values }: TraceRow,
  names: readonly string[],
  shownAs: (value: Json) => Json,
): JsonObject {
  const kept = {};
  for (const name of names) {
    const value = values[name];
    if (value !== undefined) put(kept, name, shownAs(value));
  }
  return kept;
}

const turnsQuery = z.strictObject({
  from: positiveText.optional(),
  to: positiveText.optional(),
  limit: limitText(500, 100),
  cursor: cursorText.optional(),
});

const wholeTurnsQuery = turnsQuery.extend({ values: valuesText });

type TurnsRequest = RouteRequest<RunPath, z.infer<typeof turnsQuery>, unknown>;
type WholeTurnsRequest = RouteRequest<RunPath, z.infer<typeof wholeTurnsQuery>, unknown>;

interface TurnPage {
  readonly rows: readonly TurnRow[];
  readonly next: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** What was asked for in full never changes: a turn is never written twice. */
async function turnPage({ params, query }: TurnsRequest, { store }: ServerParts): Promise<TurnPage> {
  const { turn: last } = await knownRecord(store, params.id);
  const from = Math.max(query.from ?? 1, turnIn(query.cursor));
  const to = Math.min(query.to ?? last, last);
  const rows = await store.rows(params.id, { from, to, limit: query.limit });
  const next = from + rows.length;
  const isFull = rows.length === query.limit || (query.to !== undefined && query.to <= last);
  const headers = isFull ? { ...tagOf(last), ...IMMUTABLE } : tagOf(last);
  return { rows, next: next <= to ? toCursor(String(next)) : null, headers };
}

const getTurns = route({
  method: "get",
  path: "/api/runs/{id}/turns",
  name: "getTurns",
  tag: "history",
  summary: "The turns of a run with their facts",
  scope: "runs:read",
  params: runParams,
  query: wholeTurnsQuery,
  answers: {
    200: {
      description: "A page of turns. A full one never changes.",
      schema: turnList,
      headers: { ETag: "The run's turn." },
    },
    304: { description: "Nothing has changed since the turn in If-None-Match." },
  },
  problems: ["unknown-run"],
  async handle(request: WholeTurnsRequest, parts) {
    const { rows, next, headers } = await turnPage(request, parts);
    const items = rows.map((row) => turnJsonWith(request.params.id, row, request.query.values));
    return { status: 200, body: { items, next_cursor: next }, headers };
  },
});

const getFacts = route({
  method: "get",
  path: "/api/runs/{id}/facts",
  name: "getFacts",
  tag: "history",
  summary: "The facts of a run one by one, or as CloudEvents",
  scope: "runs:read",
  params: runParams,
  query: turnsQuery,
  answers: {
    200: {
      description: "The facts of a page of turns; a batch of CloudEvents for who accepts that.",
      schema: factList,
      also: { type: BATCH_TYPE, schema: z.array(z.looseObject({ specversion: z.string() })) },
      headers: { ETag: "The run's turn.", Link: "The next page of a batch, where there is one." },
    },
    304: { description: "Nothing has changed since the turn in If-None-Match." },
  },
  problems: ["unknown-run"],
  handle: (request: TurnsRequest, parts) => factPage(request, parts),
});

async function factPage(request: TurnsRequest, parts: ServerParts): Promise<Reply> {
  const { id } = request.params;
  const { rows, next, headers } = await turnPage(request, parts);
  if (request.header("accept")?.includes(BATCH_TYPE) !== true) {
    const items = rows.flatMap(({ turn, at, v, facts }) =>
      facts.map((fact, index) => ({ run: id, turn, index: index + 1, at: isoTime(at), v, fact })),
    );
    return { status: 200, body: { items, next_cursor: next }, headers: { ...headers, vary: "accept" } };
  }
  const page = new URLSearchParams(request.url.searchParams);
  page.set("cursor", next ?? "");
  const link = next === null ? {} : { link: `<${request.url.pathname}?${page.toString()}>; rel="next"` };
  const first = rows[0]?.turn ?? 1;
  let run = first === 1 ? emptyRun : await runAt(parts.store, id, first - 1);
  const events: CloudEvent[] = [];
  for (const row of rows) {
    const after = applyTurn(run, row);
    events.push(...cloudEvents(id, row, run, after));
    run = after;
  }
  const type = { "content-type": `${BATCH_TYPE}; charset=utf-8` };
  return { status: 200, body: events, headers: { ...headers, ...type, ...link, vary: "accept" } };
}

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

export const historyRoutes = [getTrace, getTurns, getFacts, getArtifacts, getArtifact];
