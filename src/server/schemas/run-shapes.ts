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

export const summary = z
  .object({
    run: z.string(),
    status,
    reason: reason.nullable(),
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
    state: z.string().nullable(),
    pack: packRef,
    turns: whole,
    visits: whole,
    reason: z.string().nullable(),
    parent: z.string().nullable(),
    started_at: time,
    updated_at: time,
  })
  .openapi("RunLine");

export const runList = listOf(runLine, "RunList");

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
      }),
    ),
    waiting_for: z.array(waitingFor),
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
