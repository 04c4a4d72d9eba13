// A protocol that brings its own way of reading requests and writing answers. The server lets in whom it lets
// in everywhere, and reads the body within its limits; the rest is the protocol's.

import type { Principal, Scope } from "./scope.ts";
import type { ServerParts } from "./server-parts.ts";

export interface Mount {
  readonly name: string;
  readonly paths: readonly MountPath[];
  readonly handle: (request: MountRequest, parts: ServerParts) => Promise<Response>;
  /** What it does of itself from the server's start to its stop. */
  readonly open?: (parts: ServerParts) => MountWork;
}

export interface MountWork extends AsyncDisposable {
  /** The run has moved. */
  turn(run: string): void;
}

export interface MountPath {
  readonly method: "get" | "post" | "delete";
  /** As OpenAPI writes it: `/a2a/{pack}/{agent}`. `{rest*}` takes all that follows. */
  readonly path: string;
  /** Null is open to everybody; `any` to whoever has a token, and what a request asks for has its own scope. */
  readonly scope: Scope | "any" | null;
  /** A page that people come to by links, also from other sites. */
  readonly page?: true;
}

export interface MountRequest {
  /** Its body was read already and is in here again. */
  readonly request: Request;
  readonly path: MountPath;
  readonly params: Readonly<Record<string, string>>;
  readonly principal: Principal;
}
