// A new run from a turn of another, with edits. The other never changes.

import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { type Json, type JsonObject, put } from "../../base/json.ts";
import { placeOf } from "../../core/fork.ts";
import type { Program } from "../../core/program.ts";
import { resolveVariables } from "../../core/variables.ts";
import { type ForkRequest, planFork } from "../../engine/fork.ts";
import { newRunId } from "../../engine/run-id.ts";
import { type ForkOrigin, forkAnswer, forkView } from "../../host/fork-view.ts";
import { noSettings, settingsIn } from "../../host/run-settings.ts";
import { knownRecord, type LoadedRun, loadedRun, runAt, storedProgram } from "../../host/stored-runs.ts";
import { keyReused, REPLAYED } from "../idempotent-replies.ts";
import { type ChosenPack, chosenPack, type PackChoice } from "../opened-pack.ts";
import { Problem, refusalProblem } from "../problem.ts";
import { type Reply, type RouteRequest, route, tagOf } from "../route.ts";
import { summaryFor } from "../run-summary.ts";
import { forkBody } from "../schemas/requests.ts";
import { forkPlan, summary } from "../schemas/run-shapes.ts";
import { flagText, runParams } from "../schemas/shared.ts";
import { speaker } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";

type Body = z.infer<typeof forkBody>;

/** All edits together. A later one wins over an earlier one. */
interface Edits extends PackChoice {
  readonly artifacts: JsonObject;
  readonly variables: JsonObject;
  readonly answers: readonly { readonly step: number; readonly value: Json }[];
  readonly event?: string;
  readonly model?: string;
  readonly script?: JsonObject;
}

function editsOf({ edits = [] }: Body): Edits {
  const artifacts: JsonObject = {};
  const variables: JsonObject = {};
  const answers: { step: number; value: Json }[] = [];
  let rest: Omit<Edits, "artifacts" | "variables" | "answers"> = {};
  for (const edit of edits) {
    if ("artifact" in edit) put(artifacts, edit.artifact, edit.value);
    else if ("variable" in edit) put(variables, edit.variable, edit.value);
    else if ("step" in edit) answers.push(edit);
    else if ("pack" in edit) rest = { ...rest, digest: undefined, beside: undefined, ...edit };
    else if ("digest" in edit) rest = { ...rest, pack: undefined, beside: undefined, ...edit };
    else rest = { ...rest, ...edit };
  }
  return { artifacts, variables, answers, ...rest };
}
type Request = RouteRequest<{ id: string }, { dry_run?: boolean | undefined }, Body>;

const forkRun = route({
  method: "post",
  path: "/api/runs/{id}/fork",
  name: "forkRun",
  tag: "runs",
  summary: "Start a new run from a turn of another one, with edits",
  scope: "runs:write",
  params: runParams,
  query: z.strictObject({
    dry_run: flagText.optional().openapi({ description: "Only says which calls the fork would make." }),
  }),
  body: forkBody,
  bodyOptional: true,
  idempotent: true,
  conditional: true,
  answers: {
    200: { description: "With `dry_run`: what the fork would do.", schema: forkPlan },
    201: {
      description: "The new run.",
      schema: summary,
      headers: { Location: "Where it is.", ETag: "Its turn." },
    },
  },
  problems: [
    ...(["unknown-run", "unknown-turn", "unknown-pack", "pack-invalid", "run-finished"] as const),
    ...(["step-not-open", "event-not-allowed", "bad-artifact", "variable-invalid", "bad-arguments"] as const),
    ...(["unknown-state", "unknown-prompt", "pending-tool-mismatch", "script-invalid"] as const),
  ],
  handle: (request: Request, parts) => fork(request, parts),
});

