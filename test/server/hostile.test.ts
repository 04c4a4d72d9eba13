// Requests that mean harm, or mean nothing: each is refused as a problem, and the server goes on.

import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { allRoutes } from "../../src/server/routes.ts";
import { ends, pack, start } from "./sample-pack.ts";
import { type Served, served } from "./served.ts";
import { waiting } from "./started-run.ts";

/** What comes back for these bytes. */
async function raw(server: Served, bytes: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  await once(socket, "close");
  return text;
}

const isFine = async (server: Served) => expect((await server.get("/healthz")).status).toBe(200);

describe("bodies", () => {
  test("are JSON of a sensible size, depth and type", async () => {
    const server = await served();
    const json = { "content-type": "application/json" };
    const cases: readonly (readonly [
      string,
      string | Uint8Array,
      Readonly<Record<string, string>>,
      number,
      string,
    ])[] = [
      ["cut", '{"pack":', json, 400, "bad-json"],
      ["not UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), json, 400, "bad-json"],
      ["deep", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, json, 400, "bad-json"],
      ["a list", "[]", json, 400, "bad-request"],
      ["empty", "", json, 400, "bad-request"],
      ["form", "a=b", { "content-type": "application/x-www-form-urlencoded" }, 415, "unsupported-media-type"],
      ["text", "{}", { "content-type": "text/plain" }, 415, "unsupported-media-type"],
      ["large", `"${"x".repeat(10_000_001)}"`, json, 413, "payload-too-large"],
    ];
    for (const [what, body, headers, status, code] of cases) {
      const answer = await server.call("POST", "/api/runs", { raw: body, headers });
      expect([what, answer.status, answer.body["code"]]).toEqual([what, status, code]);
    }
    await isFine(server);
  });

  test("at the limit are taken and past it refused; events have a limit of their own", async () => {
    const server = await served();
    const run = await waiting(server);
    const event = (length: number) => {
      const text = JSON.stringify({ name: "Maybe", context: "" });
      return `${text.slice(0, -2)}${"x".repeat(length - text.length)}"}`;
    };
    const send = (length: number) =>
      server.call("POST", `/api/runs/${run}/events`, {
        raw: event(length),
        headers: { "content-type": "application/json" },
      });
    expect((await send(256 * 1024)).body["code"]).toBe("event-not-allowed");
    expect((await send(256 * 1024 + 1)).body).toMatchObject({ code: "payload-too-large", limit: 256 * 1024 });
    const check = (length: number) =>
      server.call("POST", "/api/check", {
        raw: JSON.stringify({ source: "x" }).padEnd(length),
        headers: { "content-type": "application/json" },
      });
    expect([(await check(10_000_000)).status, (await check(10_000_001)).status]).toEqual([200, 413]);
  });

  test("without a length are counted as they come", async () => {
    const server = await served();
    const { host } = new URL(server.url);
    const head = `POST /api/check HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `80000\r\n${"x".repeat(0x80000)}\r\n`;
    const text = await raw(server, head + chunk.repeat(22));
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*payload-too-large/);
    await isFine(server);
  });

  test("that do not arrive are not waited for", async () => {
    const server = await served({ bodyTimeoutMs: 50 });
    const { host } = new URL(server.url);
    const head = `POST /api/check HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    const text = await raw(server, head);
    expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*request-timeout/);
    await isFine(server);
  });

  test("are refused where none is taken", async () => {
    const server = await served();
    const run = await waiting(server);
    expect((await server.post(`/api/runs/${run}/replay`, { x: 1 })).status).toBe(400);
  });
});

