// MCP over HTTP: each request stands for itself, in whichever revision it is written.

import { createMcpHandler } from "@modelcontextprotocol/server";
import { checkDepth } from "../request-body.ts";
import { BODY_BYTES_MAX } from "../route.ts";
import type { Principal } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";
import { type Catalogue, runCatalogue } from "./catalogue.ts";
import { runServer } from "./run-server.ts";

interface HttpTerms {
  readonly principal: Principal;
  readonly parts: ServerParts;
  /** Runs and packs, where it is left out. */
  readonly catalogue: Catalogue | undefined;
}

export async function serveHttp(request: Request, terms: HttpTerms): Promise<Response> {
  const { principal, parts, catalogue = runCatalogue } = terms;
  checkDepth(await request.clone().text());
  const { fetch } = createMcpHandler(({ era }) => runServer({ parts, principal, catalogue, era }), {
    maxRequestBodySize: BODY_BYTES_MAX,
    onerror: (error) => parts.log.debug({ err: error }, "an MCP request was refused"),
  });
  return fetch(request);
}
