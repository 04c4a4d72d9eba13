// Signing in from the page: a token for a cookie.

import { z } from "@hono/zod-openapi";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { SCOPES } from "../scope.ts";

const session = z
  .object({
    name: z.string().nullable().openapi({ description: "Of the token; null without one." }),
    scopes: z.array(z.enum(SCOPES)),
    signed_in: z.boolean().openapi({ description: "False when a token has to be given first." }),
    key: z.string().nullable().openapi({
      description: "To be sent as `X-Packloop-Key` with what changes something; null without a cookie.",
    }),
  })
  .openapi("Session");

const getSession = route({
  method: "get",
  path: "/api/session",
  name: "getSession",
  tag: "server",
  summary: "Who this browser is signed in as",
  scope: null,
  answers: { 200: { description: "Who it is.", schema: session } },
  async handle({ principal, header }, { sessions }) {
    const { name, scopes } = principal;
    const key = sessions.find(header("cookie"))?.key ?? null;
    return { status: 200, body: { name, scopes, signed_in: scopes.length > 0, key } };
  },
});

const sessionBody = z.strictObject({ token: z.string().min(1).max(500) }).openapi("SignIn");

const beginSession = route({
  method: "post",
  path: "/api/session",
  name: "beginSession",
  tag: "server",
  summary: "Sign a browser in with a token",
  scope: null,
  body: sessionBody,
  answers: {
    201: { description: "Signed in.", schema: session, headers: { "Set-Cookie": "The session." } },
  },
  problems: ["unauthenticated"],
  async handle({ body }: RouteRequest<unknown, unknown, z.infer<typeof sessionBody>>, { sessions }) {
    const begun = sessions.begin(body.token);
    if (begun === undefined)
      throw new Problem(
        "unauthenticated",
        "the token is not known here, or was revoked (see packloop token)",
      );
    const { name, scopes } = begun.principal;
    const answer = { name, scopes, signed_in: true, key: begun.key };
    return { status: 201, body: answer, headers: { "set-cookie": begun.cookie } };
  },
});

const endSession = route({
  method: "delete",
  path: "/api/session",
  name: "endSession",
  tag: "server",
  summary: "Sign this browser out",
  scope: null,
  answers: { 200: { description: "Signed out.", schema: z.object({ signed_in: z.literal(false) }) } },
  async handle({ header }, { sessions }) {
    const cookie = sessions.end(header("cookie"));
    return { status: 200, body: { signed_in: false }, headers: { "set-cookie": cookie } };
  },
});

export const sessionRoutes = [getSession, beginSession, endSession];
