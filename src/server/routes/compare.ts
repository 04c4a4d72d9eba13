// Two runs side by side, and a run decided again.

import { z } from "@hono/zod-openapi";
import { replayRun } from "../../host/replay-run.ts";
import { runDiff } from "../../host/run-diff.ts";
import { loadedRun } from "../../host/stored-runs.ts";
import { type RouteRequest, route } from "../route.ts";
import { diff, replay } from "../schemas/run-shapes.ts";
import { positiveText, runParams } from "../schemas/shared.ts";

const diffQuery = z.strictObject({
  at: positiveText.optional().openapi({ description: "The turn of the first run." }),
  other_at: positiveText.optional().openapi({ description: "The turn of the second run." }),
});

const diffRuns = route({
  method: "get",
  path: "/api/runs/{id}/diff/{other}",
  name: "diffRuns",
  tag: "history",
  summary: "Compare two runs or two turns, aligned by state and visit",
  scope: "runs:read",
  params: runParams.extend({ other: z.string().min(1).max(500) }),
  query: diffQuery,
  answers: { 200: { description: "Where they differ.", schema: diff } },
  problems: ["unknown-run", "unknown-turn"],
  async handle(
    { params, query }: RouteRequest<{ id: string; other: string }, z.infer<typeof diffQuery>, unknown>,
    { store },
  ) {
    const a = await loadedRun(store, params.id, query.at);
    const b = await loadedRun(store, params.other, query.other_at);
    return { status: 200, body: await runDiff(store, a, b) };
  },
});

const replayQuery = z.strictObject({
  at: positiveText.optional().openapi({ description: "Stops after this turn." }),
});

const replayTurns = route({
  method: "post",
  path: "/api/runs/{id}/replay",
  name: "replayRun",
  tag: "history",
  summary: "Decide every turn again from the recorded answers; nothing is called",
  scope: "runs:write",
  params: runParams,
  query: replayQuery,
  answers: { 200: { description: "The first difference, if there is one.", schema: replay } },
  problems: ["unknown-run", "unknown-turn", "unknown-pack"],
  async handle(
    { params, query }: RouteRequest<{ id: string }, { at?: number | undefined }, unknown>,
    { store },
  ) {
    return { status: 200, body: await replayRun(store, await loadedRun(store, params.id, query.at)) };
  },
});

export const compareRoutes = [diffRuns, replayTurns];
