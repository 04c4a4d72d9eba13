// Who is told what happens: made, listed, removed, and the log of what was delivered.

import { z } from "@hono/zod-openapi";
import { isoTime } from "../../base/iso-time.ts";
import { EVENT_TYPES } from "../cloud-event.ts";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { limitText, listOf, time } from "../schemas/shared.ts";
import { isSecret, kindOf, newSecret, publicKeyOf } from "../webhook/signature.ts";
import type { Delivery, Webhook, WebhookBook } from "../webhook/webhook-book.ts";

const WEBHOOKS_MAX = 100;

const eventType = z.enum(EVENT_TYPES).openapi("EventType");

const webhookBody = z
  .strictObject({
    url: z.string().max(2_000).openapi({ format: "uri", description: "https, or http on this machine." }),
    types: z
      .array(eventType)
      .max(EVENT_TYPES.length)
      .optional()
      .openapi({ description: "All, if left out." }),
    secret: z
      .string()
      .refine(isSecret, "expected whsec_ and 24 to 64 bytes in base64, or an Ed25519 key as whsk_")
      .optional()
      .openapi({ description: "Made here, if left out." }),
    signature: z
      .enum(["v1", "v1a"])
      .optional()
      .openapi({ description: "v1: both sides know the secret. v1a: the other side has a public key." }),
  })
  .openapi("AddWebhook");

const webhookLine = z
  .object({
    id: z.string(),
    url: z.string(),
    types: z.array(eventType),
    created_at: time,
    off: z.string().nullable().openapi({ description: "Why it is told nothing any more." }),
    public_key: z
      .string()
      .nullable()
      .openapi({ description: "What v1a verifies with; null where both sides know the secret." }),
  })
  .openapi("Webhook");

const lineOf = ({ id, url, types, at, off, secret }: Webhook) => ({
  ...{ id, url, types, created_at: isoTime(at), off },
  public_key: publicKeyOf(secret),
});

/** A key of ours that is made here leaves never: the other side needs the public half only. */
const shownSecret = ({ secret }: Pick<Webhook, "secret">) => (kindOf(secret) === "v1" ? { secret } : {});
const secretText = z.string().optional().openapi({ description: "With v1 only." });

const addWebhook = route({
  method: "post",
  path: "/api/webhooks",
  name: "addWebhook",
  tag: "webhooks",
  summary: "Have an address told what happens from now on",
  scope: "admin",
  body: webhookBody,
  answers: {
    201: {
      description: "The webhook with its secret, which is shown this once.",
      schema: webhookLine.extend({ secret: secretText }).openapi("NewWebhook"),
    },
  },
  problems: ["too-many-webhooks"],
  async handle(
    { body }: RouteRequest<unknown, unknown, z.infer<typeof webhookBody>>,
    { webhooks, sender, clock },
  ) {
    const { url, types = [], signature, secret = newSecret(signature) } = body;
    checkUrl(url);
    if (signature !== undefined && signature !== kindOf(secret))
      throw new Problem("bad-request", `\`secret\` does not sign by \`${signature}\``);
    if (webhooks.all().length >= WEBHOOKS_MAX)
      throw new Problem("too-many-webhooks", `there are ${WEBHOOKS_MAX} webhooks already`, {
        extras: { limit: WEBHOOKS_MAX },
      });
    const made = webhooks.add({ url, types, secret, at: clock.now() });
    await sender.begin(made);
    return { status: 201, body: { ...lineOf(made), ...shownSecret(made) } };
  },
});

/** Where it leads is judged again, by address, whenever something is sent. */
export function checkUrl(text: string): void {
  const url = URL.parse(text);
  const wrong = (why: string) =>
    new Problem("bad-request", why, { extras: { errors: [{ pointer: "/url", message: why }] } });
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw wrong("`url` is not an address to send to");
  if (url.username !== "" || url.password !== "") throw wrong("`url` carries a user name or password");
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol === "http:" && !isHere) throw wrong("`url` has to be https");
}

const listWebhooks = route({
  method: "get",
  path: "/api/webhooks",
  name: "listWebhooks",
  tag: "webhooks",
  summary: "List webhooks, without their secrets",
  scope: "admin",
  answers: { 200: { description: "All of them.", schema: listOf(webhookLine, "WebhookList") } },
  handle: async (_request, { webhooks }) => ({
    status: 200,
    body: { items: webhooks.all().map(lineOf), next_cursor: null },
  }),
});

const webhookParams = z.strictObject({ id: z.string().min(1).max(100) });
type WebhookPath = z.infer<typeof webhookParams>;

function known(webhooks: WebhookBook, id: string): Webhook {
  const found = webhooks.find(id);
  if (found === undefined) throw new Problem("unknown-webhook", `there is no webhook \`${id}\``);
  return found;
}

