// Results that are too large to be sent along, and files sent to runs, by the hash of their content.

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
  summary: "A large result of a step or a file sent to a run, by the SHA-256 of its content",
  scope: "runs:read",
  params: blobParams,
  answers: {
    200: {
      description:
        "The content of a result: a text as it is (`text/plain`), anything else as JSON. A file has the type it was sent with, and is for saving only.",
      schema: z.string(),
      type: "text/plain",
      also: { type: "application/json", schema: z.unknown() },
      headers: { ETag: "The hash." },
    },
    304: { description: "It is the one in If-None-Match." },
  },
  problems: ["unknown-blob"],
  async handle({ params, header }: RouteRequest<{ sha256: string }, unknown, unknown>, parts) {
    const { sha256 } = params;
    const { blobs, store, clock } = parts;
    const found = await blobs.find(store, sha256, clock.now());
    if (found === undefined)
      throw new Problem("unknown-blob", `no run has \`${sha256}\` any more (ask for the step that named it)`);
    const headers = { ...IMMUTABLE, etag: `"${sha256}"` };
    if (header("if-none-match") === `"${sha256}"`) return new Response(null, { status: 304, headers });
    const { bytes, type, name } = found;
    const foreign = name === undefined ? {} : { ...FOREIGN, "content-disposition": saved(name) };
    return new Response(new Uint8Array(bytes), {
      status: 200,
      headers: { ...headers, ...foreign, "content-type": type, "x-content-type-options": "nosniff" },
    });
  },
});

/** A page that somebody sent must not act in the name of this server. */
const FOREIGN = { "content-security-policy": "sandbox; default-src 'none'" };

const saved = (name: string): string =>
  name === "" ? "attachment" : `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;

export const blobRoutes = [getBlob];
