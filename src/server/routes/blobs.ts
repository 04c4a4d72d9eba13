// Results that are too large to be sent along, by the hash of their content.

import { z } from "@hono/zod-openapi";
import { Problem } from "../problem.ts";
import { IMMUTABLE, type RouteRequest, route } from "../route.ts";

const blobParams = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .openapi({ description: "As a step names it." }),
});

const getBlob = route({
  method: "get",
  path: "/api/blobs/{sha256}",
  name: "getBlob",
  tag: "history",
  summary: "A large result of a step, by the SHA-256 of its content",
  scope: "runs:read",
  params: blobParams,
  answers: {
    200: {
      description: "The content: a text as it is (`text/plain`), anything else as JSON.",
      schema: z.string(),
      type: "text/plain",
      also: { type: "application/json", schema: z.unknown() },
      headers: { ETag: "The hash." },
    },
    304: { description: "It is the one in If-None-Match." },
  },
  problems: ["unknown-blob"],
  async handle({ params, header }: RouteRequest<{ sha256: string }, unknown, unknown>, { blobs, store }) {
    const { sha256 } = params;
    const found = await blobs.find(store, sha256);
    if (found === undefined)
      throw new Problem("unknown-blob", `no run has \`${sha256}\` any more (ask for the step that named it)`);
    const headers = { ...IMMUTABLE, etag: `"${sha256}"` };
    if (header("if-none-match") === `"${sha256}"`) return new Response(null, { status: 304, headers });
    const { bytes, type } = found;
    return new Response(new Uint8Array(bytes), {
      status: 200,
      headers: { ...headers, "content-type": type, "x-content-type-options": "nosniff" },
    });
  },
});

export const blobRoutes = [getBlob];