async function fork(request: Request, parts: ServerParts): Promise<Reply> {
  const { params, body, query, ifTurn } = request;
  const { store, engine, worlds, clock } = parts;
  const key = storedKey(request);
  const known = key === undefined ? undefined : await store.find(key);
  if (known !== undefined) return foundFork(parts, request, known);
  const origin = await loadedRun(store, params.id, body.turn);
  const { turn: last } = origin.record;
  if (ifTurn !== undefined && ifTurn !== last)
    throw refusalProblem({ code: "precondition-failed", expected: ifTurn, turn: last });
  const planned = await requestOf(parts, origin, body);
  await worlds.learn(store, origin.id);
  if (query.dry_run === true) {
    const plan = await planFork(store, planned, clock.now());
    if (plan.kind === "refused") throw refusalProblem(plan.refusal);
    const end = await runAt(store, origin.id, last);
    const riskOf: ForkOrigin["riskOf"] = (program, tool) => worlds.riskOf(planned.setup, { program, tool });
    const calls = { cut: origin.run.callsByTool, end: end.callsByTool };
    const from = { run: origin.id, turn: origin.turn, calls, riskOf };
    return { status: 200, body: forkView(planned.id, from, plan) };
  }
  // Whoever makes a fork has started it, and is not who approves its calls.
  const by = speaker(request.principal, undefined);
  const setup = { ...planned.setup, request: request.bodyHash, by };
  const forked = await engine.fork({ ...planned, setup, ...(key !== undefined && { key }) });
  if (forked.kind === "refused") throw refusalProblem(forked.refusal);
  return madeFork(parts, planned.id, {});
}

/** A fork's key belongs to its origin: the same key at another run is another one. */
function storedKey({ key, principal, params }: Request): string | undefined {
  if (key === undefined) return undefined;
  const owner = createHash("sha256").update(JSON.stringify([principal.name, params.id]));
  return `fork ${owner.digest("hex").slice(0, 16)} ${key}`;
}

async function foundFork(parts: ServerParts, request: Request, id: string): Promise<Reply> {
  const { setup } = await knownRecord(parts.store, id);
  if (setup["request"] !== request.bodyHash) throw keyReused(request.key ?? "");
  return madeFork(parts, id, REPLAYED);
}

/** As it was made, whatever has happened to it since. */
async function madeFork(
  { store }: ServerParts,
  id: string,
  more: Readonly<Record<string, string>>,
): Promise<Reply> {
  const record = await knownRecord(store, id);
  const { forkedFrom } = await runAt(store, id, record.turn);
  const run = await runAt(store, id, (forkedFrom?.turn ?? 0) + 1);
  const headers = { ...tagOf(run.turn), location: `/api/runs/${encodeURIComponent(id)}`, ...more };
  return { status: 201, body: summaryFor(record, run), headers };
}

async function requestOf(parts: ServerParts, origin: LoadedRun, body: Body): Promise<ForkRequest> {
  const edits = editsOf(body);
  const wantsPack = edits.pack !== undefined || edits.digest !== undefined;
  const pack = wantsPack ? await chosenPack(parts, edits) : undefined;
  const program = pack?.program ?? (await storedProgram(parts.store, origin.run.digest));
  return {
    id: newRunId(parts.clock.now()),
    from: { run: origin.id, turn: origin.turn },
    resetBudget: body.reset_budget === true,
    variables: variablesOf(program, origin, edits.variables),
    artifacts: edits.artifacts,
    answers: answersOf(origin, edits.answers),
    setup: setupOf(origin, edits, pack),
    ...(edits.event !== undefined && { event: edits.event }),
    ...(pack !== undefined && { pack: { program, digest: pack.digest, source: pack.source } }),
  };
}

function setupOf({ record }: LoadedRun, { script, model }: Edits, pack: ChosenPack | undefined): JsonObject {
  // A cassette belongs to the run it was begun with: another one would write over its steps.
  const { record: _record, ...setup } = record.setup;
  const settings = settingsIn(setup) ?? noSettings(".");
  return {
    ...setup,
    settings: { ...settings, ...(model !== undefined && { model }) },
    ...(script !== undefined && { script }),
    ...(pack !== undefined && { file: pack.file }),
  };
}

function variablesOf(program: Program, { run }: LoadedRun, given: JsonObject): JsonObject {
  const values = { ...run.variables, ...given };
  return resolveVariables(program, placeOf(run), { values }).values;
}

function answersOf({ run }: LoadedRun, given: Edits["answers"]): NonNullable<ForkRequest["answers"]> {
  return given.map(({ step, value }) => {
    const answer = forkAnswer(run, step, value);
    if (!answer.ok) throw new Problem("bad-arguments", answer.message);
    return { step, outcome: answer.outcome };
  });
}

export const forkRoutes = [forkRun];
