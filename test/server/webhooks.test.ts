// Webhooks: signed as Standard Webhooks, shaped as CloudEvents, delivered until the other side has them. Both are
// judged by the packages of those who made the standards.

import { createPublicKey, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { CloudEvent } from "cloudevents";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { webhookPost } from "../../src/cli/runs/webhook-post.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { newSecret } from "../../src/server/webhook/signature.ts";
import type { Post } from "../../src/server/webhook/webhook-sender.ts";
import { bodyOf, testServer } from "../adapter/test-server.ts";
import { asks, ends, start } from "./sample-pack.ts";
import { serveProcess } from "./serve-process.ts";
import { type Served, type ServeOptions, served, temporaryFolder } from "./served.ts";
import { completed, startedRun, waiting } from "./started-run.ts";

interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: { id: string; type: string; subject?: string; data: JsonObject };
}

interface Receiver {
  readonly url: string;
  readonly place: string;
  readonly got: readonly Got[];
  /** Resolves when what was taken satisfies the condition. */
  until(done: (got: readonly Got[]) => boolean): Promise<void>;
}

/** Answers with these statuses in turn, the last one for ever; takes what it answered with 2xx. */
async function receiver(...statuses: readonly number[]): Promise<Receiver> {
  const got: Got[] = [];
  const listeners = new Set<() => void>();
  let count = 0;
  const server = await testServer(async (request, response) => {
    const text = await bodyOf(request);
    const status = statuses[Math.min(count++, statuses.length - 1)] ?? 200;
    response.writeHead(status).end();
    if (status < 300) got.push({ headers: request.headers, text, event: JSON.parse(text) as Got["event"] });
    for (const listener of listeners) listener();
  });
  return {
    url: `${server.url}/hook`,
    place: server.place,
    got,
    until: (done) =>
      new Promise((resolve) => {
        const look = () => {
          if (!done(got)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
  };
}

/** Sends to this machine, which the guard allows only for this test. */
const withPost = (hook: Receiver, more: ServeOptions = {}): ServeOptions => ({
  post: webhookPost([hook.place]),
  webhookPausesMs: [1, 1, 1, 1],
  ...more,
});

async function add(
  server: Served,
  url: string,
  more: JsonObject = {},
): Promise<{ id: string; secret: string }> {
  const { status, body } = await server.post("/api/webhooks", { url, ...more });
  expect(status).toBe(201);
  return body as { id: string; secret: string };
}

const ended = (got: readonly Got[]) => got.some(({ event }) => event.type === "workflow.completed");

describe("what is delivered", () => {
  test("verifies with the library of the standard, and not when it was changed", async () => {
    const hook = await receiver(200);
    const server = await served(withPost(hook));
    const { secret } = await add(server, hook.url);
    await completed(server);
    await hook.until(ended);
    const verifier = new Webhook(secret);
    for (const { headers, text } of hook.got) {
      const signed = headers as Record<string, string>;
      expect(verifier.verify(text, signed)).toEqual(JSON.parse(text));
      expect(() => verifier.verify(`${text} `, signed)).toThrow("No matching signature");
      expect(() => new Webhook(newSecret()).verify(text, signed)).toThrow("No matching signature");
    }
  });

  test("is a valid CloudEvent, named, numbered and thin", async () => {
    const hook = await receiver(200);
    const server = await served(withPost(hook));
    await add(server, hook.url);
    const run = await waiting(server);
    await server.post(`/api/runs/${run}/events`, { name: "Yes", by: "alice" });
    const isSaved = ({ event }: Got) => event.type === "state.saved";
    await hook.until((got) => ended(got) && got.filter(isSaved).length === 6);
    for (const { event, text, headers } of hook.got) {
      expect(() => new CloudEvent(event, true)).not.toThrow();
      expect(headers["content-type"]).toBe("application/cloudevents+json; charset=utf-8");
      expect(headers["webhook-id"]).toBe(event.id);
      expect(text.length).toBeLessThan(20_000);
    }
    const types = hook.got.map(({ event }) => event).toSorted((a, b) => (seq(a) < seq(b) ? -1 : 1));
    const saved = types.filter(({ type }) => type === "state.saved");
    expect(saved).toHaveLength(new Set(types.map(({ data }) => data["turn"])).size);
    expect(types.filter((one) => !saved.includes(one)).map(({ type }) => type)).toEqual([
      "workflow.started",
      "prompt.template.rendered",
      "provider.call.started",
      "provider.call.completed",
      "tool.call.started",
      "tool.call.completed",
      "provider.call.started",
      "provider.call.completed",
      "artifact.written",
      "workflow.transitioned",
      "workflow.waiting",
      "workflow.transitioned",
      "prompt.template.rendered",
      "provider.call.started",
      "provider.call.completed",
      "workflow.completed",
    ]);
    const moved = types.findLast(({ type }) => type === "workflow.transitioned");
    expect(new Set(types.map(({ id }) => id)).size).toBe(types.length);
    expect(moved).toMatchObject({ subject: "end", data: { run, from: "gate", event: "Yes", by: "alice" } });
    expect(hook.got.map(({ text }) => text).join("")).not.toContain("Goodbye");
  });

  test("is only what was asked for", async () => {
    const hook = await receiver(200);
    const server = await served(withPost(hook));
    await add(server, hook.url, { types: ["workflow.completed", "workflow.started"] });
    await completed(server);
    await hook.until(ended);
    expect(hook.got.map(({ event }) => event.type).toSorted()).toEqual([
      "workflow.completed",
      "workflow.started",
    ]);
  });

  test("begins with what comes after the webhook, and a fork is not its copy", async () => {
    const hook = await receiver(200);
    const server = await served(withPost(hook));
    await completed(server);
    const run = await waiting(server);
    const { turns } = (await server.get(`/api/runs/${run}`)).body as { turns: number };
    await add(server, hook.url);
    const fork = await server.post(`/api/runs/${run}/fork`, { edits: [{ event: "Yes" }] });
    await server.until(String(fork.body["run"]), ({ status }) => status === "completed");
    await hook.until(ended);
    expect(hook.got.every(({ event }) => event.data["run"] === fork.body["run"])).toBe(true);
    expect(hook.got.every(({ event }) => Number(event.data["turn"]) > turns)).toBe(true);
  });
});

const seq = (event: object): string => (event as { sequence: string }).sequence;

describe("who does not answer", () => {
  test("is asked again with the same id until it does, and gets nothing twice after that", async () => {
    const hook = await receiver(500, 503, 429, 200);
    const server = await served(withPost(hook));
    const { id } = await add(server, hook.url, { types: ["workflow.completed"] });
    await completed(server);
    await hook.until(ended);
    const deliveries = async () =>
      (await server.get(`/api/webhooks/${id}/deliveries`)).body["items"] as JsonObject[];
    let [only] = await deliveries();
    while (only?.["next_at"] !== null) [only] = await deliveries();
    expect(only).toMatchObject({ attempts: 4, outcome: "200", event: hook.got[0]?.event.id });
    expect(hook.got).toHaveLength(1);
  });

  test("is switched off when all attempts are used up, and at once when it is gone", async () => {
    for (const [status, attempts] of [
      [500, 5],
      [410, 1],
    ] as const) {
      const hook = await receiver(status);
      const server = await served(withPost(hook));
      const { id } = await add(server, hook.url, { types: ["workflow.completed"] });
      await completed(server);
      const look = async () => (await server.get("/api/webhooks")).body["items"] as { off: string | null }[];
      let [webhook] = await look();
      while (webhook?.off === null) [webhook] = await look();
      expect(webhook?.off).toContain(String(status));
      const { body } = await server.get(`/api/webhooks/${id}/deliveries`);
      expect(body["items"]).toMatchObject([
        { attempts, next_at: null, outcome: expect.stringContaining(String(status)) },
      ]);
    }
  });

  test("that is switched off while others are under way gets none of them again", async () => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const post: Post = async () => {
      if (calls++ === 0) return { kind: "answered", status: 410 };
      await gate.promise;
      return { kind: "answered", status: 500 };
    };
    const server = await served({ post, webhookPausesMs: [1, 1, 1] });
    const { id } = await add(server, "https://example.org/");
    await completed(server);
    const look = async () => (await server.get("/api/webhooks")).body["items"] as { off: string | null }[];
    let [webhook] = await look();
    while (webhook?.off === null) [webhook] = await look();
    const sent = calls;
    gate.resolve();
    const log = (await server.get(`/api/webhooks/${id}/deliveries`)).body["items"] as JsonObject[];
    expect(log.filter((one) => one["next_at"] !== null)).toEqual([]);
    await completed(server);
    expect(calls).toBe(sent);
  });

  test("gets what it missed from the next server, each event once", async () => {
    const hook = await receiver(200);
    const never: Post = () => new Promise(() => undefined);
    let allowed = 2;
    const through = webhookPost([hook.place]);
    // The first server dies after two deliveries, with others under way.
    const first = await served(
      withPost(hook, {
        post: (request) => {
          if (allowed-- > 0) return through(request);
          return Promise.race([never(request), aborted(request.signal)]);
        },
      }),
    );
    await add(first, hook.url);
    const run = await completed(first);
    await hook.until((got) => got.length === 2);
    await first.stop();
    const second = await served(withPost(hook, { folder: first.folder }));
    await hook.until((got) => ended(got) && got.length >= 10);
    const { body } = await second.get("/api/webhooks");
    const [{ id }] = body["items"] as [{ id: string }];
    let open = 1;
    while (open > 0) {
      const log = (await second.get(`/api/webhooks/${id}/deliveries`)).body["items"] as JsonObject[];
      open = log.filter((one) => one["next_at"] !== null).length;
    }
    const ids = hook.got.map(({ event }) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
    const turns = new Set(hook.got.map(({ event }) => Number(event.data["turn"])));
    const rows = await second.store.rows(run, { from: 1, to: 99, limit: 99 });
    expect([...turns].toSorted((a, b) => a - b)).toEqual(rows.map(({ turn }) => turn));
  });

  test("gets one event once more on request", async () => {
    const hook = await receiver(200);
    const server = await served(withPost(hook));
    const { id } = await add(server, hook.url, { types: ["workflow.completed"] });
    await completed(server);
    await hook.until(ended);
    const event = hook.got[0]?.event.id;
    expect((await server.post(`/api/webhooks/${id}/redeliver`, { event })).status).toBe(200);
    await hook.until((got) => got.length === 2);
    expect(hook.got[1]?.event.id).toBe(event);
    expect((await server.post(`/api/webhooks/${id}/redeliver`, { event: "none" })).status).toBe(404);
  });
});

const aborted = (signal: AbortSignal): Promise<{ kind: "failed"; why: string }> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ kind: "failed", why: "stopped" }));
  });

