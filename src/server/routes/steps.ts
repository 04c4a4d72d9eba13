// The asks of a run: a list of them, and each in full.

import { z } from "@hono/zod-openapi";
import { isoTime } from "../../base/iso-time.ts";
import type { Answered, Ask, TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { type StepStatus, stepStatus, stepView } from "../../host/step-view.ts";
import { loadedRun, turnsOf } from "../../host/stored-runs.ts";
import { type RouteRequest, route, tagOf } from "../route.ts";
import { step, stepList } from "../schemas/run-shapes.ts";
import { limitText, positiveText, runParams, wholeText } from "../schemas/shared.ts";
import type { ServerParts } from "../server-parts.ts";

interface StepLine {
  readonly step: number;
  readonly kind: Ask["kind"];
  readonly status: StepStatus;
  readonly turn: number;
  readonly asked_at: string;
  readonly tool: string | null;
  readonly answered_turn: number | null;
  readonly answered_at: string | null;
  readonly ok: boolean | null;
}

const listQuery = z.strictObject({
  after_turn: wholeText.optional().openapi({ description: "Asks of later turns than this." }),
  limit: limitText(200, 100),
});

const listSteps = route({
  method: "get",
  path: "/api/runs/{id}/steps",
  name: "listSteps",
  tag: "history",
  summary: "What a run asked of models, tools, agents and people",
  scope: "runs:read",
  params: runParams,
  query: listQuery,
  answers: {
    200: {
      description: "Asks in order; `next_cursor` is the next `after_turn`.",
      schema: stepList,
      headers: { ETag: "The run's turn." },
    },
  },
  problems: ["unknown-run"],
  async handle(request: RouteRequest<{ id: string }, z.infer<typeof listQuery>, unknown>, { store }) {
    const { id, turn: last, run } = await loadedRun(store, request.params.id);
    const { after_turn: after = 0, limit } = request.query;
    const { asked, answers, next } = await asksAfter({ store }, { id, after, last, limit });
    const items = asked.map(({ row, number, ask }) => lineOf(run, row, number, ask, answers.get(number)));
    const cursor = next === undefined ? null : String(next);
    return { status: 200, body: { items, next_cursor: cursor }, headers: tagOf(last) };
  },
});

interface Asked {
  readonly row: TurnRow;
  readonly number: number;
  readonly ask: Ask;
}

interface Given {
  readonly row: TurnRow;
  readonly fact: Answered;
}

/** Reads on behind the page until everything on it is answered, or the journal ends. */
async function asksAfter(
  { store }: Pick<ServerParts, "store">,
  { id, after, last, limit }: { id: string; after: number; last: number; limit: number },
) {
  const asked: Asked[] = [];
  const answers = new Map<number, Given>();
  const missing = new Set<number>();
  let next: number | undefined;
  for await (const row of turnsOf(store, id, { from: after + 1, to: last })) {
    const isFull = asked.length >= limit;
    if (isFull) next ??= row.turn - 1;
    if (isFull && missing.size === 0) break;
    for (const fact of row.facts) {
      if (fact.type === "asked" && !isFull) {
        asked.push({ row, number: fact.step, ask: fact.ask });
        missing.add(fact.step);
      } else if (fact.type === "answered" && missing.delete(fact.step)) answers.set(fact.step, { row, fact });
    }
  }
  return { asked, answers, next };
}

function lineOf(run: Run, row: TurnRow, number: number, ask: Ask, given: Given | undefined): StepLine {
  const outcome = given?.fact.outcome;
  return {
    step: number,
    kind: ask.kind,
    status: stepStatus(run.open[number], outcome),
    turn: row.turn,
    asked_at: isoTime(row.at),
    tool: "tool" in ask ? ask.tool : null,
    answered_turn: given?.row.turn ?? null,
    answered_at: given === undefined ? null : isoTime(given.row.at),
    ok: outcome?.ok ?? null,
  };
}

const stepQuery = z.strictObject({
  at: positiveText.optional().openapi({ description: "Looks no further than this turn." }),
});

const getStep = route({
  method: "get",
  path: "/api/runs/{id}/steps/{step}",
  name: "getStep",
  tag: "history",
  summary: "One ask in full: the exact request or call, and its answer",
  scope: "runs:read",
  params: runParams.extend({ step: positiveText }),
  query: stepQuery,
  answers: { 200: { description: "The ask.", schema: step, headers: { ETag: "The turn looked at." } } },
  problems: ["unknown-run", "unknown-turn", "unknown-step"],
  async handle(
    request: RouteRequest<{ id: string; step: number }, { at?: number | undefined }, unknown>,
    { store, blobs },
  ) {
    const { params, query } = request;
    const loaded = await loadedRun(store, params.id, query.at);
    const { answer, ...shown } = await stepView(store, loaded, params.step);
    const { run, step: number } = shown;
    const blob =
      answer?.outcome.ok === true
        ? blobs.refer({ run, turn: answer.turn, step: number }, answer.outcome.value)
        : undefined;
    const body = { ...shown, answer: answer && { ...answer, ...(blob !== undefined && { blob }) } };
    return { status: 200, body, headers: tagOf(loaded.turn) };
  },
});

export const stepRoutes = [listSteps, getStep];