describe("addresses", () => {
  test("a name that is not the server's is refused: DNS rebinding", async () => {
    const server = await served({ hosts: ["loops.example"] });
    const ask = (host: string) =>
      raw(server, `GET /api/runs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const port = new URL(server.url).port;
    for (const host of [
      `127.0.0.1:${port}`,
      "localhost",
      `[::1]:${port}`,
      "loops.example",
      "LOOPS.example:80",
    ])
      expect([host, (await ask(host)).slice(9, 12)]).toEqual([host, "200"]);
    for (const host of [
      "evil.example",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "[evil]",
      "a@127.0.0.1",
    ])
      expect([host, (await ask(host)).slice(9, 12)]).toEqual([host, expect.stringMatching(/^40[03]$/)]);
    const evil = await ask("evil.example");
    expect(evil).toContain("host-refused");
  });

  test("pages of other sites can neither read nor write", async () => {
    const server = await served();
    const ask = (headers: Readonly<Record<string, string>>) => server.get("/api/runs", headers);
    expect((await ask({ origin: server.url })).status).toBe(200);
    for (const origin of [
      "http://evil.example",
      "null",
      `${server.url}.evil.example`,
      "http://127.0.0.1:1",
    ]) {
      const answer = await ask({ origin });
      expect([origin, answer.status, answer.body["code"]]).toEqual([origin, 403, "origin-refused"]);
    }
    const { host } = new URL(server.url);
    const cross = await raw(
      server,
      `GET /api/runs HTTP/1.1\r\nHost: ${host}\r\nSec-Fetch-Site: cross-site\r\nConnection: close\r\n\r\n`,
    );
    expect(cross).toContain("origin-refused");
    const answer = await ask({ origin: server.url });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("paths that lead nowhere or elsewhere are not found, whatever they look like", async () => {
    const server = await served();
    const { host } = new URL(server.url);
    const paths = [
      "/api",
      "/api/",
      "/api/runs/",
      "/api/../../../etc/passwd",
      "/api/runs/..%2f..%2fetc%2fpasswd",
      "/api/runs/%00",
      "/api/packs/..%2F..%2Fpackage.json",
      "/api/runs/a/b/c/d",
      "/api/runs/%E0%A4%A",
      "//evil.example/api/runs/x",
      `/${"a".repeat(5_000)}`,
      "/api//runs",
      "//api/runs",
      "/api/runs/x//turns",
      "/api/runs/%2e%2e/%2e%2e/healthz",
      "/api/runs/x%2f..%2f..%2fpacks",
      "/api/runs/%ff",
      "/API/RUNS",
      "/api/runs;x=1",
      "/healthz/",
    ];
    for (const path of paths) {
      const text = await raw(server, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect([path, text.slice(9, 12)]).toEqual([path, expect.stringMatching(/^40[04]$/)]);
      expect(text).toContain("application/problem+json");
    }
    await isFine(server);
  });

  test("a method that is not taken is 405 with those that are", async () => {
    const server = await served();
    const answer = await server.call("DELETE", "/api/runs");
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, GET"]);
    expect((await server.call("PATCH", "/api/runs/x")).status).toBe(405);
  });

  test("an agent's run is reached with its slash written %2F", async () => {
    const server = await served();
    const answer = await server.get("/api/runs/r_1%2F2");
    expect(answer.body["detail"]).toContain("`r_1/2`");
  });
});

describe("connections", () => {
  test("what is not HTTP is refused as a problem", async () => {
    const server = await served();
    expect(await raw(server, "hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 [\s\S]*bad-request/);
    const { host } = new URL(server.url);
    const large = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
    expect(await raw(server, large)).toMatch(/^HTTP\/1\.1 431 [\s\S]*too large/);
    const smuggled = `POST /api/check HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await raw(server, smuggled)).toMatch(/^HTTP\/1\.1 400 /);
    await isFine(server);
  });

  test("somebody who asks too often is told when to come back, and others are not held", async () => {
    let now = 0;
    const sleep = async (_ms: number, signal: AbortSignal) => {
      if (!signal.aborted) await once(signal, "abort");
    };
    const clock = { now: () => now, sleep };
    const server = await served({
      clock,
      rate: { perSecond: 2, burst: 5 },
      principalOf: (token) => ({ name: token, scopes: ["admin"] }),
    });
    const ask = async (token: string) => server.get("/api/runs", { authorization: `Bearer ${token}` });
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) statuses.push((await ask("a")).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    const refused = await ask("a");
    expect([refused.body["code"], refused.headers.get("retry-after")]).toEqual(["rate-limited", "1"]);
    expect((await ask("b")).status).toBe(200);
    now += 1_000;
    expect([(await ask("a")).status, (await ask("a")).status, (await ask("a")).status]).toEqual([
      200, 200, 429,
    ]);
  });

  test("every answer tells browsers to be careful", async () => {
    const server = await served();
    for (const path of ["/api/runs", "/api/nothing", "/healthz"]) {
      const { headers } = await server.get(path);
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
    }
  });
});

