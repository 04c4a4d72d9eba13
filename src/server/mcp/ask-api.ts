// Asks a route of the API for a caller of another protocol: what is allowed, what is checked and what is said
// to the run is the route's.

import { createHash } from "node:crypto";
import { must } from "../../base/assert.ts";
import { canonical, type JsonObject } from "../../base/json.ts";
import { demandScope } from "../demand-scope.ts";
import { requestIdOf } from "../idempotent-replies.ts";
import type { Reply, Route } from "../route.ts";
import { allRoutes } from "../routes.ts";
import { MCP_SPEAKER, type McpCall } from "./mcp-call.ts";

export interface ApiRequest {
  /** The route's name. */
  readonly route: string;
  readonly params?: JsonObject;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** In place of the call's own. */
  readonly key?: string | undefined;
}

let routes: ReadonlyMap<string, Route> | undefined;

export async function askApi(call: McpCall, request: ApiRequest): Promise<Reply> {
  const { parts, principal } = call;
  routes ??= new Map(allRoutes().map((one) => [one.name, one]));
  const route = must(routes.get(request.route), `the API has a route ${request.route}`);
  const { params = {}, query = {}, body = {}, key = call.key } = request;
  const { scope } = route;
  if (scope !== null) demandScope(principal, scope);
  const place = { principal: principal.name, method: "mcp", path: `${route.name} ${canonical(params)}` };
  const reply = await route.handle(
    {
      ...{ params, query, body, principal, key },
      bodyHash: createHash("sha256")
        .update(canonical(body as JsonObject))
        .digest("hex"),
      other: undefined,
      ifTurn: undefined,
      requestId: key === undefined ? undefined : requestIdOf({ ...place, key }),
      url: new URL("mcp:///"),
      header: () => undefined,
    },
    parts,
  );
  return must(reply instanceof Response ? undefined : reply, `${route.name} answers with a value`);
}

/** A token speaks for itself; without one the journal says where it came from. */
export const spoken = <B extends object>(body: B, { principal }: McpCall): B & { readonly by?: string } =>
  principal.name === null && !("by" in body && body.by !== undefined) ? { ...body, by: MCP_SPEAKER } : body;

export const sparse = <T extends object>(body: T): T =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as T;
