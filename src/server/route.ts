// What a route of the API is: everything about it in one place, so that the check of a request, the document
// of the API and the test of who may do what come from the same lines.

import type { z } from "@hono/zod-openapi";
import type { ProblemCode } from "./problem.ts";
import type { Principal, Scope } from "./scope.ts";
import type { ServerParts } from "./server-parts.ts";

/** A JSON body of a request, unless the route says otherwise. */
export const BODY_BYTES_MAX = 10_000_000;

export interface RouteDefinition<P, Q, B> {
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI writes it: `/api/runs/{id}`. */
  readonly path: string;
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  /** Null: open to everybody. */
  readonly scope: Scope | null;
  readonly params?: z.ZodType<P>;
  readonly query?: z.ZodType<Q>;
  readonly body?: z.ZodType<B>;
  /** A request without a body is one with an empty object. */
  readonly bodyOptional?: true;
  readonly bodyBytesMax?: number;
  /** Further media types of the body, which the handler reads by itself; `body` is then not checked. */
  readonly otherBodies?: Readonly<Record<string, z.ZodType>>;
  /** Takes any body, also none, when the request has these headers: they say what it is. */
  readonly otherHeader?: string;
  /** Takes `Idempotency-Key`; whether a repetition is known is the handler's to say. */
  readonly idempotent?: true;
  /** The answer does not end by itself, so there is nothing to ask about its head alone. */
  readonly streams?: true;
  /** Takes `If-Match`. */
  readonly conditional?: true;
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Beyond those that every route has. */
  readonly problems?: readonly ProblemCode[];
  readonly handle: (request: RouteRequest<P, Q, B>, server: ServerParts) => Promise<Reply | Response>;
}

export interface RouteAnswer {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** `application/json` unless given. */
  readonly type?: string;
  /** Given when the request accepts this type. */
  readonly also?: { readonly type: string; readonly schema: z.ZodType };
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** SHA-256 of the body as it came. */
  readonly bodyHash: string;
  /** The body as it came, where it is of another type than JSON. */
  readonly other?: { readonly type: string; readonly bytes: Buffer } | undefined;
  readonly principal: Principal;
  /** From `If-Match`; undefined when any turn will do. */
  readonly ifTurn: number | undefined;
  /** From `Idempotency-Key`. */
  readonly key: string | undefined;
  /** Names a request with a key among those of everybody, to whatever address. */
  readonly requestId?: string | undefined;
  readonly url: URL;
  readonly header: (name: string) => string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Route = RouteDefinition<unknown, unknown, unknown>;

/** Keeps the types of a request inside the route and forgets them outside. */
export const route = <P = unknown, Q = unknown, B = unknown>(definition: RouteDefinition<P, Q, B>): Route =>
  definition as unknown as Route;

/** What never changes may be kept for ever. */
export const IMMUTABLE = { "cache-control": "private, max-age=31536000, immutable" } as const;

/** A run's tag is its turn. */
export const tagOf = (turn: number): Readonly<Record<string, string>> => ({ etag: `"${turn}"` });
