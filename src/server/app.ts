// The HTTP side of the server: from a request to a route and back. Everything that goes wrong on the way is
// shown as a problem, and nothing is answered before it is committed.

import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { TraceHeaders } from "../engine/ports.ts";
import { incomingTrace, readTrace } from "../engine/trace-context.ts";
import { checkedRequest } from "./check-request.ts";
import type { Caller, Gate } from "./gate.ts";
import { IdempotentReplies } from "./idempotent-replies.ts";
import type { Mount, MountPath } from "./mount.ts";
import { Problem, problemBody, problemOf } from "./problem.ts";
import { readBody, readBytes } from "./request-body.ts";
import { BODY_BYTES_MAX, type Reply, type Route } from "./route.ts";
import type { ServerParts } from "./server-parts.ts";

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly mounts: readonly Mount[];
  readonly gate: Gate;
  readonly bodyTimeoutMs: number;
}

type Env = { Bindings: HttpBindings };

/** Nothing of ours is to be framed, guessed at, kept or run. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** A path that leads elsewhere than it says is not taken apart but refused. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

export function createApp(parts: ServerParts, options: AppOptions): Hono<Env> {
  const app = new Hono<Env>({ strict: true });
  const around = { parts, options, replies: new IdempotentReplies(parts.side, parts.clock) };
  app.use(async (c, next) => {
    await incomingTrace.run(traceOf(c), next);
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
  });
  app.use((c, next) => {
    if (!DOTS.test((c.env.incoming.url ?? "").split("?", 1)[0] ?? "")) return next();
    throw new Problem("bad-request", "the path has a part that is only dots");
  });
  const places = [...options.routes, ...options.mounts.flatMap(({ paths }) => paths)];
  for (const route of options.routes) {
    app.on(route.method, honoPath(route.path), async (c) => {
      if (parts.isStopping() && route.scope !== null) throw stopping();
      if (c.req.method === "HEAD" && route.streams === true) throw missingRoute(c, places);
      return answer(c, route, around);
    });
  }
  for (const mount of options.mounts)
    for (const path of mount.paths) app.on(path.method, honoPath(path.path), mounted(mount, path, around));
  app.all("*", (c) => {
    // Whoever may not come in is not told what is here.
    options.gate.admit(callerOf(c), null);
    throw missingRoute(c, places);
  });
  app.onError((error, c) => problemResponse(c, error, parts));
  return app;
}

/** The trace a caller is in, for whatever the request starts or moves. */
const traceOf = (c: Context<Env>): TraceHeaders | undefined =>
  readTrace({
    traceparent: c.req.header("traceparent"),
    tracestate: c.req.header("tracestate"),
    baggage: c.req.header("baggage"),
  });

/** `/api/runs/{id}` to `/api/runs/:id`, `{rest*}` to what takes the rest. */
const honoPath = (path: string): string =>
  path.replaceAll(/\{(\w+)\*\}/g, ":$1{.+}").replaceAll(/\{(\w+)\}/g, ":$1");

interface Surroundings {
  readonly parts: ServerParts;
  readonly options: AppOptions;
  readonly replies: IdempotentReplies;
}

async function answer(c: Context<Env>, route: Route, around: Surroundings): Promise<Response> {
  const { parts, options, replies } = around;
  const url = new URL(c.req.url);
  const ticket = route.streams === true ? url.searchParams.get("ticket") : null;
  const principal = options.gate.admit({ ...callerOf(c), ...(ticket !== null && { ticket }) }, route.scope);
  const isOther = (type: string) =>
    Object.hasOwn(route.otherBodies ?? {}, type) ||
    (route.otherHeader !== undefined && c.req.header(route.otherHeader) !== undefined);
  const otherTypes = route.otherBodies && Object.keys(route.otherBodies).join(" or ");
  const body = await readBody(c.req.raw, {
    bytesMax: route.bodyBytesMax ?? BODY_BYTES_MAX,
    timeoutMs: options.bodyTimeoutMs,
    isOther,
    ...(route.body === undefined && { instead: otherTypes }),
  });
  const request = checkedRequest(route, {
    params: c.req.param(),
    path: c.req.path,
    header: (name) => c.req.header(name),
    ...{ url, body, principal },
  });
  const { key, requestId, bodyHash } = request;
  const handle = () => route.handle(request, parts);
  const reply =
    key === undefined || requestId === undefined
      ? await handle()
      : await replies.once({ id: requestId, key, bodyHash }, () => orProblem(handle, c.req.path));
  return reply instanceof Response ? reply : responseOf(c, reply);
}

