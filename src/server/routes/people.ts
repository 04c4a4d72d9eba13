// What people and other programs say to runs: events, messages, answers, decisions. A wrong one changes
// nothing.

import { z } from "@hono/zod-openapi";
import type { Input } from "../../core/input.ts";
import { inboxOf } from "../../host/inbox.ts";
import { cursorText, fromCursor, toCursor } from "../cursor.ts";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { sayTo } from "../run-summary.ts";
import { answerBody, approvalBody, eventBody, messageBody } from "../schemas/requests.ts";
import { inbox, summary } from "../schemas/run-shapes.ts";
import { limitText, positiveText, runParams } from "../schemas/shared.ts";
import { speaker } from "../scope.ts";

/** Artifacts come with events, and an artifact is a small thing. */
const EVENT_BYTES_MAX = 256 * 1024;

const stepParams = runParams.extend({ step: positiveText });

type RunPath = { readonly id: string };
type StepPath = { readonly id: string; readonly step: number };

const answers = {
  200: { description: "How the run stands now.", schema: summary, headers: { ETag: "Its turn." } },
};

const sendEvent = route({
  method: "post",
  path: "/api/runs/{id}/events",
  name: "sendEvent",
  tag: "people",
  summary: "Send an event to a run that waits",
  scope: "events:send",
  params: runParams,
  body: eventBody,
  bodyBytesMax: EVENT_BYTES_MAX,
  idempotent: true,
  conditional: true,
  answers,
  problems: ["unknown-run", "run-finished", "event-not-allowed", "not-waiting", "bad-artifact"],
  handle(request: RouteRequest<RunPath, unknown, z.infer<typeof eventBody>>, parts) {
    const { name, context, artifacts, by, dedupe_key: given } = request.body;
    const dedupeKey = given ?? request.key;
    return sayTo(parts, request, {
      type: "event",
      at: parts.clock.now(),
      name,
      by: speaker(request.principal, by),
      ...(context !== undefined && { context }),
      ...(artifacts !== undefined && { artifacts }),
      ...(dedupeKey !== undefined && { dedupeKey }),
    });
  },
});

const sayMessage = route({
  method: "post",
  path: "/api/runs/{id}/messages",
  name: "sayMessage",
  tag: "people",
  summary: "Say something to a run that waits",
  scope: "events:send",
  params: runParams,
  body: messageBody,
  bodyBytesMax: EVENT_BYTES_MAX,
  idempotent: true,
  conditional: true,
  answers,
  problems: ["unknown-run", "run-finished", "not-waiting"],
  handle(request: RouteRequest<RunPath, unknown, z.infer<typeof messageBody>>, parts) {
    const { text, by, dedupe_key: given } = request.body;
    const dedupeKey = given ?? request.key;
    return sayTo(parts, request, {
      type: "message",
      at: parts.clock.now(),
      text,
      by: speaker(request.principal, by),
      ...(dedupeKey !== undefined && { dedupeKey }),
    });
  },
});

const answerStep = route({
  method: "post",
  path: "/api/runs/{id}/answers/{step}",
  name: "answerStep",
  tag: "people",
  summary: "Answer an open step from outside, or decide about one in doubt",
  scope: "events:send",
  params: stepParams,
  body: answerBody,
  idempotent: true,
  conditional: true,
  answers,
  problems: ["unknown-run", "step-mismatch", "pending-tool-mismatch"],
  handle(request: RouteRequest<StepPath, unknown, z.infer<typeof answerBody>>, parts) {
    const by = speaker(request.principal, request.body.by);
    const place = { at: parts.clock.now(), step: request.params.step, by };
    return sayTo(parts, request, answerInput(request.body, place));
  },
});

function answerInput(
  body: z.infer<typeof answerBody>,
  place: { readonly at: number; readonly step: number; readonly by: string },
): Input {
  const { result, error, retry, abort } = body;
  const given = (["result", "error", "retry", "abort"] as const).filter((name) => body[name] !== undefined);
  if (given.length !== 1) throw new Problem("bad-request", "give one of `result`, `error`, `retry`, `abort`");
  if (retry === true) return { ...place, type: "retry" };
  if (abort === true) return { ...place, type: "abort" };
  if (error !== undefined)
    return { ...place, type: "answer", outcome: { ok: false, code: "tool_error", message: error } };
  return { ...place, type: "answer", outcome: { ok: true, value: result ?? null } };
}

const decideApproval = route({
  method: "post",
  path: "/api/runs/{id}/approvals/{step}",
  name: "decideApproval",
  tag: "people",
  summary: "Approve, reject or edit a gated call",
  scope: "approvals:decide",
  params: stepParams,
  body: approvalBody,
  idempotent: true,
  conditional: true,
  answers,
  problems: ["unknown-run", "step-mismatch", "pending-tool-mismatch", "hash-mismatch", "bad-arguments"],
  handle(request: RouteRequest<StepPath, unknown, z.infer<typeof approvalBody>>, parts) {
    const { decision, sha256, value, reason = "" } = request.body;
    const by = speaker(request.principal, request.body.by);
    const place = { at: parts.clock.now(), step: request.params.step, by };
    if (decision === "reject") return sayTo(parts, request, { ...place, type: "reject", reason });
    if ((decision === "edit") !== (value !== undefined))
      throw new Problem("bad-request", "`value` holds the other arguments of an `edit`, and of nothing else");
    return sayTo(parts, request, {
      ...place,
      type: "approve",
      ...(sha256 !== undefined && { sha256 }),
      ...(value !== undefined && { edit: value }),
    });
  },
});

const inboxQuery = z.strictObject({ cursor: cursorText.optional(), limit: limitText(1_000, 200) });

const getInbox = route({
  method: "get",
  path: "/api/inbox",
  name: "getInbox",
  tag: "people",
  summary: "Everything that waits for a person, oldest first",
  scope: "runs:read",
  query: inboxQuery,
  answers: {
    200: { description: "A page. A run that moved meanwhile begins the list anew.", schema: inbox },
  },
  async handle({ query }: RouteRequest<unknown, z.infer<typeof inboxQuery>, unknown>, { store, log }) {
    const after = fromCursor(query.cursor);
    const damaged = (run: string) => log.error({ run }, "a run is damaged");
    const { items, next } = await inboxOf(store, damaged, { after, limit: query.limit });
    return { status: 200, body: { items, next_cursor: toCursor(next) } };
  },
});

export const peopleRoutes = [sendEvent, sayMessage, answerStep, decideApproval, getInbox];
