// Tools behind HTTP endpoints, against real servers.

import { describe, expect, onTestFinished, test } from "vitest";
import { bindEndpoint } from "../../../src/adapter/tool/endpoint/bind-endpoint.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { bodyOf, testServer } from "../test-server.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

interface Reply {
  readonly status?: number;
  readonly body?: string;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

/** `path` follows the server's own URL. */
async function bound(
  path: string,
  options: JsonObject = {},
  reply: Reply = {},
  env: Record<string, string> = {},
) {
  const bodies: string[] = [];
  const server = await testServer(async (request, response) => {
    bodies.push(await bodyOf(request));
    const head = { "content-type": reply.type ?? "application/json", ...reply.headers };
    response.writeHead(reply.status ?? 200, head).end(reply.body ?? '{"done": true}');
  });
  const bench = await Bench.make({}, env);
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const tool = bench.bind(bindEndpoint, { http: { url: `${server.url}${path}`, ...options } });
  const call = (args: Json) => bench.call(tool, args, { step: 4 });
  return { server, bodies, tool, call };
}

describe("a request", () => {
  test("carries the arguments the URL does not use, and the key of the step", async () => {
    const { call, server, bodies, tool } = await bound("/tickets/{id}/notes");
    expect(valueOf(await call({ id: 7, text: "a", tags: ["x"] }))).toEqual({ done: true });
    expect(server.requests[0]).toMatchObject({ method: "POST", url: "/tickets/7/notes" });
    expect(server.requests[0]?.headers).toMatchObject({
      "idempotency-key": "r_1/4",
      "content-type": "application/json",
    });
    expect(JSON.parse(bodies[0] ?? "")).toEqual({ text: "a", tags: ["x"] });
    expect([tool.tier, tool.safe]).toEqual(["egress", false]);
  });

  test("that reads puts them into the query, and may be repeated", async () => {
    const { call, server, tool } = await bound("/find?v=1&q={q}", { method: "GET" });
    await call({ q: "a&b=c#d/é", page: 2, tags: ["x", "y"], none: null });
    expect(server.requests[0]?.url).toBe("/find?v=1&q=a%26b%3Dc%23d%2F%C3%A9&page=2&tags=x&tags=y");
    expect(tool.safe).toBe(true);
  });

  test("has the body that is written for it", async () => {
    const body = {
      title: "{title}",
      note: "about {title} ({n})",
      list: ["{n}", "{gone}"],
      "{n}": "{gone}",
      fixed: 1,
    };
    const { call, bodies } = await bound("/x", { body, method: "PUT" });
    await call({ title: "{n}", n: 3 });
    expect(JSON.parse(bodies[0] ?? "")).toEqual({
      title: "{n}",
      note: "about {n} (3)",
      list: [3, null],
      fixed: 1,
    });
  });

  test.each(["..", ".", ""])("with %j for a step of the path is not sent", async (id) => {
    const { call, server } = await bound("/users/{id}/delete");
    expect(codeOf(await call({ id }))).toBe("bad_arguments");
    expect(server.requests).toEqual([]);
  });

  test.each([
    ["%2e%2e", "%252e%252e"],
    ["a/b", "a%2Fb"],
    ["a?b#c", "a%3Fb%23c"],
    ["\\\\evil.example", "%5C%5Cevil.example"],
  ])("with %j for a step of the path stays in its place", async (id, sent) => {
    const { call, server } = await bound("/users/{id}/delete");
    await call({ id });
    expect(server.requests.map(({ url }) => url)).toEqual([`/users/${sent}/delete`]);
  });

  test("without an argument of the URL is not sent", async () => {
    const { call, server } = await bound("/users/{id}");
    expect(await call({ name: "x" })).toMatchObject({ code: "bad_arguments", message: "`id` is missing" });
    expect(await call({ id: { a: 1 } })).toMatchObject({ code: "bad_arguments" });
    expect(server.requests).toEqual([]);
  });

  test("names `__proto__` like any other argument", async () => {
    const { call, bodies } = await bound("/x");
    await call(JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as Json);
    expect(bodies).toEqual(['{"__proto__":{"a":1},"b":2}']);
  });
});

describe("an answer", () => {
  test.each([
    [{ body: "[1, null]" }, [1, null]],
    [{ body: "", status: 204 }, null],
    [{ body: "plain", type: "text/plain" }, "plain"],
    [{ body: '{"a":1}', type: "application/problem+json" }, { a: 1 }],
  ])("%j gives %j", async (reply, expected) => {
    const { call } = await bound("/x", {}, reply);
    expect(await call({})).toEqual({ ok: true, value: expected });
  });

  test("with a status of the 400s is an error of the tool with its text, cut", async () => {
    const { call } = await bound("/x", {}, { status: 422, body: `no such field ${"x".repeat(2000)}` });
    const answer = await call({});
    expect(answer).toMatchObject({
      code: "http_422",
      message: expect.stringContaining("status 422: no such field"),
    });
    expect(JSON.stringify(answer).length).toBeLessThan(700);
  });

  test.each([
    [429, "later"],
    [503, "later"],
    [500, "unknown"],
    [502, "unknown"],
  ])("with status %i is a fault, retried: %s", async (status, retry) => {
    const { call } = await bound("/x", {}, { status, headers: { "retry-after": "3" } });
    await expect(call({})).rejects.toMatchObject({ name: "Fault", retry, afterMs: 3000 });
  });

  test("that is not JSON, or too long for it, is an error of the tool", async () => {
    const broken = await bound("/x", {}, { body: "{oops" });
    expect(codeOf(await broken.call({}))).toBe("bad_output");
    const long = await bound("/x", { max_bytes: 10 }, { body: JSON.stringify("x".repeat(20)) });
    expect(codeOf(await long.call({}))).toBe("too_large");
  });

  test("that sends the secret back is shown without it", async () => {
    const reply = { status: 400, body: "bad token canary-77f0", type: "text/plain" };
    const { call, server } = await bound("/x", { headers: { "X-Api-Key_env": "KEY" } }, reply, {
      KEY: "canary-77f0",
    });
    expect(await call({})).toMatchObject({ message: expect.stringContaining("bad token [KEY]") });
    expect(server.requests[0]?.headers["x-api-key"]).toBe("canary-77f0");
  });

  test("that redirects to another private place is not followed", async () => {
    const inner = await testServer((_request, response) => response.end("{}"));
    const { call } = await bound(
      "/x",
      { method: "GET" },
      { status: 302, headers: { location: `${inner.url}/` } },
    );
    expect(codeOf(await call({}))).toBe("address_refused");
    expect(inner.requests).toEqual([]);
  });
});

test("nobody behind the URL is a fault to try again", async () => {
  await using bench = await Bench.make();
  const tool = bench.bind(bindEndpoint, { http: { url: "http://127.0.0.1:1/x" } });
  await expect(bench.call(tool, {})).rejects.toMatchObject({ code: "network", retry: "later" });
});

test.each([
  [{}, "tools.t.http: `url` is missing"],
  [
    { url: "http://{host}/x" },
    "tools.t.http.url: `http://{host}/x` has a place for an argument before its path",
  ],
  [
    { url: "http://h{x}.example" },
    "tools.t.http.url: `http://h{x}.example` has a place for an argument before its path",
  ],
  [{ url: "ftp://h/x" }, "tools.t.http.url: `ftp://h/x` is not an http or https URL"],
  [{ url: "http://a:b@h/x" }, "tools.t.http.url: the URL carries credentials (use `bearer_env`)"],
  [{ url: "http://h/x", methd: "GET" }, "tools.t.http.methd: unknown key `methd` (did you mean `method`?)"],
  [
    { url: "http://h/x", method: "GET", body: {} },
    expect.stringContaining("tools.t.http.body: a GET has no body"),
  ],
])("options %j are a problem", async (http, problem) => {
  await using bench = await Bench.make();
  expect(problemsOf(bindEndpoint, { http }, bench.around)).toEqual([problem]);
});
