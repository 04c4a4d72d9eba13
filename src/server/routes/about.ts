// About the server itself: whether it lives, whether it can be used, and what its API is.

import { z } from "@hono/zod-openapi";
import { openApiDocument } from "../openapi.ts";
import { Problem } from "../problem.ts";
import { type Route, type RouteRequest, route } from "../route.ts";

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
  async handle(_request, { isStopping, probe, version }) {
    if (isStopping()) throw new Problem("shutting-down", "the server is stopping");
    await probe();
    return { status: 200, body: { status: "ok", version } };
  },
});

const documentQuery = z.strictObject({
  version: z
    .enum(["3.1", "3.2"])
    .default("3.1")
    .openapi({ description: "Of OpenAPI; 3.2 says what the events of a stream are." }),
});

/** Lists itself as well. */
export function aboutRoutes(others: readonly Route[]): readonly Route[] {
  const documents = new Map<string, object>();
  const own: Route[] = [healthz, readyz];
  own.push(
    route({
      method: "get",
      path: "/openapi.json",
      name: "getOpenApi",
      tag: "server",
      summary: "This document",
      scope: null,
      query: documentQuery,
      answers: { 200: { description: "OpenAPI.", schema: z.looseObject({ openapi: z.string() }) } },
      async handle({ query }: RouteRequest<unknown, z.infer<typeof documentQuery>, unknown>, { version }) {
        const { version: wanted } = query;
        const made = documents.get(wanted) ?? openApiDocument([...others, ...own], version, wanted);
        documents.set(wanted, made);
        return { status: 200, body: made };
      },
    }),
  );
  return own;
}
