// Every protocol beside the API.

import { a2aMount } from "./a2a/a2a-mount.ts";
import type { A2aOptions } from "./a2a/a2a-service.ts";
import { aguiMount } from "./agui/agui-mount.ts";
import { type McpOptions, mcpMount } from "./mcp/mcp-mount.ts";
import type { Mount } from "./mount.ts";
import { webMount } from "./web-page.ts";

export interface MountOptions extends A2aOptions, McpOptions {
  /** Where the built page is, if not beside the server. */
  readonly webFolder?: string | undefined;
}

export const allMounts = (options: MountOptions): readonly Mount[] => [
  ...[a2aMount(options), aguiMount, mcpMount(options)],
  webMount(options.webFolder),
];
