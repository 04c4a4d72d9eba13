// A2A 1.0: every agent of every registered pack, over JSON-RPC and HTTP+JSON. The package of the protocol is
// loaded while the server starts.

import type { Mount, MountPath, MountRequest } from "../mount.ts";
import type { ServerParts } from "../server-parts.ts";
import type { A2aOptions, A2aService } from "./a2a-service.ts";

const AGENT = "/a2a/{pack}/{agent}";

/** Each method asks for its own scope. */
const PATHS: readonly MountPath[] = [
  { method: "get", path: "/.well-known/agent-card.json", scope: null },
  { method: "get", path: "/.well-known/agent.json", scope: null },
  { method: "get", path: "/.well-known/jwks.json", scope: null },
  { method: "get", path: `${AGENT}/agent-card.json`, scope: null },
  { method: "get", path: `${AGENT}/.well-known/agent-card.json`, scope: null },
  { method: "post", path: AGENT, scope: "any" },
  { method: "get", path: `${AGENT}/{rest*}`, scope: "any" },
  { method: "post", path: `${AGENT}/{rest*}`, scope: "any" },
  { method: "delete", path: `${AGENT}/{rest*}`, scope: "any" },
];

export function a2aMount(options: A2aOptions): Mount {
  let service: Promise<A2aService> | undefined;
  const opened = (parts: ServerParts): Promise<A2aService> => {
    service ??= import("./a2a-service.ts").then(({ A2aService: Service }) => new Service(parts, options));
    return service;
  };
  return {
    name: "a2a",
    paths: PATHS,
    async handle(request: MountRequest, parts: ServerParts): Promise<Response> {
      return (await opened(parts)).answer(request);
    },
    open: (parts) => {
      const ready = opened(parts);
      let work: A2aService | undefined;
      const begun = ready
        .then((loaded) => {
          work = loaded.begin();
        })
        .catch((error: unknown) => parts.log.error({ err: error }, "A2A cannot be served"));
      return {
        // What moves before that is found when it begins.
        turn: (run) => work?.turn(run),
        async [Symbol.asyncDispose]() {
          await begun;
          await work?.[Symbol.asyncDispose]();
        },
      };
    },
  };
}
