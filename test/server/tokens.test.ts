// Tokens over HTTP: made, used, listed without themselves, revoked; and who may approve.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { TokenFile } from "../../src/server/tokens.ts";
import { bearer, principalOf } from "./callers.ts";
import { asks, start } from "./sample-pack.ts";
import { served, temporaryFolder } from "./served.ts";

/** Lets in tokens of its file as well. */
async function withTokens() {
  const folder = temporaryFolder();
  const tokens = new TokenFile(join(folder, "tokens.json"));
  const known = (token: string) => tokens.principalOf(token) ?? principalOf(token);
  const settings = { ...noSettings(folder), approvals: ["look"] } as never;
  return served({ folder, tokens, tokenNeeded: true, principalOf: known, settings });
}

test("a token that was made is let in until it is removed, and is never shown again", async () => {
  const server = await withTokens();
  const admin = bearer("admin");
  const body = { name: "ci", scopes: ["runs:read"] };
  const made = await server.post("/api/tokens", body, admin);
  expect(made.status).toBe(201);
  const token = String(made.body["token"]);
  const own = { authorization: `Bearer ${token}` };
  expect((await server.get("/api/runs", own)).status).toBe(200);
  expect((await server.get("/api/tokens", own)).status).toBe(403);
  expect((await server.post("/api/tokens", body, admin)).body["code"]).toBe("token-exists");
  const listed = await server.get("/api/tokens", admin);
  expect(listed.body["items"]).toMatchObject([{ name: "ci", scopes: ["runs:read"] }]);
  expect(JSON.stringify(listed.body)).not.toContain(token);
  expect((await server.call("DELETE", "/api/tokens/ci", { headers: admin })).body).toEqual({ removed: "ci" });
  expect((await server.get("/api/runs", own)).status).toBe(401);
  const again = await server.call("DELETE", "/api/tokens/ci", { headers: admin });
  expect(again.body["code"]).toBe("unknown-token");
});

test("a token with a wrong name or no scope is not made", async () => {
  const server = await withTokens();
  const cases: readonly JsonObject[] = [
    { name: "a b", scopes: ["runs:read"] },
    { name: "", scopes: ["runs:read"] },
    { name: "x", scopes: [] },
    { name: "x", scopes: ["everything"] },
    { name: "x" },
  ];
  for (const body of cases)
    expect((await server.post("/api/tokens", body, bearer("admin"))).status).toBe(400);
});

test("who started a run does not approve its calls, unless an admin", async () => {
  const server = await withTokens();
  writeFileSync(join(server.folder, "packloop.yaml"), "approvals: [look]\n");
  const both = { name: "both", scopes: ["runs:write", "approvals:decide", "runs:read"] };
  const made = await server.post("/api/tokens", both, bearer("admin"));
  const own = { authorization: `Bearer ${String(made.body["token"])}` };
  const gated = async (headers: Readonly<Record<string, string>>) => {
    const { body } = await server.post("/api/runs", start(asks), headers);
    const run = String(body["run"]);
    let summary = body as unknown as Summary;
    while (summary.status !== "waiting")
      summary = (await server.get(`/api/runs/${run}`, bearer("admin"))).body as unknown as Summary;
    expect(summary.waiting_for[0]?.kind).toBe("approval");
    return `/api/runs/${run}/approvals/${summary.waiting_for[0]?.step}`;
  };
  const path = await gated(own);
  const refused = await server.post(path, { decision: "approve" }, own);
  expect([refused.status, refused.body["code"]]).toEqual([403, "self-approval"]);
  const other = await server.post(path, { decision: "approve" }, bearer("approvals:decide"));
  expect(other.status).toBe(200);
  const admins = await gated(bearer("admin"));
  expect((await server.post(admins, { decision: "approve" }, bearer("admin"))).status).toBe(200);
});
