// The document of the API, made from the schemas that requests are checked with.

import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { JsonObject } from "../base/json.ts";
import { PROBLEMS, type ProblemCode } from "./problem.ts";
import type { Route, RouteAnswer } from "./route.ts";
import { problem } from "./schemas/shared.ts";
import { SCOPES } from "./scope.ts";

/** What any request may be told. */
const ALWAYS: readonly ProblemCode[] = [
  "bad-request",
  "host-refused",
  "origin-refused",
  "rate-limited",
  "internal",
];
const WITH_TOKEN: readonly ProblemCode[] = [
  "unauthenticated",
  "scope-missing",
  "store-corrupt",
  "store-unavailable",
  "shutting-down",
];
const WITH_BODY: readonly ProblemCode[] = [
  "bad-json",
  "payload-too-large",
  "unsupported-media-type",
  "request-timeout",
];
const WITH_KEY: readonly ProblemCode[] = ["request-in-flight", "idempotency-key-reused"];

/** 3.2 is the same and says what the events of a stream are. */
export function openApiDocument(
  routes: readonly Route[],
  version: string,
  spec: "3.1" | "3.2" = "3.1",
): JsonObject {
  const made = new OpenAPIHono();
  const { openAPIRegistry: registry } = made;
  registry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description: `A token with scopes: ${SCOPES.join(", ")}. Not needed on a loopback address.`,
  });
  for (const route of routes) registry.registerPath(pathOf(route, spec) as never);
  const document = made.getOpenAPI31Document({
    openapi: `${spec}.0`,
    info: {
      title: "packloop",
      version,
      description: "Runs PromptPack workflows as durable loops.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    } as never,
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({
      name,
      description: TAGS[name] ?? name,
    })),
  });
  return document as unknown as JsonObject;
}

const TAGS: Readonly<Record<string, string>> = {
  runs: "Starting runs, looking at them, ending them.",
  history: "The way a run took, turn by turn.",
  people: "What people and other programs say to runs.",
  packs: "Packs that runs can be started from.",
  webhooks: "Who is told what happens.",
  server: "About the server itself.",
};

function pathOf(route: Route, spec: string): JsonObject {
  const { method, path, name, tag, summary, scope, params, query, body, bodyOptional } = route;
  const headers = headersOf(route);
  const others = Object.entries(route.otherBodies ?? {}).map(([type, schema]) => [type, { schema }]);
  const request = {
    ...(params !== undefined && { params }),
    ...(query !== undefined && { query }),
    ...(headers !== undefined && { headers }),
    ...(takesBody(route) && {
      body: {
        required: bodyOptional !== true,
        content: {
          ...(body !== undefined && { "application/json": { schema: body } }),
          ...(Object.fromEntries(others) as JsonObject),
        },
      },
    }),
  };
  return {
    method,
    path,
    operationId: name,
    tags: [tag],
    summary,
    description: scope === null ? `${summary}.` : `${summary}. Needs the scope \`${scope}\`.`,
    security: scope === null ? [] : [{ token: [] }],
    request,
    responses: { ...goodResponses(route, spec), ...badResponses(route) },
  } as unknown as JsonObject;
}

const takesBody = ({ body, otherBodies }: Route): boolean => body !== undefined || otherBodies !== undefined;

function headersOf({ idempotent, conditional }: Route): z.ZodObject | undefined {
  if (idempotent !== true && conditional !== true) return undefined;
  return z.object({
    ...(idempotent === true && {
      "Idempotency-Key": z
        .string()
        .optional()
        .openapi({ description: "Sent again with the same key and body, the first reply is given again." }),
    }),
    ...(conditional === true && {
      "If-Match": z
        .string()
        .optional()
        .openapi({ description: 'The turn the sender has seen, such as "7"; 412 when the run moved on.' }),
    }),
  });
}

function goodResponses({ answers }: Route, spec: string): JsonObject {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, responseOf(answer, spec)]),
  ) as unknown as JsonObject;
}

/** An event of a stream, as OpenAPI 3.2 describes one. */
const STREAM_ITEM = {
  type: "object",
  required: ["data"],
  properties: {
    id: { type: "string" },
    event: { type: "string", enum: ["snapshot", "turn", "token", "resync", "end"] },
    data: { type: "string", contentMediaType: "application/json" },
    retry: { type: "integer" },
  },
} as const;

function responseOf(answer: RouteAnswer, spec: string) {
  const { description, schema, type = "application/json", headers = {}, also } = answer;
  const isStream = type === "text/event-stream" && spec === "3.2";
  const content = {
    ...(schema !== undefined && { [type]: isStream ? { itemSchema: STREAM_ITEM } : { schema } }),
    ...(also !== undefined && { [also.type]: { schema: also.schema } }),
  };
  const named = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: "string" } },
  ]);
  return {
    description,
    ...(named.length > 0 && { headers: Object.fromEntries(named) as JsonObject }),
    ...(schema !== undefined && { content }),
  };
}

/** Codes that share a status are one response. */
function badResponses(route: Route): JsonObject {
  const codes = new Set<ProblemCode>([
    ...ALWAYS,
    ...(route.scope === null ? [] : WITH_TOKEN),
    ...(takesBody(route) ? WITH_BODY : []),
    ...(route.idempotent === true ? WITH_KEY : []),
    ...(route.conditional === true ? (["precondition-failed"] as const) : []),
    ...(route.problems ?? []),
  ]);
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const [status] = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { "application/problem+json": { schema: problem } };
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      { description: all.map((code) => `\`${code}\`: ${PROBLEMS[code][2]}.`).join(" "), content },
    ]),
  ) as unknown as JsonObject;
}
