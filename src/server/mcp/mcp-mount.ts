// MCP at `/mcp`: runs as tools, resources and tasks for clients that speak the protocol.

import type { Mount, MountPath } from "../mount.ts";
import type { Catalogue } from "./catalogue.ts";

/** Each tool asks for its own scope. */
const path = (method: MountPath["method"]): MountPath => ({ method, path: "/mcp", scope: "any" });

export interface McpOptions {
  /** What is offered in place of runs and packs. */
  readonly mcpCatalogue?: Catalogue | undefined;
}

export const mcpMount = ({ mcpCatalogue: catalogue }: McpOptions): Mount => ({
  name: "mcp",
  paths: [path("post"), path("get"), path("delete")],
  async handle({ request, principal }, parts) {
    // Loaded when somebody speaks the protocol.
    return await (await import("./serve-http.ts")).serveHttp(request, { principal, parts, catalogue });
  },
});
