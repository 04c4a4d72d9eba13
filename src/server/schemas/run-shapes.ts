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
    limits: jsonObject,
    turns: whole,
    forked_from: z.object({ run: z.string(), turn: whole }).nullable(),
    parent: z.object({ run: z.string(), step: whole }).nullable(),
    started_at: time,
    updated_at: time,
    ignored: z
      .string()
      .optional()
      .openapi({ description: "Present when the request changed nothing, and why that is fine." }),
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

export const inbox = listOf(
  waitingFor
    .extend({
      run: z.string(),
      pack: packRef,
      state: z.string().nullable(),
      since: time,
      expires_at: time.nullable(),
    })
    .openapi("InboxItem"),
  "Inbox",
);

export const removed = z.object({ removed: z.array(z.string()) }).openapi("Removed");