const removeWebhook = route({
  method: "delete",
  path: "/api/webhooks/{id}",
  name: "removeWebhook",
  tag: "webhooks",
  summary: "Remove a webhook and what waits for it",
  scope: "admin",
  params: webhookParams,
  answers: { 200: { description: "Removed.", schema: z.object({ removed: z.string() }) } },
  problems: ["unknown-webhook"],
  async handle({ params }: RouteRequest<WebhookPath, unknown, unknown>, { webhooks }) {
    const { id } = known(webhooks, params.id);
    webhooks.remove(id);
    return { status: 200, body: { removed: id } };
  },
});

const rotateBody = z.strictObject({ secret: webhookBody.shape.secret }).openapi("RotateSecret");

/** So long the old secret signs beside the new one. */
const ROTATION_MS = 24 * 3_600_000;

const rotateSecret = route({
  method: "post",
  path: "/api/webhooks/{id}/rotate",
  name: "rotateSecret",
  tag: "webhooks",
  summary: "Give a webhook another secret; for a day the old one signs as well",
  scope: "admin",
  params: webhookParams,
  body: rotateBody,
  bodyOptional: true,
  answers: {
    200: {
      description: "The webhook with its new secret, which is shown this once.",
      schema: webhookLine.extend({ secret: secretText, old_until: time }).openapi("RotatedWebhook"),
    },
  },
  problems: ["unknown-webhook"],
  async handle(
    { params, body }: RouteRequest<WebhookPath, unknown, z.infer<typeof rotateBody>>,
    { webhooks, clock },
  ) {
    const found = known(webhooks, params.id);
    const secret = body.secret ?? newSecret(kindOf(found.secret));
    const until = clock.now() + ROTATION_MS;
    webhooks.rotate(found.id, secret, until);
    const now = { ...found, secret };
    return { status: 200, body: { ...lineOf(now), ...shownSecret(now), old_until: isoTime(until) } };
  },
});

const enableWebhook = route({
  method: "post",
  path: "/api/webhooks/{id}/enable",
  name: "enableWebhook",
  tag: "webhooks",
  summary: "Tell a webhook again that was switched off, from what happens next",
  scope: "admin",
  params: webhookParams,
  body: z.strictObject({}).openapi("EnableWebhook"),
  bodyOptional: true,
  answers: { 200: { description: "The webhook.", schema: webhookLine } },
  problems: ["unknown-webhook"],
  async handle({ params }: RouteRequest<WebhookPath, unknown, unknown>, { webhooks, sender }) {
    const found = known(webhooks, params.id);
    await sender.begin(found);
    webhooks.switchOn(found.id);
    return { status: 200, body: { ...lineOf(found), off: null } };
  },
});

const delivery = z
  .object({
    event: z.string(),
    type: z.string(),
    attempts: z.number(),
    next_at: time.nullable().openapi({ description: "Null once it is over." }),
    outcome: z.string().nullable().openapi({ description: "The last status, or what went wrong." }),
    at: time,
  })
  .openapi("Delivery");

const deliveryLine = ({ event, type, attempts, due, outcome, at }: Delivery) => ({
  event,
  type,
  attempts,
  next_at: due === null ? null : isoTime(due),
  outcome,
  at: isoTime(at),
});

const listDeliveries = route({
  method: "get",
  path: "/api/webhooks/{id}/deliveries",
  name: "listDeliveries",
  tag: "webhooks",
  summary: "What was delivered and what waits, the newest first",
  scope: "admin",
  params: webhookParams,
  query: z.strictObject({ limit: limitText(200, 50) }),
  answers: { 200: { description: "The newest of them.", schema: listOf(delivery, "DeliveryList") } },
  problems: ["unknown-webhook"],
  async handle({ params, query }: RouteRequest<WebhookPath, { limit: number }, unknown>, { webhooks }) {
    const { id } = known(webhooks, params.id);
    const items = webhooks.deliveries(id, query.limit).map(deliveryLine);
    return { status: 200, body: { items, next_cursor: null } };
  },
});

const redeliverBody = z.strictObject({ event: z.string().min(1).max(1_000) }).openapi("Redeliver");

const redeliver = route({
  method: "post",
  path: "/api/webhooks/{id}/redeliver",
  name: "redeliver",
  tag: "webhooks",
  summary: "Deliver an event once more",
  scope: "admin",
  params: webhookParams,
  body: redeliverBody,
  answers: { 200: { description: "It is due now.", schema: delivery } },
  problems: ["unknown-webhook", "not-found"],
  async handle(
    { params, body }: RouteRequest<WebhookPath, unknown, z.infer<typeof redeliverBody>>,
    { webhooks, sender, clock },
  ) {
    const { id } = known(webhooks, params.id);
    const found = webhooks.delivery(id, body.event);
    if (found === undefined)
      throw new Problem("not-found", `\`${body.event}\` is not in the log of deliveries`);
    webhooks.again(found.number, clock.now());
    sender.nudge();
    return { status: 200, body: deliveryLine({ ...found, attempts: 0, due: clock.now() }) };
  },
});

export const webhookRoutes = [
  ...[addWebhook, listWebhooks, removeWebhook, rotateSecret, enableWebhook],
  ...[listDeliveries, redeliver],
];