describe("slowly", () => {
  test("who sends the head byte by byte is told that it took too long, and others are answered", async () => {
    const server = await served({ headersTimeoutMs: 200 });
    const { hostname, port, host } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `);
    await isFine(server);
    await once(socket, "close");
    expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*request-timeout/);
    await isFine(server);
  });

  test("connections beyond the limit are closed, and there is room again when others leave", async () => {
    const server = await served({ connectionsMax: 2 });
    const { hostname, port } = new URL(server.url);
    const open = async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      return socket;
    };
    const [one, two] = [await open(), await open()];
    const third = connect(Number(port), hostname);
    third.on("error", () => undefined);
    await once(third, "close");
    one.destroy();
    two.destroy();
    let answer: Response | undefined;
    for (let tries = 0; tries < 100 && answer === undefined; tries++)
      answer = await fetch(`${server.url}/healthz`).catch(() => undefined);
    expect(answer?.status).toBe(200);
  });
});

/** The same numbers on every machine. */
function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * most);
  };
}

const VALUES: readonly unknown[] = [
  ...[
    null,
    0,
    -1,
    1e308,
    2 ** 53,
    "",
    "x",
    [],
    {},
    [[]],
    { a: 1 },
    true,
    "\u0000",
    "__proto__",
    "💥",
    "\ud800",
  ],
  ...[["x"], { pack: "x" }, "../../etc/passwd", "%00", "a".repeat(3_000), { constructor: { prototype: 1 } }],
];
const TYPES = [
  "application/json",
  "text/plain",
  "application/cloudevents+json",
  "application/x-www-form-urlencoded",
  "",
  "application/json; charset=utf-16",
  "application/x-ndjson",
];

/** Requests that are right, for some of their fields to be wrong. */
const RIGHT: Readonly<Record<string, JsonObject>> = {
  startRun: start(ends, { mode: "conversational", budgets: {}, beside: {}, goal: { max_steps: 3 } }),
  forkRun: { turn: 1, edits: [{ variable: "task", value: "that" }], reset_budget: true },
  registerPack: { source: pack, file: "a.yaml", beside: {} },
  checkPack: { source: pack, file: "a.yaml", beside: {} },
  decideApproval: { decision: "edit", value: {}, reason: "r", by: "b" },
  answerStep: { result: 1, by: "b" },
  sayMessage: { text: "well", by: "b", dedupe_key: "d" },
};

/** More than a sample: `PACKLOOP_FUZZ_ROUNDS=1000` are some 54,000 requests. */
const ROUNDS = Number(process.env["PACKLOOP_FUZZ_ROUNDS"] ?? 40);

test(
  "random requests to every route never break the server",
  async () => {
    const server = await served();
    const run = await waiting(server);
    const roll = dice(20_261_115);
    const one = <T>(list: readonly T[]): T => list[roll(list.length)] as T;
    const fields = new Map(
      allRoutes().map((route) => [
        route,
        Object.keys((route.body as { shape?: object } | undefined)?.shape ?? {}),
      ]),
    );
    const seen = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const route of allRoutes()) {
        const isKept = ["cancelRun", "removeRun"].includes(route.name) || route.streams === true;
        const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          name === "id" && !isKept && roll(2) === 0
            ? run
            : encodeURIComponent(String(one(VALUES)).toWellFormed().slice(0, 600) || "x"),
        );
        const names = [...(fields.get(route) ?? []), "odd"];
        const changed = Object.fromEntries(Array.from({ length: roll(4) }, () => [one(names), one(VALUES)]));
        const body = { ...(roll(2) === 0 && RIGHT[route.name]), ...changed };
        const query =
          roll(3) === 0 ? `?${one(["limit", "cursor", "at", "after", "status", "x"])}=${roll(9) - 4}` : "";
        const gone = new AbortController();
        const response = await fetch(`${server.url}${path}${query}`, {
          method: route.method.toUpperCase(),
          signal: gone.signal,
          headers: {
            "content-type": roll(4) === 0 ? one(TYPES) : "application/json",
            ...(roll(5) === 0 && { "idempotency-key": `k${roll(3)}` }),
            ...(roll(5) === 0 && { "if-match": one(['"1"', "*", "x", '"99999999999999999999"']) }),
            ...(roll(5) === 0 && { "last-event-id": one(["0", "-1", "x", "9".repeat(30)]) }),
            ...(roll(9) === 0 && { "ce-specversion": one(["1.0", "0.3"]) }),
          },
          ...(route.method !== "get" && roll(5) > 0 && { body: JSON.stringify(body) }),
        });
        gone.abort();
        if (response.status >= 500) seen.add(`${route.method} ${path} ${response.status}`);
      }
    }
    expect([...seen]).toEqual([]);
    expect((await server.post("/api/runs", start(ends))).status).toBe(201);
    expect((await server.get(`/api/runs/${run}`)).status).toBe(200);
  },
  120_000 + ROUNDS * 2_000,
);
