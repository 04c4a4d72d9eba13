// Other systems that speak to runs without a token: what they send is signed, and taken once.

import { z } from "@hono/zod-openapi";
import { isoTime } from "../../base/iso-time.ts";
import { get, type Json } from "../../base/json.ts";
import type { Input } from "../../core/input.ts";
import { selfApproval } from "../approver.ts";
import { demandScope } from "../demand-scope.ts";
import { requestIdOf } from "../idempotent-replies.ts";
import { Problem } from "../problem.ts";
import { jsonOf } from "../request-body.ts";
import { type RouteRequest, route } from "../route.ts";
import { sayTo } from "../run-summary.ts";
import { answerBody, approvalBody, eventBody, messageBody } from "../schemas/requests.ts";
import { summary } from "../schemas/run-shapes.ts";
import { listOf, time, whole } from "../schemas/shared.ts";
import { type Principal, speaker } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";
import type { Hook } from "../webhook/hook-book.ts";
import { isVerifier, newSecret } from "../webhook/signature.ts";
import { type Verified, verifySlack, verifyStandard } from "../webhook/verify-signature.ts";
import { answerInput, decisionInput } from "./people.ts";

const HOOKS_MAX = 100;
const BYTES_MAX = 256 * 1024;
const FORM = "application/x-www-form-urlencoded";

const kind = z.enum(["standard", "slack"]).openapi("HookKind");
const mayDo = z.enum(["events:send", "approvals:decide"]);

const hookBody = z
  .strictObject({
    name: z.string().min(1).max(100).openapi({ description: "Who it is, in the journal." }),
    kind: kind.optional().openapi({ description: "How it signs: Standard Webhooks unless given." }),
    scopes: z.array(mayDo).min(1).max(2),
    secret: z.string().min(16).max(200).optional().openapi({
      description:
        "whsec_… made here if left out, or whpk_… of a sender that keeps its key (v1a); of `slack` the signing secret of the app.",
    }),
  })
  .openapi("AddHook");

const hookLine = z
  .object({ id: z.string(), name: z.string(), kind, scopes: z.array(mayDo), created_at: time })
  .openapi("Hook");

const lineOf = ({ id, name, kind: how, scopes, at }: Hook) => ({
  ...{ id, name, kind: how, scopes },
  created_at: isoTime(at),
});

const addHook = route({
  method: "post",
  path: "/api/hooks",
  name: "addHook",
  tag: "hooks",
  summary: "Let another system speak to runs with signed requests",
  scope: "admin",
  body: hookBody,
  answers: {
    201: {
      description: "The hook with its secret, which is shown this once.",
      schema: hookLine.extend({ secret: z.string() }).openapi("NewHook"),
    },
  },
  problems: ["too-many-webhooks"],
  async handle({ body }: RouteRequest<unknown, unknown, z.infer<typeof hookBody>>, { hooks, clock }) {
    const { name, kind: how = "standard", scopes, secret } = body;
    if (how === "slack" && secret === undefined)
      throw new Problem("bad-request", "`secret` is missing: Slack signs with the signing secret of the app");
    if (how === "standard" && secret !== undefined && !isVerifier(secret))
      throw new Problem(
        "bad-request",
        "`secret` is expected to be whsec_ and 24 to 64 bytes in base64, or a public key as whpk_",
      );
    if (hooks.all().length >= HOOKS_MAX)
      throw new Problem("too-many-webhooks", `there are ${HOOKS_MAX} hooks already`, {
        extras: { limit: HOOKS_MAX },
      });
    const made = hooks.add({ name, kind: how, scopes, secret: secret ?? newSecret(), at: clock.now() });
    return { status: 201, body: { ...lineOf(made), secret: made.secret } };
  },
});

const listHooks = route({
  method: "get",
  path: "/api/hooks",
  name: "listHooks",
  tag: "hooks",
  summary: "List the systems that may speak to runs, without their secrets",
  scope: "admin",
  answers: { 200: { description: "All of them.", schema: listOf(hookLine, "HookList") } },
  handle: async (_request, { hooks }) => ({
    status: 200,
    body: { items: hooks.all().map(lineOf), next_cursor: null },
  }),
});

const hookParams = z.strictObject({ hook: z.string().min(1).max(100) });
type HookPath = z.infer<typeof hookParams>;

const removeHook = route({
  method: "delete",
  path: "/api/hooks/{hook}",
  name: "removeHook",
  tag: "hooks",
  summary: "Take nothing from this system any more",
  scope: "admin",
  params: hookParams,
  answers: { 200: { description: "Removed.", schema: z.object({ removed: z.string() }) } },
  problems: ["unknown-webhook"],
  async handle({ params }: RouteRequest<HookPath, unknown, unknown>, { hooks }) {
    if (hooks.find(params.hook) === undefined)
      throw new Problem("unknown-webhook", `there is no hook \`${params.hook}\``);
    hooks.remove(params.hook);
    return { status: 200, body: { removed: params.hook } };
  },
});

const run = z.string().min(1).max(500);
const step = whole.min(1);
const said = z.union([
  eventBody.omit({ name: true, dedupe_key: true }).extend({ run, event: eventBody.shape.name }),
  messageBody.omit({ text: true, dedupe_key: true }).extend({ run, message: messageBody.shape.text }),
  approvalBody.extend({ run, step }),
  answerBody.extend({ run, step }),
]);
type Said = z.infer<typeof said>;

