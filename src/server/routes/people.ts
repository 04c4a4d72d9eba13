// What people and other programs say to runs: events, messages, answers, decisions. A wrong one changes
// nothing.

import { z } from "@hono/zod-openapi";
import type { Input } from "../../core/input.ts";
import { inboxOf } from "../../host/inbox.ts";
import { selfApproval } from "../approver.ts";
import { badCursor, cursorText, fromCursor, toCursor } from "../cursor.ts";
import { incomingEvent, STRUCTURED_TYPE } from "../incoming-event.ts";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { sayTo } from "../run-summary.ts";
import { answerBody, approvalBody, eventBody, messageBody } from "../schemas/requests.ts";
import { inbox, summary } from "../schemas/run-shapes.ts";
import { jsonValue, limitText, positiveText, runParams } from "../schemas/shared.ts";
import { speaker } from "../scope.ts";

/** Artifacts come with events, and an artifact is a small thing. */
const EVENT_BYTES_MAX = 256 * 1024;

const cloudEvent = z
  .looseObject({
    specversion: z.literal("1.0"),
    id: z.string().min(1),
    source: z.string().min(1),
    type: z
      .string()
      .min(1)
      .openapi({ description: "Its last part is the event, unless `packloopevent` is." }),
    packloopevent: z.string().min(1).optional(),
    data: jsonValue
      .optional()
      .openapi({ description: "`{context, artifacts}`; anything else is the context." }),
  })
  .openapi("CloudEvent");

const stepParams = runParams.extend({ step: positiveText });

type RunPath = { readonly id: string };
type StepPath = { readonly id: string; readonly step: number };

interface StepPlace {
  readonly at: number;
  readonly step: number;
  readonly by: string;
}

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
  otherBodies: { [STRUCTURED_TYPE]: cloudEvent },
  otherHeader: "ce-specversion",
  bodyBytesMax: EVENT_BYTES_MAX,
  idempotent: true,
  conditional: true,
  answers,
  problems: ["unknown-run", "run-finished", "event-not-allowed", "not-waiting", "bad-artifact"],
  handle(request: EventRequest, parts) {
    const { name, context, artifacts, by, dedupeKey } = saidIn(request);
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

type EventRequest = RouteRequest<RunPath, unknown, z.infer<typeof eventBody>>;

function saidIn({ body, other, header }: EventRequest) {
  if (other === undefined) {
    const { dedupe_key: dedupeKey, ...said } = body;
    return { ...said, dedupeKey };
  }
  const { source, ...said } = incomingEvent({ ...other, header });
  return { ...said, by: source.slice(0, 200) };
}

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
    const { text, by, dedupe_key: dedupeKey } = request.body;
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
  problems: ["unknown-run", "unknown-step", "pending-tool-mismatch"],
  handle(request: RouteRequest<StepPath, unknown, z.infer<typeof answerBody>>, parts) {
    const by = speaker(request.principal, request.body.by);
    const place = { at: parts.clock.now(), step: request.params.step, by };
    return sayTo(parts, request, answerInput(request.body, place));
  },
});

export function answerInput(body: z.infer<typeof answerBody>, place: StepPlace): Input {
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
  summary: "Approve, edit or reject a gated call, or respond in its place",
  scope: "approvals:decide",
  params: stepParams,
  body: approvalBody,
  idempotent: true,
  conditional: true,
  answers,
  problems: [
    ...(["unknown-run", "unknown-step", "pending-tool-mismatch", "hash-mismatch"] as const),
    ...(["bad-arguments", "self-approval"] as const),
  ],
  async handle(request: RouteRequest<StepPath, unknown, z.infer<typeof approvalBody>>, parts) {
    const by = speaker(request.principal, request.body.by);
    const place = { at: parts.clock.now(), step: request.params.step, by };
    const input = decisionInput(request.body, place);
    const problem = await selfApproval(parts, request.principal, request.params.id);
    if (problem !== undefined) throw problem;
    return sayTo(parts, request, input);
  },
});

export function decisionInput(body: z.infer<typeof approvalBody>, place: StepPlace): Input {
  const { decision, sha256, value, reason = "" } = body;
  const comment = reason === "" ? {} : { comment: reason };
  if ((decision === "edit" || decision === "respond") !== (value !== undefined))
    throw new Problem("bad-request", "`value` goes with `edit` and `respond`, and with nothing else");
  const pinned = { ...place, ...(sha256 !== undefined && { sha256 }) };
  if (decision === "reject") return { ...pinned, type: "reject", reason };
  if (decision === "respond")
    return { ...pinned, type: "reject", reason: typeof value === "string" ? value : JSON.stringify(value) };
  return {
    ...pinned,
    type: "approve",
    ...(value !== undefined && { edit: value }),
    ...comment,
  };
}

const inboxQuery = z.strictObject({
  cursor: cursorText.optional(),
  limit: limitText(200, 100),
  run: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .openapi({ description: "Only what this run and its agents wait for." }),
});

const getInbox = route({
  method: "get",
  path: "/api/inbox",
  name: "getInbox",
  tag: "people",
  summary: "Everything that waits for a person, oldest first",
  scope: "runs:read",
  query: inboxQuery,
  answers: {
    200: {
      description: "A page. A run that moves while one goes through the pages may be on a later one again.",
      schema: inbox,
    },
  },
  problems: ["unknown-run"],
  async handle({ query }: RouteRequest<unknown, z.infer<typeof inboxQuery>, unknown>, parts) {
    const { store, log, webhooks, worlds } = parts;
    const after = fromCursor(query.cursor);
    if (after !== undefined && !isPlace(after, query.run)) throw badCursor(query.cursor ?? "");
    const damaged = (run: string) => log.error({ run }, "a run is damaged");
    const { items, next } = await inboxOf(store, damaged, { after, ...query, worlds });
    const off = webhooks.all().filter((one) => one.off !== null);
    const notices = off.map(({ id, url, off: why }) => ({ kind: "webhook_disabled", webhook: id, url, why }));
    return { status: 200, body: { items, notices, next_cursor: toCursor(next) } };
  },
});

/** Within the tree of a run it is the last run that was read. */
const isPlace = (after: string, run: string | undefined): boolean =>
  run === undefined ? /^\d+(\.\d+)? \d+$/.test(after) : after === run || after.startsWith(`${run}/`);

export const peopleRoutes = [sendEvent, sayMessage, answerStep, decideApproval, getInbox];
