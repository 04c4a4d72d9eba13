// What a route is given: parameters, query, headers and body, each held against the route's schema.

import type { z } from "@hono/zod-openapi";
import { toPointer } from "../base/json.ts";
import { requestIdOf } from "./idempotent-replies.ts";
import { Problem } from "./problem.ts";
import type { ReadBody } from "./request-body.ts";
import type { Route, RouteRequest } from "./route.ts";
import type { Principal } from "./scope.ts";

export interface RawRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
  readonly body: ReadBody;
  readonly principal: Principal;
  /** The path as it was asked for. */
  readonly path: string;
}

export function checkedRequest(route: Route, raw: RawRequest): RouteRequest<unknown, unknown, unknown> {
  const { url, header, body, principal } = raw;
  const key = route.idempotent === true ? keyOf(header("idempotency-key")) : undefined;
  const named = { principal: principal.name, method: route.method, path: raw.path };
  return {
    params: checked(route.params, raw.params, "/params"),
    query: checked(route.query, queryOf(url), "/query"),
    body: body.other === undefined ? bodyOf(route, body) : undefined,
    bodyHash: body.hash,
    other: body.other,
    principal,
    ifTurn: route.conditional === true ? turnOf(header("if-match")) : undefined,
    key,
    requestId: key === undefined ? undefined : requestIdOf({ ...named, key }),
    url,
    header,
  };
}

/** A name that is given twice is a list, written with commas as well. */
function queryOf({ searchParams }: URL): Readonly<Record<string, string>> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of searchParams) query[name] = name in query ? `${query[name]},${value}` : value;
  return query;
}

function bodyOf(route: Route, { value }: ReadBody): unknown {
  if (route.body === undefined) {
    if (value === undefined) return undefined;
    throw new Problem("bad-request", "this request takes no body");
  }
  if (value === undefined && route.bodyOptional !== true)
    throw new Problem("bad-request", "the request has no body (send application/json)");
  return checked(route.body, value ?? {}, "");
}

function checked(schema: z.ZodType | undefined, value: unknown, prefix: string): unknown {
  if (schema === undefined) return checkedEmpty(value, prefix);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, 20).map(({ path, message }) => ({
    pointer: `${prefix}${toPointer(path.map((part) => (typeof part === "symbol" ? String(part) : part)))}`,
    message: message.slice(0, 300),
  }));
  const [first] = errors;
  const where = first === undefined || first.pointer === "" ? "" : ` (at ${first.pointer})`;
  throw new Problem("bad-request", `${first?.message ?? "it does not fit"}${where}`, { extras: { errors } });
}

function checkedEmpty(value: unknown, prefix: string): unknown {
  const [name] = Object.keys(value as object);
  if (name === undefined || prefix === "/params") return value;
  throw new Problem("bad-request", `\`${name.slice(0, 100)}\` is not a parameter of this address`);
}

/** A run's tag is its turn; `*` is any. */
function turnOf(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  const match = /^\s*(?:W\/)?"?(\d{1,15})"?\s*$/.exec(header);
  if (match !== null) return Number(match[1]);
  throw new Problem("bad-request", `If-Match expects a turn such as "7", got \`${header.slice(0, 100)}\``);
}

function keyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (/^[\x20-\x7e]{1,255}$/.test(header) && header.trim() !== "") return header;
  throw new Problem("bad-request", "Idempotency-Key expects 1 to 255 printable characters");
}
