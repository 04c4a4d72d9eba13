// MCP at `/mcp`: runs as tools, resources and tasks for clients that speak the protocol.

import type { Mount, MountPath } from "../mount.ts";

/** Each tool asks for its own scope. */
const path = (method: MountPath["method"]): MountPath => ({ method, path: "/mcp", scope: "any" });

export const mcpMount: Mount = {
  name: "mcp",
  paths: [path("post"), path("get"), path("delete")],
  async handle({ request, principal }, parts) {
    // Loaded when somebody speaks the protocol.
    return await (await import("./serve-http.ts")).serveHttp(request, principal, parts);
  },
};
