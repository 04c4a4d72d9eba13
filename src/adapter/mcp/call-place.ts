// What one call of a tool needs besides its arguments, and how a request is made there: errors become answers
// or faults.

import { type CallContext, Fault } from "../../engine/ports.ts";
import type { Surroundings } from "../tool/bound-tool.ts";
import { type Failed, failureOf } from "./call-failure.ts";
import type { RequestLimits } from "./mcp-connection.ts";
import type { McpServers, OpenServer } from "./mcp-servers.ts";

export interface CallPlace {
  readonly servers: McpServers;
  readonly server: OpenServer;
  readonly around: Surroundings;
  readonly label: string;
  /** A call may be made again when its end is unknown. */
  readonly safe: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export const limitsOf = ({ timeoutMs }: CallPlace, { signal }: CallContext): RequestLimits => ({
  signal,
  timeoutMs,
});

export type Performed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly answer: Failed };

export async function performed<T>(
  place: CallPlace,
  request: Promise<T>,
  { signal }: CallContext,
): Promise<Performed<T>> {
  const { servers, server, label, safe } = place;
  try {
    return { ok: true, value: await request };
  } catch (error) {
    // Given up from our side; the client has told the server.
    signal.throwIfAborted();
    const { tail, retryAfterMs } = server.state;
    const { redact } = server;
    const failure = failureOf(error, { label, phase: "call", safe, tail, retryAfterMs, redact });
    if (!(failure instanceof Fault)) return { ok: false, answer: failure };
    if (failure.code === "session_gone") servers.forget(server);
    throw failure;
  }
}
