// Who may do what: every route with every scope, with none, and with a token nobody made.

import { describe, expect, test } from "vitest";
import { allMounts } from "../../src/server/mounts.ts";
import { allRoutes } from "../../src/server/routes.ts";
import { SCOPES } from "../../src/server/scope.ts";
import { bearer, nowhere, principalOf } from "./callers.ts";
import { ends, start } from "./sample-pack.ts";
import { served } from "./served.ts";

const routes = allRoutes();
/** Whatever protocol it is of. */
const mounted = allMounts({
  tokenNeeded: true,
  a2aCompat: true,
  post: async () => ({ kind: "refused", why: "nobody is told here" }),
}).flatMap(({ paths }) => paths);
// Where a protocol lets in any token, what is asked for has its own scope; one-run.test.ts says which.
const places = [...routes, ...mounted.filter(({ scope }) => scope !== null)];

/** The table of the design: a route that is missing here, or has another scope, is a surprise. */
const EXPECTED: Readonly<Record<string, string>> = {
  startRun: "runs:write",
  importRun: "admin",
  listRuns: "runs:read",
  getRun: "runs:read",
  cancelRun: "runs:write",
  pauseRun: "runs:write",
  unpauseRun: "runs:write",
  removeRun: "runs:write",
  getTrace: "runs:read",
  getTurns: "runs:read",
  getSnapshot: "runs:read",
  getFacts: "runs:read",
  getArtifacts: "runs:read",
  getArtifact: "runs:read",
  getCommit: "runs:read",
  listSteps: "runs:read",
  getStep: "runs:read",
  getBlob: "runs:read",
  diffRuns: "runs:read",
  replayRun: "runs:write",
  forkRun: "runs:write",
  sendEvent: "events:send",
  sayMessage: "events:send",
  answerStep: "events:send",
  decideApproval: "approvals:decide",
  getInbox: "runs:read",
  followRun: "runs:read",
  followAll: "runs:read",
  registerPack: "packs:write",
  listPacks: "runs:read",
  getPack: "runs:read",
  checkPack: "runs:read",
  addWebhook: "admin",
  listWebhooks: "admin",
  removeWebhook: "admin",
  listDeliveries: "admin",
  redeliver: "admin",
  rotateSecret: "admin",
  enableWebhook: "admin",
  addHook: "admin",
  listHooks: "admin",
  removeHook: "admin",
  hearHook: "open",
  makeToken: "admin",
  listTokens: "admin",
  removeToken: "admin",
  makeTicket: "runs:read",
  metrics: "runs:read",
  healthz: "open",
  readyz: "open",
  getOpenApi: "open",
  getSession: "open",
  beginSession: "open",
  endSession: "open",
};

test("every route has the scope of the table", () => {
  expect(Object.fromEntries(routes.map(({ name, scope }) => [name, scope ?? "open"]))).toEqual(EXPECTED);
});

describe("with a token needed", () => {
  const denied = (status: number) => status === 401 || status === 403;

  test.each(places.map((place) => [`${place.method} ${place.path}`, place] as const))(
    "%s",
    async (_, route) => {
      const server = await served({ tokenNeeded: true, principalOf });
      const ask = async (headers: Readonly<Record<string, string>>) => {
        // A stream that is let in would not end by itself; what a protocol says of a request is its own.
        const gone = new AbortController();
        const response = await fetch(`${server.url}${nowhere(route)}`, {
          method: route.method.toUpperCase(),
          headers,
          signal: gone.signal,
        });
        const isProblem = response.headers.get("content-type")?.includes("problem+json") === true;
        const code = isProblem ? ((await response.json()) as { code: string }).code : "";
        gone.abort();
        return { status: response.status, code };
      };
      const none = await ask({});
      expect(denied(none.status)).toBe(route.scope !== null);
      if (route.scope !== null) expect(none).toEqual({ status: 401, code: "unauthenticated" });
      expect((await ask({ authorization: "Bearer nobody-made-this" })).status).toBe(401);
      for (const scope of SCOPES) {
        const { status, code } = await ask(bearer(scope));
        const may = [null, "any", scope].includes(route.scope) || scope === "admin";
        expect([scope, denied(status)]).toEqual([scope, !may]);
        if (!may) expect([status, code]).toEqual([403, "scope-missing"]);
      }
    },
  );

  test("a body is not read for who may not come in", async () => {
    const server = await served({ tokenNeeded: true, principalOf });
    const huge = await server.call("POST", "/api/runs", { raw: "x".repeat(11_000_000) });
    expect(huge.status).toBe(401);
  });

  test("what is not there is not told apart from what is by who has a wrong token", async () => {
    const server = await served({ tokenNeeded: true, principalOf });
    const headers = { authorization: "Bearer wrong" };
    const paths = ["/api/runs/none", "/api/nothing", "/api/runs"];
    const answers = await Promise.all(paths.map((path) => server.get(path, headers)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });
});

describe("names in the journal", () => {
  test("a token speaks for itself, and for others only with its own name", async () => {
    const server = await served({ tokenNeeded: true, principalOf });
    const started = await server.post("/api/runs", start(ends), bearer("admin"));
    const { run } = started.body as { run: string };
    const cancel = (by?: string) =>
      server.post(`/api/runs/${run}/cancel`, by === undefined ? {} : { by }, bearer("runs:write"));
    const { reason } = (await cancel("alice")).body as { reason: { message: string } | null };
    const said = reason?.message ?? "";
    expect(["cancelled by alice (with runs:write)", ""]).toContain(said);
  });

  test("keys of two tokens never meet", async () => {
    const server = await served({ tokenNeeded: true, principalOf });
    const key = { "idempotency-key": "same" };
    const one = await server.post("/api/runs", start(ends), { ...key, ...bearer("runs:write") });
    const two = await server.post("/api/runs", start(ends), { ...key, ...bearer("admin") });
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body["run"]).not.toBe(two.body["run"]);
  });
});

test("on this machine no token is needed, but a wrong one is refused", async () => {
  const server = await served({ principalOf });
  expect((await server.get("/api/runs")).status).toBe(200);
  expect((await server.get("/api/runs", { authorization: "Bearer wrong" })).status).toBe(401);
  expect((await server.get("/api/runs", { authorization: "Basic eDp5" })).status).toBe(401);
  expect((await server.get("/api/runs", bearer("events:send"))).status).toBe(403);
});