describe("where it may lead", () => {
  test("private addresses are refused when something is sent, whatever the name", async () => {
    const hook = await receiver(200);
    const server = await served({ post: webhookPost([]), webhookPausesMs: [] });
    await add(server, hook.url);
    await startedRun(server, start(ends));
    const look = async () => (await server.get("/api/webhooks")).body["items"] as { off: string | null }[];
    let [webhook] = await look();
    while (webhook?.off === null) [webhook] = await look();
    expect(webhook?.off).toContain("could not be reached");
    expect(hook.got).toEqual([]);
  });

  test("addresses that are none, plain or carry a password are refused at once", async () => {
    const server = await served();
    const urls = [
      "x",
      "ftp://example.org/",
      "http://example.org/",
      "https://me:pw@example.org/",
      "file:///etc/passwd",
    ];
    for (const url of urls) {
      const answer = await server.post("/api/webhooks", { url });
      expect([url, answer.status]).toEqual([url, 400]);
    }
    const bad = [{ types: ["no.such.type"] }, { secret: "short" }, { secret: "whsec_AAAA" }];
    for (const more of bad)
      expect((await server.post("/api/webhooks", { url: "https://example.org/", ...more })).status).toBe(400);
  });

  test("a webhook's secret is shown once, and a removed one is told nothing", async () => {
    const hook = await receiver(200);
    const server = await served(withPost(hook));
    const { id, secret } = await add(server, hook.url);
    expect(secret).toMatch(/^whsec_/);
    expect(JSON.stringify((await server.get("/api/webhooks")).body)).not.toContain(secret);
    expect((await server.call("DELETE", `/api/webhooks/${id}`)).status).toBe(200);
    expect((await server.call("DELETE", `/api/webhooks/${id}`)).status).toBe(404);
    await startedRun(server, start(asks));
    expect((await server.get("/api/webhooks")).body["items"]).toEqual([]);
    expect(hook.got).toEqual([]);
  });
});