const hearHook = route({
  method: "post",
  path: "/api/hooks/{hook}",
  name: "hearHook",
  tag: "hooks",
  summary: "Say something to a run with a signature in place of a token",
  scope: null,
  params: hookParams,
  body: said.openapi("HookMessage", {
    description: "`run` with one of `event`, `message`, `step` and `decision`, `step` and an answer.",
  }),
  otherBodies: { "application/json": said, [FORM]: z.object({ payload: z.string() }) },
  bodyBytesMax: BYTES_MAX,
  answers: {
    200: { description: "How the run stands now.", schema: summary, headers: { ETag: "Its turn." } },
  },
  problems: [
    ...(["unauthenticated", "scope-missing", "unsupported-media-type", "unknown-run"] as const),
    ...(["unknown-step", "run-finished", "event-not-allowed", "not-waiting", "bad-artifact"] as const),
    ...(["pending-tool-mismatch", "hash-mismatch", "bad-arguments", "self-approval"] as const),
  ],
  async handle(request: RouteRequest<HookPath, unknown, unknown>, parts) {
    const { params, other, header, bodyHash } = request;
    const hook = parts.hooks.find(params.hook);
    const verified = other === undefined ? undefined : verify(hook, parts, other.bytes, header);
    // Who does not know the secret learns nothing, not even which hooks there are.
    if (hook === undefined || other === undefined || verified?.ok !== true)
      throw new Problem("unauthenticated", `the request is not taken: ${whyNot(verified)}`);
    const { by, ...message } = messageIn(hook, other.bytes, other.type);
    const principal: Principal = { name: `hook ${hook.name}`, scopes: hook.scopes };
    const place = { at: parts.clock.now(), by: speaker(principal, by) };
    const input = await inputOf(parts, principal, message, place);
    const named = { principal: hook.id, method: "post", path: message.run };
    const requestId = requestIdOf({ ...named, key: verified.id });
    const said = { params: { id: message.run }, ifTurn: undefined, key: verified.id, requestId, bodyHash };
    return sayTo(parts, said, input);
  },
});

function verify(
  hook: Hook | undefined,
  { clock }: ServerParts,
  body: Buffer,
  header: (name: string) => string | undefined,
): Verified {
  const secret = hook?.secret ?? newSecret();
  const signed = { secret, body, header, now: clock.now() };
  return hook?.kind === "slack" ? verifySlack(signed) : verifyStandard(signed);
}

const whyNot = (verified: Verified | undefined): string =>
  verified === undefined || verified.ok ? "it is not signed" : verified.why;

/** Slack sends a form, in which the value of the button that was pressed is what we put there. */
function messageIn({ kind: how }: Hook, bytes: Buffer, type: string): Said {
  const isForm = type === FORM;
  if (isForm !== (how === "slack"))
    throw new Problem("unsupported-media-type", `\`${type}\` is not what this hook sends`);
  const given = isForm ? pressed(bytes) : jsonOf(bytes);
  const result = said.safeParse(given);
  if (result.success) return result.data;
  throw new Problem("bad-request", "it names no run, or not one thing to say to it (see /openapi.json)");
}

function pressed(bytes: Buffer): Json {
  const payload = new URLSearchParams(bytes.toString("utf8")).get("payload") ?? "null";
  const form = jsonOf(Buffer.from(payload, "utf8"));
  const actions = get(form, "actions");
  const value = Array.isArray(actions) ? get((actions as readonly Json[])[0] ?? null, "value") : undefined;
  const user = get(get(form, "user") ?? null, "username");
  const said = jsonOf(Buffer.from(typeof value === "string" ? value : "null", "utf8"));
  const by = typeof user === "string" ? { by: user.slice(0, 100) } : {};
  return typeof said === "object" && said !== null && !Array.isArray(said) ? { ...said, ...by } : null;
}

/** Each wants the scope that its route wants of a token. */
async function inputOf(
  parts: ServerParts,
  principal: Principal,
  message: Omit<Said, "by">,
  place: { readonly at: number; readonly by: string },
): Promise<Input> {
  if ("decision" in message) {
    demandScope(principal, "approvals:decide");
    const { run: id, step: number, ...decision } = message as z.infer<typeof approvalBody> & Target;
    const problem = await selfApproval(parts, principal, id);
    if (problem !== undefined) throw problem;
    return decisionInput(decision, { ...place, step: number });
  }
  demandScope(principal, "events:send");
  if ("event" in message) {
    const { event, context, artifacts } = message as z.infer<(typeof said.options)[0]>;
    return {
      ...{ ...place, type: "event", name: event },
      ...(context !== undefined && { context }),
      ...(artifacts !== undefined && { artifacts }),
    };
  }
  if ("message" in message) {
    const { message: text } = message as z.infer<(typeof said.options)[1]>;
    return { ...place, type: "message", text };
  }
  const { run: _run, step: number, ...answer } = message as z.infer<typeof answerBody> & Target;
  return answerInput(answer, { ...place, step: number });
}

interface Target {
  readonly run: string;
  readonly step: number;
}

export const hookRoutes = [addHook, listHooks, removeHook, hearHook];
