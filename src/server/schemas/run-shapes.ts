// What the API says about runs, in the shapes of the command line's `--json`.

import { z } from "@hono/zod-openapi";
import { jsonObject, jsonValue, listOf, packRef, status, time, used, whole } from "./shared.ts";

const reason = z
  .object({
    code: z.string(),
    limit: z.string().optional(),
    value: z.number().optional(),
    state: z.string().optional(),
    message: z.string().optional(),
  })
  .openapi("Reason");

const waitingFor = z
  .object({
    step: whole,
    kind: z.enum(["event", "message", "approval", "in_doubt", "answer"]),
    events: z.array(z.string()).optional(),
    tool: z.string().optional(),
    args: jsonValue.optional(),
    sha256: z.string().optional(),
    question: jsonValue.optional(),
    run: z.string().optional(),
    composition_step: z.string().optional(),
  })
  .openapi("WaitingFor");

const childRun = z
  .object({
    run: z.string(),
    step: whole,
    agent: z.string(),
    state: z.string().nullable(),
    visit: whole,
  })
  .openapi("ChildRun");

const held = z
  .object({
    by: z.string().openapi({ description: "The run that called it, where it is held with its caller." }),
    since: time,
    reason: z.string().optional(),
  })
  .openapi("Held");

export const summary = z
  .object({
    run: z.string(),
    status,
    reason: reason.nullable(),
    held: held.nullable().openapi({ description: "Who holds it; null when nobody does." }),
    state: z.string().nullable(),
    pack: packRef,
    mode: z.string(),
    output: z.object({ text: z.string(), artifacts: jsonObject }).nullable(),
    waiting_for: z.array(waitingFor),
    visits: z.record(z.string(), whole),
    used,
    used_by_agents: used.omit({ wall_ms: true }).nullable(),
    limits: jsonObject,
    turns: whole,
    forked_from: z.object({ run: z.string(), turn: whole }).nullable(),
    parent: z.object({ run: z.string(), step: whole }).nullable(),
    children: z.array(childRun).openapi({ description: "The runs of the agents it called, in order." }),
    composition: z
      .object({
        name: z.string(),
        steps: z.array(
          z.object({
            id: z.string(),
            status: z.enum(["running", "done", "failed", "skipped"]),
            attempts: whole,
          }),
        ),
      })
      .optional()
      .openapi({ description: "In a state that runs a composition: how its steps stand." }),
    started_at: time,
    updated_at: time,
    ignored: z.literal(true).optional().openapi({
      description: "Present when the request changed nothing, which is fine: it came late or again.",
    }),
    ignored_because: z.string().optional(),
  })
  .openapi("Summary");

const runLine = z
  .object({
    run: z.string(),
    status,
    held: z.boolean().openapi({ description: "Somebody holds it: nothing of it leaves." }),
    state: z.string().nullable(),
    pack: packRef,
    turns: whole,
    visits: whole,
    used: used.omit({ visits: true, wall_ms: true }).nullable().openapi({
      description: "With its agents; null for runs that were stored before it was counted here.",
    }),
    reason: z.string().nullable(),
    parent: z.string().nullable(),
    started_at: time,
    updated_at: time,
  })
  .openapi("RunLine");

export const runList = listOf(runLine, "RunList");

const takenRun = z.object({
  run: z.string(),
  turns: whole,
  taken: whole.openapi({ description: "How many of its turns were not here." }),
});

export const takenRuns = takenRun
  .extend({ agents: z.array(takenRun).optional().openapi({ description: "The runs of its agents." }) })
  .openapi("TakenRun");

export const traceRow = z
  .object({
    turn: whole,
    from: z.string().nullable(),
    event: z.string().nullable(),
    to: z.string(),
    visit: whole,
    cause: z.enum(["entry", "event", "outside", "redirect"]),
    redirected_from: z.array(z.string()),
    by: z.string().nullable(),
    artifacts: jsonObject,
    changed: z.array(z.string()),
    used,
    at: time,
    children: z
      .array(z.string())
      .openapi({ description: "Runs of the agents called in the visit that begins here." }),
    steps: z
      .array(z.object({ id: z.string(), status: z.enum(["done", "failed", "skipped"]) }))
      .optional()
      .openapi({ description: "Steps of the composition that the visit runs, as they ended." }),
  })
  .openapi("TraceRow");

const turnRow = z
  .object({
    run: z.string(),
    turn: whole,
    at: time,
    v: whole,
    facts: z.array(z.looseObject({ type: z.string() })),
  })
  .openapi("Turn");

export const turnList = listOf(turnRow, "TurnList");

export const snapshot = z
  .object({
    run: z.string(),
    snapshot: z.looseObject({ turn: whole }).openapi({
      description:
        "What the turns up to `turn` fold to, for whoever folds the others onto it. Turn 0 is none.",
    }),
    items: z.array(turnRow).openapi({ description: "The turns after it, in order." }),
  })
  .openapi("Snapshot");

const factRow = z
  .object({
    run: z.string(),
    turn: whole,
    index: whole.openapi({ description: "From 1: its place in the turn." }),
    at: time,
    v: whole,
    fact: z.looseObject({ type: z.string() }),
  })
  .openapi("FactRow");

export const factList = listOf(factRow, "FactList");

