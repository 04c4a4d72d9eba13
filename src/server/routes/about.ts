// About the server itself: whether it lives, whether it can be used, and what its API is.

import { z } from "@hono/zod-openapi";
import { openApiDocument } from "../openapi.ts";
import { Problem } from "../problem.ts";
import { type Route, route } from "../route.ts";

const health = z.object({ status: z.literal("ok"), version: z.string() }).openapi("Health");

const healthz = route({
  method: "get",
  path: "/healthz",
  name: "healthz",
  tag: "server",
  summary: "Whether the process lives",
  scope: null,
  answers: { 200: { description: "It does.", schema: health } },
  handle: async (_request, { version }) => ({ status: 200, body: { status: "ok", version } }),
});

const readyz = route({
  method: "get",
  path: "/readyz",
  name: "readyz",
  tag: "server",
  summary: "Whether requests are answered and the store takes turns",
  scope: null,
  answers: { 200: { description: "They are, and it does.", schema: health } },
  problems: ["shutting-down", "store-unavailable"],
  async handle(_request, { isStopping, store, clock, version }) {
    if (isStopping()) throw new Problem("shutting-down", "the server is stopping");
    // Throws what is wrong with the store.
    await store.runnable(clock.now(), 1);
    return { status: 200, body: { status: "ok", version } };
  },
});

/** Lists itself as well. */
export function aboutRoutes(others: readonly Route[]): readonly Route[] {
  let document: object | undefined;
  const own: Route[] = [healthz, readyz];
  own.push(
    route({
      method: "get",
      path: "/api/openapi.json",
      name: "getOpenApi",
      tag: "server",
      summary: "This document",
      scope: null,
      answers: { 200: { description: "OpenAPI 3.1.", schema: z.looseObject({ openapi: z.string() }) } },
      async handle(_request, { version }) {
        document ??= openApiDocument([...others, ...own], version);
        return { status: 200, body: document };
      },
    }),
  );
  return own;
}
