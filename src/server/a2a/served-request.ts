// A request to an agent, with what both bindings need to answer it.

import { A2A_VERSION_HEADER } from "@a2a-js/sdk";
import type { Logger } from "pino";
import type { Json } from "../../base/json.ts";
import { readBody } from "../request-body.ts";
import { BODY_BYTES_MAX } from "../route.ts";

export interface ServedRequest {
  readonly request: Request;
  /** `1.0`, `0.3`, or whatever else was asked for. */
  readonly version: string;
  /** What follows the agent's own path, decoded: `["tasks", "r_1:cancel"]`. */
  readonly rest: readonly string[];
  readonly log: Logger;
  /** The client has gone: whatever waits for it ends. */
  readonly leave: () => void;
}

/** By header, or by parameter for those who can set none. Nothing means 0.3; a patch level means nothing. */
export function versionOf(request: Request): string {
  const given =
    request.headers.get(A2A_VERSION_HEADER) ?? new URL(request.url).searchParams.get(A2A_VERSION_HEADER);
  const version = given?.trim() ?? "";
  return version === "" ? "0.3" : version.replace(/^(\d+\.\d+)\.\d+$/, "$1");
}

/** It has arrived already; undefined when there is none. */
export async function jsonBody(request: Request): Promise<Json | undefined> {
  const limits = { bytesMax: BODY_BYTES_MAX, timeoutMs: 10_000, isOther: () => false };
  return (await readBody(request, limits)).value;
}