const stepStatus = z.enum(["open", "in_doubt", "deferred", "answered", "abandoned"]).openapi("StepStatus");

const stepLine = z
  .object({
    step: whole,
    kind: z.string(),
    status: stepStatus,
    turn: whole,
    asked_at: time,
    tool: z.string().nullable(),
    answered_turn: whole.nullable(),
    answered_at: time.nullable(),
    ok: z.boolean().nullable(),
  })
  .openapi("StepLine");

export const stepList = listOf(stepLine, "StepList");

export const step = z
  .object({
    run: z.string(),
    step: whole,
    kind: z.string(),
    status: stepStatus,
    key: z.string(),
    turn: whole,
    asked_at: time,
    state: z.string().nullable(),
    visit: whole.nullable(),
    prompt: z.string(),
    ask: z.looseObject({ kind: z.string() }),
    request: z.looseObject({}).nullable(),
    artifacts: jsonObject,
    answer: z
      .object({
        turn: whole,
        at: time,
        by: z.string().nullable(),
        outcome: z.looseObject({ ok: z.boolean() }),
        blob: z
          .object({ sha256: z.string(), bytes: whole, href: z.string() })
          .optional()
          .openapi({ description: "Where a result over 16 KiB is by itself; it never changes there." }),
      })
      .nullable(),
    child: z.string().nullable().openapi({ description: "The agent's run, where an agent was called." }),
  })
  .openapi("Step");

export const artifacts = z
  .object({ run: z.string(), turn: whole, artifacts: jsonObject })
  .openapi("Artifacts");

export const artifact = z
  .object({ run: z.string(), turn: whole, name: z.string(), value: jsonValue })
  .openapi("Artifact");

export const artifactCommit = z
  .object({
    run: z.string(),
    turn: whole,
    name: z.string(),
    commit: z.object({
      sha: z.string(),
      author: z.string(),
      date: z.string(),
      message: z.string(),
      diff: z.string().openapi({ description: "As git shows it." }),
      left_out: z.string().optional().openapi({ description: "How much of the diff is not here." }),
    }),
  })
  .openapi("ArtifactCommit");

const place = z.object({ state: z.string(), visit: whole, field: z.string() });
const end = z.object({ run: z.string(), turn: whole, state: z.string().nullable(), used });

export const diff = z
  .object({
    same: z.boolean(),
    first_divergence: place.nullable(),
    changes: z.array(place.extend({ a: jsonValue, b: jsonValue })),
    artifacts: z.record(z.string(), z.object({ a: jsonValue, b: jsonValue })),
    status: z.object({ a: z.string(), b: z.string() }),
    a: end,
    b: end,
  })
  .openapi("Diff");

export const replay = z
  .object({
    run: z.string(),
    same: z.boolean(),
    turns: whole,
    first_difference: z
      .object({ turn: whole, fact: whole, recorded: jsonValue, decided: jsonValue, why: z.string() })
      .nullable(),
  })
  .openapi("Replay");

const risk = z
  .object({
    tier: z.enum(["read", "write", "destructive", "egress"]).nullable(),
    idempotent: z
      .boolean()
      .openapi({ description: "After a crash it is made again with the same key; else it may be in doubt." }),
    reversibility: z.enum(["reversible", "compensable", "irreversible"]).nullable(),
    rollback: z.string().nullable().openapi({ description: "How what it does is put back." }),
  })
  .openapi("CallRisk", { description: "What a call can do, as far as pack and settings say." });

export const forkPlan = z
  .object({
    dry_run: z.literal(true),
    from: z.object({ run: z.string(), turn: whole }),
    state: z.string().nullable(),
    calls: z.array(
      z.object({
        step: whole,
        kind: z.enum(["model", "tool", "agent"]),
        state: z.string().nullable(),
        prompt: z.string(),
        tool: z.string().optional(),
        args: jsonValue.optional(),
        risk: risk.optional(),
      }),
    ),
    waiting_for: z.array(waitingFor),
    origin_called: z.array(z.object({ tool: z.string(), calls: whole, risk })).openapi({
      description: "Tools that the origin called after the cut, which the fork is likely to call again.",
    }),
  })
  .openapi("ForkPlan");

const inboxList = listOf(
  waitingFor
    .extend({
      run: z.string(),
      pack: packRef,
      state: z.string().nullable(),
      since: time,
      expires_at: time.nullable(),
      parents: z
        .array(z.string())
        .openapi({ description: "The runs that wait for it, the outermost first." }),
      turn: whole.openapi({ description: "For `If-Match`." }),
      requested_by: z.string().nullable().openapi({ description: "Who started the run." }),
      risk: risk.optional(),
      first_args: jsonValue.optional().openapi({
        description: "With an approval whose arguments somebody changed: those that the model gave.",
      }),
    })
    .openapi("InboxItem"),
  "InboxList",
);

export const inbox = inboxList
  .extend({
    notices: z
      .array(
        z.object({
          kind: z.literal("webhook_disabled"),
          webhook: z.string(),
          url: z.string(),
          why: z.string(),
        }),
      )
      .openapi({ description: "What else wants somebody: webhooks that are told nothing any more." }),
  })
  .openapi("Inbox");

export const removed = z.object({ removed: z.array(z.string()) }).openapi("Removed");