describe("secrets", () => {
  test("after a change both sign for a day, then only the new one", async () => {
    const hook = await receiver(200);
    let now = Date.now();
    const clock = { ...systemClock(), now: () => now };
    const server = await served(withPost(hook, { clock }));
    const { id, secret: old } = await add(server, hook.url, { types: ["workflow.completed"] });
    const rotated = await server.post(`/api/webhooks/${id}/rotate`);
    const { secret: fresh } = rotated.body as { secret: string };
    expect(fresh).not.toBe(old);
    await completed(server);
    await hook.until((got) => got.length === 1);
    const verify =
      (secret: string, { text, headers }: Got) =>
      () =>
        new Webhook(secret).verify(text, headers as Record<string, string>);
    const [first] = hook.got as [Got];
    for (const secret of [old, fresh]) expect(verify(secret, first)).not.toThrow();
    now += 24 * 3_600_000 + 1;
    await completed(server);
    await hook.until((got) => got.length === 2);
    const [, second] = hook.got as [Got, Got];
    // The library compares times with the machine's clock; only the signature is of interest here.
    const signatures = String(second.headers["webhook-signature"]).split(" ");
    expect(signatures).toHaveLength(1);
    expect(String(first.headers["webhook-signature"]).split(" ")).toHaveLength(2);
    const own = { secret: "whsec_c2hvcnQ=" };
    expect((await server.post(`/api/webhooks/${id}/rotate`, own)).status).toBe(400);
    expect((await server.post("/api/webhooks/none/rotate")).body["code"]).toBe("unknown-webhook");
  });
});

