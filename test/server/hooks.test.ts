// Other systems speak to runs with signed requests: by Standard Webhooks' own library, and as Slack signs.

import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type Answer, type Served, served } from "./served.ts";
import { waiting } from "./started-run.ts";

interface MadeHook {
  readonly id: string;
  readonly secret: string;
}

const add = async (server: Served, body: JsonObject): Promise<MadeHook> =>
  (await server.post("/api/hooks", body)).body as unknown as MadeHook;

interface Sent {
  readonly id?: string;
  readonly at?: number;
  readonly secret?: string;
  /** What is sent in place of what was signed. */
  readonly instead?: string;
}

function send(server: Served, hook: MadeHook, body: JsonObject, sent: Sent = {}): Promise<Answer> {
  const { id = "m1", at = Date.now(), secret = hook.secret, instead } = sent;
  const text = JSON.stringify(body);
  const signature = new Webhook(secret).sign(id, new Date(at), text);
  return server.call("POST", `/api/hooks/${hook.id}`, {
    raw: instead ?? text,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at / 1000)),
      "webhook-signature": `v1,AAAA ${signature}`,
    },
  });
}

async function scene(): Promise<{ server: Served; hook: MadeHook }> {
  const server = await served();
  return { server, hook: await add(server, { name: "ci", scopes: ["events:send"] }) };
}

test("a sender that keeps its key is known by the public half of it", async () => {
  const server = await served();
  const run = await waiting(server);
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  const secret = `whpk_${Buffer.from(x, "base64url").toString("base64")}`;
  const { id } = await add(server, { name: "ci", scopes: ["events:send"], secret });
  const text = JSON.stringify({ run, event: "Yes" });
  const at = String(Math.floor(Date.now() / 1000));
  const signature = sign(null, Buffer.from(`m1.${at}.${text}`), privateKey).toString("base64");
  const post = (raw: string, signed: string): Promise<Answer> => {
    const headers = { "webhook-id": "m1", "webhook-timestamp": at, "webhook-signature": signed };
    return server.call("POST", `/api/hooks/${id}`, {
      raw,
      headers: { "content-type": "application/json", ...headers },
    });
  };
  // The public half is no secret: it must not count as one.
  const shared = createHmac("sha256", Buffer.from(x, "base64url"))
    .update(`m1.${at}.${text}`)
    .digest("base64");
  for (const signed of [`v1,${shared}`, `v1,${signature}`, "v1a,", "v1a", `v1a,${shared}`])
    expect((await post(text, signed)).status).toBe(401);
  expect((await post(text.replace("Yes", "No"), `v1a,${signature}`)).status).toBe(401);
  expect((await post(text, `v1,AAAA v1a,${signature}`)).status).toBe(200);
  const bad = { name: "x", scopes: ["events:send"], secret: "whpk_AAAAAAAAAAAA" };
  expect((await server.post("/api/hooks", bad)).status).toBe(400);
});

describe("a signed request", () => {
  test("is taken once, whoever sends it again, and says who it is", async () => {
    const { server, hook } = await scene();
    const run = await waiting(server);
    const event = { run, event: "Yes", context: "green", by: "build 7" };
    const first = await send(server, hook, event, { id: "once" });
    expect(first.body).toMatchObject({ run, state: "end" });
    await server.until(run, ({ status }) => status === "completed");
    const again = await send(server, hook, event, { id: "once" });
    expect([again.status, again.body["turns"]]).toEqual([200, first.body["turns"]]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const { body: trace } = await server.get(`/api/runs/${run}/trace`);
    expect((trace as unknown as readonly JsonObject[]).at(-1)).toMatchObject({ by: "build 7 (hook ci)" });
    expect((await send(server, hook, event, { id: "later" })).body["code"]).toBe("run-finished");
  });

  test("is refused when it was changed, is old, or is signed by another", async () => {
    const { server, hook } = await scene();
    const run = await waiting(server);
    const event = { run, event: "Yes" };
    const other = await add(server, { name: "other", scopes: ["events:send"] });
    const tampered = { instead: JSON.stringify({ run, event: "No" }) };
    const cases = [
      tampered,
      { at: Date.now() - 301_000 },
      // Far enough ahead that it still is when a busy machine looks at it.
      { at: Date.now() + 900_000 },
      { secret: other.secret },
    ];
    for (const one of cases) expect((await send(server, hook, event, one)).status).toBe(401);
    expect((await send(server, { ...hook, id: "hk_none" }, event)).status).toBe(401);
    expect((await server.post(`/api/hooks/${hook.id}`, event)).status).toBe(401);
    expect((await server.get(`/api/runs/${run}`)).body).toMatchObject({ state: "gate", status: "waiting" });
    expect((await send(server, hook, event, { at: Date.now() - 200_000 })).status).toBe(200);
  });

  test("may only say what its hook may, and that in the right form", async () => {
    const { server, hook } = await scene();
    const run = await waiting(server);
    const { status, body } = await send(server, hook, { run, step: 1, decision: "approve" });
    expect([status, body["code"]]).toEqual([403, "scope-missing"]);
    expect((await send(server, hook, { run, event: "Yes", message: "both" })).status).toBe(400);
    expect((await send(server, hook, { run: "nobody", event: "Yes" })).status).toBe(404);
    expect((await send(server, hook, { run, event: "Perhaps" })).body["code"]).toBe("event-not-allowed");
  });

  test("is no longer taken once its hook is removed", async () => {
    const server = await served();
    const gone = await add(server, { name: "gone", scopes: ["events:send"] });
    await server.call("DELETE", `/api/hooks/${gone.id}`);
    const run = await waiting(server);
    expect((await send(server, gone, { run, event: "Yes" })).status).toBe(401);
    const { body } = await server.get("/api/hooks");
    expect(JSON.stringify(body)).not.toContain("whsec_");
  });

  test("of Slack is a button that was pressed", async () => {
    const server = await served();
    const secret = "8f742231b10e8888abcd99yyyzzz85a5";
    const slack = await add(server, { name: "slack", kind: "slack", scopes: ["events:send"], secret });
    const run = await waiting(server);
    const value = JSON.stringify({ run, event: "Yes" });
    const payload = JSON.stringify({
      type: "block_actions",
      user: { username: "ann" },
      actions: [{ value }],
    });
    const raw = new URLSearchParams({ payload }).toString();
    const timestamp = String(Math.floor(Date.now() / 1000));
    const press = (signed: string) => {
      const signature = createHmac("sha256", secret).update(`v0:${timestamp}:${signed}`).digest("hex");
      return server.call("POST", `/api/hooks/${slack.id}`, {
        raw,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-slack-request-timestamp": timestamp,
          "x-slack-signature": `v0=${signature}`,
        },
      });
    };
    expect((await press(`${raw}&`)).status).toBe(401);
    expect((await press(raw)).body).toMatchObject({ state: "end" });
    const { body: trace } = await server.get(`/api/runs/${run}/trace`);
    expect((trace as unknown as readonly JsonObject[]).at(-1)).toMatchObject({ by: "ann (hook slack)" });
  });
});
