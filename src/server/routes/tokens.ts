// Who may come in: tokens made, listed and revoked, and tickets for browsers.

import { z } from "@hono/zod-openapi";
import { isoTime } from "../../base/iso-time.ts";
import { Problem } from "../problem.ts";
import { type RouteRequest, route } from "../route.ts";
import { listOf, time } from "../schemas/shared.ts";
import { SCOPES } from "../scope.ts";
import { type KeptToken, keptToken, newToken, TOKEN_NAME } from "../tokens.ts";

const scopes = z.array(z.enum(SCOPES).openapi("Scope"));
const tokenName = z.string().regex(TOKEN_NAME, "expected letters, digits, and . _ - @, 64 at most");

const tokenLine = z.object({ name: z.string(), scopes, created_at: time }).openapi("Token");

const lineOf = ({ name, scopes: allowed, created_at }: KeptToken) => ({ name, scopes: allowed, created_at });

const tokenBody = z.strictObject({ name: tokenName, scopes: scopes.min(1) }).openapi("MakeToken");

const makeToken = route({
  method: "post",
  path: "/api/tokens",
  name: "makeToken",
  tag: "server",
  summary: "Make a token",
  scope: "admin",
  body: tokenBody,
  answers: {
    201: {
      description: "The token, which is shown this once.",
      schema: tokenLine.extend({ token: z.string() }).openapi("NewToken"),
    },
  },
  problems: ["token-exists"],
  async handle({ body }: RouteRequest<unknown, unknown, z.infer<typeof tokenBody>>, { tokens, clock }) {
    const { name } = body;
    const all = tokens.list();
    if (all.some((one) => one.name === name))
      throw new Problem(
        "token-exists",
        `there is a token \`${name}\` already (remove it, or choose another name)`,
      );
    const token = newToken();
    const kept = keptToken(name, token, [...new Set(body.scopes)], isoTime(clock.now()));
    tokens.replace([...all, kept]);
    return { status: 201, body: { ...lineOf(kept), token } };
  },
});

const listTokens = route({
  method: "get",
  path: "/api/tokens",
  name: "listTokens",
  tag: "server",
  summary: "List tokens, never the tokens themselves",
  scope: "admin",
  answers: { 200: { description: "All of them.", schema: listOf(tokenLine, "TokenList") } },
  handle: async (_request, { tokens }) => ({
    status: 200,
    body: { items: tokens.list().map(lineOf), next_cursor: null },
  }),
});

const removeToken = route({
  method: "delete",
  path: "/api/tokens/{name}",
  name: "removeToken",
  tag: "server",
  summary: "Let a token in no more",
  scope: "admin",
  params: z.strictObject({ name: z.string().min(1).max(100) }),
  answers: { 200: { description: "Removed.", schema: z.object({ removed: z.string() }) } },
  problems: ["unknown-token"],
  async handle({ params: { name } }: RouteRequest<{ name: string }, unknown, unknown>, { tokens }) {
    const all = tokens.list();
    const left = all.filter((one) => one.name !== name);
    if (left.length === all.length) throw new Problem("unknown-token", `there is no token \`${name}\``);
    tokens.replace(left);
    return { status: 200, body: { removed: name } };
  },
});

const ticketLine = z.object({ ticket: z.string(), expires_at: time }).openapi("Ticket");

const makeTicket = route({
  method: "post",
  path: "/api/tickets",
  name: "makeTicket",
  tag: "server",
  summary: "A ticket that opens one stream within a minute, as `?ticket=`",
  scope: "runs:read",
  body: z.strictObject({}).openapi("MakeTicket"),
  bodyOptional: true,
  answers: { 201: { description: "Good once.", schema: ticketLine } },
  async handle({ principal }, { tickets }) {
    const { ticket, until } = tickets.issue(principal);
    return { status: 201, body: { ticket, expires_at: isoTime(until) } };
  },
});

export const tokenRoutes = [makeToken, listTokens, removeToken, makeTicket];