describe("keys of which only one half is ours", () => {
  /** As the standard says it, by nothing of ours. */
  const isSigned = (publicKey: string, { headers, text }: Got): boolean => {
    const x = Buffer.from(publicKey.replace(/^whpk_/, ""), "base64").toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`;
    const all = String(headers["webhook-signature"]).split(" ");
    const own = all.filter((one) => one.startsWith("v1a,")).map((one) => Buffer.from(one.slice(4), "base64"));
    return own.some((signature) => verify(null, Buffer.from(signed), key, signature));
  };

  test("sign so that the public half verifies, before and after a change, and are never shown", async () => {
    const hook = await receiver(200);
    const server = await served(withPost(hook));
    const body = { url: hook.url, types: ["workflow.completed"], signature: "v1a" };
    const { body: made } = await server.post("/api/webhooks", body);
    expect(made).not.toHaveProperty("secret");
    const { body: rotated } = await server.post(`/api/webhooks/${String(made["id"])}/rotate`);
    expect(rotated).not.toHaveProperty("secret");
    const keys = [String(made["public_key"]), String(rotated["public_key"])];
    expect(new Set(keys).size).toBe(2);
    await completed(server);
    await hook.until((got) => got.length === 1);
    const [got] = hook.got as [Got];
    for (const key of keys) expect(isSigned(key, got)).toBe(true);
    expect(isSigned(keys[0] as string, { ...got, text: `${got.text} ` })).toBe(false);
    const { body: list } = await server.get("/api/webhooks");
    expect(JSON.stringify(list)).not.toContain("whsk_");
  });

  test("may be given, in the form that others write them in, and must be whole", async () => {
    const server = await served();
    const url = "https://example.org/";
    const secret =
      "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
    const { body } = await server.post("/api/webhooks", { url, secret });
    expect(body["public_key"]).toBe("whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=");
    const wrong = [
      { url, secret: secret.replace("6Xb/", "7Xb/") },
      { url, secret: "whsk_AAAA" },
      { url, secret, signature: "v1" },
      { url, secret: newSecret(), signature: "v1a" },
    ];
    for (const one of wrong) expect((await server.post("/api/webhooks", one)).status).toBe(400);
  });
});

describe("what an answer means", () => {
  /** The outcomes of deliveries, newest last. */
  async function outcomes(server: Served, id: string) {
    const { body } = await server.get(`/api/webhooks/${id}/deliveries`);
    return (
      body["items"] as { attempts: number; next_at: string | null; outcome: string | null }[]
    ).toReversed();
  }

  test("a redirect is not followed and is a failure like others", async () => {
    const asked: string[] = [];
    const place = await testServer(async (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      await bodyOf(request);
      response.writeHead(asked.length < 3 ? 307 : 200, { location: "/elsewhere" }).end();
    });
    const server = await served({ post: webhookPost([place.place]), webhookPausesMs: [1, 1, 1] });
    const { id } = await add(server, `${place.url}/hook`, { types: ["workflow.completed"] });
    await completed(server);
    let taken = await outcomes(server, id);
    while (taken[0]?.next_at !== null || taken.length === 0) taken = await outcomes(server, id);
    expect(asked).toEqual(["POST /hook", "POST /hook", "POST /hook"]);
    expect(taken).toMatchObject([{ attempts: 3, outcome: "200" }]);
  });

  test.each([
    [429, 1],
    [502, 1],
    [504, 1],
    [500, 2],
  ])("after %i %i of two deliveries were tried: who is busy is left alone", async (status, tried) => {
    const calls: string[] = [];
    const post: Post = async ({ headers }) => {
      calls.push(String(headers["webhook-id"]));
      return { kind: "answered", status, retryAfterMs: 3_600_000 };
    };
    const server = await served({ post });
    const { id } = await add(server, "https://hooks.example/x", { types: ["workflow.completed"] });
    const settled = async (count: number) => {
      let waits = await outcomes(server, id);
      while (waits.length < count || waits.some(({ next_at: at }) => Date.parse(at ?? "") - Date.now() < 3e6))
        waits = await outcomes(server, id);
    };
    await completed(server);
    await settled(1);
    await completed(server);
    await settled(2);
    expect(new Set(calls).size).toBe(tried);
  });

  test("a webhook that is switched off is noted in the inbox until it is told again", async () => {
    const hook = await receiver(410, 200);
    const server = await served(withPost(hook));
    const { id } = await add(server, hook.url, { types: ["workflow.completed"] });
    await completed(server);
    const notices = async () => (await server.get("/api/inbox")).body["notices"] as JsonObject[];
    while ((await notices()).length === 0);
    expect(await notices()).toEqual([
      { kind: "webhook_disabled", webhook: id, url: hook.url, why: "it answered 410" },
    ]);
    expect((await server.post(`/api/webhooks/${id}/enable`)).body).toMatchObject({ id, off: null });
    expect(await notices()).toEqual([]);
    const run = await completed(server);
    await hook.until((got) => got.length === 1);
    expect(hook.got[0]?.event.data["run"]).toBe(run);
  });
});

test("a server killed with deliveries under way leaves none out", async () => {
  const folder = temporaryFolder();
  const hook = await receiver(200);
  const args = ["--webhook-allow", hook.place];
  const first = await serveProcess(folder, ...args);
  const json = (url: string, path: string, body: JsonObject) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await json(first.url, "/api/webhooks", { url: hook.url });
  const runs: string[] = [];
  for (let n = 0; n < 5; n++)
    runs.push(
      String(((await (await json(first.url, "/api/runs", start(ends))).json()) as JsonObject)["run"]),
    );
  await hook.until((got) => got.length > 3);
  await first.stop("SIGKILL");
  const second = await serveProcess(folder, ...args);
  const ends_ = (got: readonly Got[]) =>
    new Set(got.flatMap(({ event }) => (event.type === "workflow.completed" ? [event.data["run"]] : [])));
  await hook.until((got) => runs.every((run) => ends_(got).has(run)));
  for (const run of runs) {
    const response = await fetch(`${second.url}/api/runs/${run}/facts`, {
      headers: { accept: "application/cloudevents-batch+json" },
    });
    const ids = ((await response.json()) as { id: string }[]).map(({ id }) => id);
    await hook.until((got) => ids.every((id) => got.some(({ event }) => event.id === id)));
  }
  expect(await second.stop("SIGTERM")).toBe(0);
});
