// A protocol that brings its own way of reading requests and writing answers. The server lets in whom it lets
// in everywhere, and reads the body within its limits; the rest is the protocol's.

import type { Principal, Scope } from "./scope.ts";
import type { ServerParts } from "./server-parts.ts";

export interface Mount {
  readonly name: string;
  readonly paths: readonly MountPath[];
  readonly handle: (request: MountRequest, parts: ServerParts) => Promise<Response>;
}

export interface MountPath {
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI writes it: `/a2a/{pack}/{agent}`. `{rest*}` takes all that follows. */
  readonly path: string;
  /** The least that is needed here; null is open to everybody. What a request asks for may need more. */
  readonly scope: Scope | null;
}

export interface MountRequest {
  /** Its body was read already and is in here again. */
  readonly request: Request;
  readonly path: MountPath;
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
}
