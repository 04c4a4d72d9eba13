// What `packloop serve` needs: a file of tokens that only its owner can touch, and a port.

import { statSync } from "node:fs";
import { createServer } from "node:net";
import { isObject, type Json } from "../../base/json.ts";
import { Fault } from "../../engine/ports.ts";
import { readTokens } from "../../server/tokens.ts";
import { type Checked, fail, ok, warn } from "./checked.ts";

export function tokensCheck(file: string): Checked {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return ok("tokens", "none (only a server beyond this machine needs one)");
  // Windows has no such bits.
  const open = process.platform === "win32" ? 0 : stat.mode & 0o077;
  if (open !== 0) {
    const mode = (stat.mode & 0o777).toString(8);
    return fail("tokens", {
      found: `others can get at \`${file}\` (mode ${mode})`,
      remedy: `chmod 600 ${file}`,
    });
  }
  try {
    const { length } = readTokens(file);
    return ok("tokens", `${length} in \`${file}\`, for its owner only`);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const remedy = "move it away and make tokens anew with packloop token create";
    return fail("tokens", { found: error.message, remedy });
  }
}

export interface PortQuestion {
  readonly port: number;
  /** Somebody wants this very port; else it is the usual one, which others may have. */
  readonly isAsked: boolean;
  /** Where the server listens that has the store, if one does. */
  readonly ours: string | undefined;
  /** Any number of servers may work on the store. */
  readonly isShared: boolean;
}

const HOST = "127.0.0.1";

export async function portCheck({ port, isAsked, ours, isShared }: PortQuestion): Promise<Checked> {
  const problem = await listenProblem(port);
  if (problem === undefined) return ok("port", `${port} is free`);
  const say = isAsked ? fail : warn;
  const remedy = "give packloop serve another --port";
  if (problem !== "EADDRINUSE") return say("port", { found: `${port} cannot be used (${problem})`, remedy });
  const version = await packloopAt(port);
  if (version === undefined) return say("port", { found: `${port} is taken by another program`, remedy });
  const isOurs = isShared || (ours !== undefined && new URL(ours).port === String(port));
  if (isOurs) return ok("port", `${port} is where packloop ${version} serves`);
  return say("port", { found: `${port} is taken by a packloop that serves another store`, remedy });
}

/** The code of what is in the way of listening there. */
function listenProblem(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
    server.listen({ port, host: HOST }, () => server.close(() => resolve(undefined)));
  });
}

const PROBE_MS = 2_000;

/** Its version; undefined when it is something else that listens. */
async function packloopAt(port: number): Promise<string | undefined> {
  try {
    const response = await fetch(`http://${HOST}:${port}/healthz`, { signal: AbortSignal.timeout(PROBE_MS) });
    const body = (await response.json()) as Json;
    const version = isObject(body) && body["status"] === "ok" ? body["version"] : undefined;
    return typeof version === "string" ? version : undefined;
  } catch {
    // No answer, or none in HTTP and JSON: not a packloop.
    return undefined;
  }
}