/** What the run, or the request, is to blame for is the same when it is asked again. */
async function orProblem(handle: () => Promise<Reply | Response>, path: string): Promise<Reply | Response> {
  try {
    return await handle();
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status >= 500 || problem.status === 429) throw error;
    const headers = { ...PROBLEM_TYPE, ...problem.headers };
    return { status: problem.status, body: problemBody(problem, path), headers };
  }
}

const PROBLEM_TYPE = { "content-type": "application/problem+json; charset=utf-8" } as const;

/** A protocol's requests pass the same gate and the same limits. */
const mounted =
  (mount: Mount, path: MountPath, { parts, options }: Surroundings) =>
  async (c: Context<Env>): Promise<Response> => {
    if (parts.isStopping() && path.scope !== null) throw stopping();
    const visits = path.page === true && c.req.header("sec-fetch-mode") === "navigate";
    const principal = options.gate.admit({ ...callerOf(c), visits }, path.scope);
    const { raw } = c.req;
    const bytes = await readBytes(raw, { bytesMax: BODY_BYTES_MAX, timeoutMs: options.bodyTimeoutMs });
    const { method, headers, signal } = raw;
    const body = bytes.length === 0 ? null : new Uint8Array(bytes);
    const request = new Request(raw.url, { method, headers, signal, body });
    return mount.handle({ request, path, params: c.req.param(), principal }, parts);
  };

function responseOf(c: Context<Env>, { status, body, headers = {} }: Reply): Response {
  const isRead = c.req.method === "GET" || c.req.method === "HEAD";
  if (isRead && status === 200 && isKnown(c.req.header("if-none-match"), headers["etag"]))
    return new Response(null, { status: 304, headers });
  if (body === undefined) return new Response(null, { status, headers });
  const type = { "content-type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(body), { status, headers: { ...type, ...headers } });
}

/** Tags are compared as RFC 9110 does it for reads: weakly. */
function isKnown(header: string | undefined, tag: string | undefined): boolean {
  if (header === undefined || tag === undefined) return false;
  return header.split(",").some((one) => ["*", tag].includes(one.trim().replace(/^W\//, "")));
}

function problemResponse(c: Context<Env>, error: unknown, { log }: ServerParts): Response {
  const problem = problemOf(error);
  const { status, headers } = problem;
  const where = { method: c.req.method, path: c.req.path };
  if (status >= 500)
    log.error({ ...where, code: problem.code, err: problem.cause ?? problem }, problem.message);
  else log.debug({ ...where, code: problem.code }, problem.message);
  const body = problemBody(problem, c.req.path);
  return new Response(JSON.stringify(body), { status, headers: { ...PROBLEM_TYPE, ...headers } });
}

function callerOf(c: Context<Env>): Caller {
  return {
    host: c.req.header("host"),
    origin: c.req.header("origin"),
    site: c.req.header("sec-fetch-site"),
    authorization: c.req.header("authorization"),
    cookies: c.req.header("cookie"),
    pageKey: c.req.header("x-packloop-key"),
    changes: c.req.method !== "GET" && c.req.method !== "HEAD",
    address: c.env.incoming.socket.remoteAddress ?? "",
  };
}

const stopping = (): Problem =>
  new Problem("shutting-down", "the server is stopping (try again in a moment)", {
    headers: { "retry-after": "5", connection: "close" },
  });

function missingRoute(c: Context<Env>, places: readonly (Route | MountPath)[]): Problem {
  const path = c.req.path;
  const fits = (place: Route | MountPath) => patternOf(place.path).test(path);
  const methods = places.filter(fits).map(({ method }) => method.toUpperCase());
  if (methods.length === 0)
    return new Problem("not-found", `there is nothing at \`${path.slice(0, 200)}\` (see /openapi.json)`);
  const allow = [...new Set(methods)].join(", ");
  return new Problem("method-not-allowed", `\`${c.req.method}\` is not taken here (${allow})`, {
    headers: { allow },
  });
}

const patternOf = (path: string): RegExp => {
  const rest = path
    .replaceAll(".", "\\.")
    .replaceAll(/\{\w+\*\}/g, ".+")
    .replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${rest}$`);
};
