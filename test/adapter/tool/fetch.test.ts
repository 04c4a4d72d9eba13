// The built-in tool `http` against real servers: what it reads, what it refuses, what it never sends.

import { createHash } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { bindFetch } from "../../../src/adapter/tool/fetch/bind-fetch.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { testServer } from "../test-server.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

const PARAGRAPH = `<p>${"Water boils sooner on a mountain than by the sea. ".repeat(12)}</p>`;
const PAGE = `<!doctype html><html><head><title>On  boiling</title><script>steal()</script></head><body>
  <nav><a href="/home">Home</a></nav>
  <article><h1>On boiling</h1>${PARAGRAPH}<h2>Why</h2>${PARAGRAPH}
  <p>See <a href="more.html">more</a> and <a href="javascript:steal()">this</a>.</p>
  <pre><code>t = 100</code></pre><ul><li>one</li><li>two</li></ul></article></body></html>`;

interface Served {
  readonly type?: string;
  readonly body: string | Buffer;
  readonly status?: number;
  readonly headers?: Record<string, string>;
}

async function fetching(served: Served, options: JsonObject = {}, env: Record<string, string> = {}) {
  const server = await testServer((_request, response) => {
    const type = served.type === undefined ? {} : { "content-type": served.type };
    response.writeHead(served.status ?? 200, { ...type, ...served.headers }).end(served.body);
  });
  const bench = await Bench.make({}, env);
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const tool = bench.bind(bindFetch, { allow_private: [server.place], ...options });
  const call = (url = `${server.url}/page`) => bench.call(tool, { url });
  return { server, bench, tool, call };
}

describe("a page", () => {
  test("comes as Markdown with its source, time and hash", async () => {
    const { call, server } = await fetching({ type: "text/html; charset=utf-8", body: PAGE });
    const value = valueOf(await call());
    expect(value).toMatchObject({
      url: `${server.url}/page`,
      status: 200,
      title: "On boiling",
      sha256: createHash("sha256").update(PAGE).digest("hex"),
      fetched_at: "2030-01-01T00:00:00.000Z",
    });
    expect(value["markdown"]).toContain("## Why");
    expect(value["markdown"]).toContain(`[more](${server.url}/more.html)`);
    expect(value["markdown"]).toContain("```\nt = 100\n```");
    expect(value["markdown"]).toMatch(/- +one/);
    expect(value["markdown"]).not.toMatch(/steal|javascript:/);
    expect(value).not.toHaveProperty("truncated");
  });

  test("without an article comes whole", async () => {
    const { call } = await fetching({
      type: "text/html",
      body: "<title>T</title><body><h2>Short</h2><p>Two words",
    });
    expect(valueOf(await call())).toMatchObject({ title: "T", markdown: "## Short\n\nTwo words" });
  });

  test("is read in its own charset", async () => {
    const body = Buffer.from("<meta charset=iso-8859-1><body><p>Gr\u00fc\u00dfe", "latin1");
    const { call } = await fetching({ type: "text/html", body });
    expect(valueOf(await call())["markdown"]).toBe("Gr\u00fc\u00dfe");
  });

  test("that would keep the reader busy for minutes is read as plain text", async () => {
    const body = `<title>Deep</title><script>steal()</script>${"<div>".repeat(4000)}the words`;
    const { call } = await fetching({ type: "text/html", body });
    expect(valueOf(await call())).toMatchObject({ title: "Deep", markdown: "the words" });
  });

  test("past the limit is cut and says so", async () => {
    const { call } = await fetching(
      { type: "text/plain", body: "x".repeat(1001), headers: { "content-length": "1001" } },
      { max_bytes: 1000 },
    );
    const value = valueOf(await call());
    expect(value["markdown"]).toHaveLength(1000);
    expect(value["truncated"]).toBe("only the first 1000 bytes were read; 1 of 1001 bytes are left out");
  });

  test("that redirects is named by where it came from", async () => {
    const { server, call, bench } = await fetching({
      body: "",
      status: 302,
      headers: { location: "http://10.0.0.1/" },
    });
    expect(codeOf(await call())).toBe("address_refused");
    const other = await testServer((_request, response) => {
      response.writeHead(302, { location: `${server.url}/x` }).end();
    });
    const tool = bench.bind(bindFetch, { allow_private: [other.place] });
    expect(codeOf(await bench.call(tool, { url: other.url }))).toBe("address_refused");
    expect(server.requests).toHaveLength(1);
  });
});

test.each([
  "application/json",
  "text/csv",
  "text/markdown; charset=utf-8",
  "application/ld+json",
  "text/plain",
])("%s comes as it is", async (type) => {
  const { call } = await fetching({ type, body: '{"a": [1, 2]}\n' });
  expect(valueOf(await call())).toMatchObject({ markdown: '{"a": [1, 2]}\n', title: "" });
});

test.each(["image/png", "application/pdf", "application/octet-stream", "application/zip"])(
  "%s is refused",
  async (type) => {
    const { call } = await fetching({ type, body: "x" });
    expect(codeOf(await call())).toBe("type_refused");
  },
);

test("a missing page is an answer, trouble of the server is a fault with its pause", async () => {
  const missing = await fetching({ type: "text/plain", body: "no such page", status: 404 });
  expect(valueOf(await missing.call())).toMatchObject({ status: 404, markdown: "no such page" });
  const busy = await fetching({ body: "", status: 429, headers: { "retry-after": "7" } });
  await expect(busy.call()).rejects.toMatchObject({ code: "rate_limited", retry: "later", afterMs: 7000 });
  const dated = await fetching({
    body: "",
    status: 503,
    headers: { "retry-after": "Tue, 01 Jan 2030 00:00:30 GMT" },
  });
  await expect(dated.call()).rejects.toMatchObject({ code: "server_error", retry: "later", afterMs: 30_000 });
  const broken = await fetching({ body: "", status: 500 });
  await expect(broken.call()).rejects.toMatchObject({ code: "server_error", afterMs: undefined });
});

test("HEAD asks for the head only", async () => {
  const { call, server } = await fetching(
    { type: "application/pdf", body: "", headers: { "content-length": "12345" } },
    { method: "HEAD" },
  );
  expect(valueOf(await call())).toMatchObject({
    status: 200,
    content_type: "application/pdf",
    bytes: 12_345,
  });
  expect(server.requests[0]?.method).toBe("HEAD");
});

describe("secrets", () => {
  const env = { WIKI_TOKEN: "canary-5b1c\n" };
  const options = { allow_hosts: ["127.0.0.1"], bearer_env: "WIKI_TOKEN", headers: { "X-Team": "blue" } };

  test("go into the header and nowhere else", async () => {
    const { call, server } = await fetching({ type: "text/plain", body: "hello" }, options, env);
    const answer = await call();
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: "Bearer canary-5b1c",
      "x-team": "blue",
    });
    expect(JSON.stringify(answer)).not.toContain("canary-5b1c");
  });

  test("are not sent to a host that is not listed", async () => {
    const { call } = await fetching({ body: "" }, options, env);
    expect(codeOf(await call("https://elsewhere.example/"))).toBe("host_not_allowed");
  });

  test("that are not set are asked for by name", async () => {
    const { call, server } = await fetching({ body: "" }, options);
    expect(await call()).toMatchObject({
      ok: false,
      code: "not_configured",
      message: expect.stringContaining("`WIKI_TOKEN`"),
    });
    expect(server.requests).toEqual([]);
  });

  test("in a variable that cannot be a header are not shown", async () => {
    const { call } = await fetching({ body: "" }, options, { WIKI_TOKEN: "canary\u0000-5b1c" });
    const answer = await call();
    expect(codeOf(answer)).toBe("not_configured");
    expect(JSON.stringify(answer)).not.toContain("5b1c");
  });
});

test("options that cannot be meant are named", async () => {
  await using bench = await Bench.make();
  const options = {
    allow_hosts: ["https://example.org/", "*.ok.example"],
    allow_private: ["127.0.0.1"],
    headers: { Host: "x", "bad name": "y", cookie_env: "C" },
    method: "POST",
    max_bytes: 0,
  };
  expect(problemsOf(bindFetch, options, bench.around)).toEqual([
    "tools.t.allow_hosts: `https://example.org/` is not a host (write `example.org` or `*.example.org`)",
    "tools.t.allow_private: `127.0.0.1` is not a host with its port (write `127.0.0.1:8080`)",
    "tools.t.headers: `Host` is set by packloop itself",
    "tools.t.headers: `bad name` cannot be sent as a header",
    "tools.t.method: `POST` is not known here (expected one of GET, HEAD)",
    expect.stringContaining("tools.t.max_bytes"),
  ]);
  expect(problemsOf(bindFetch, { bearer_env: "T" }, bench.around)).toEqual([
    "tools.t: a header from the environment needs `allow_hosts`: it must not be sent to just any host",
  ]);
});

test("a call without a URL is told what is missing", async () => {
  await using bench = await Bench.make();
  const tool = bench.bind(bindFetch, {});
  expect(await bench.call(tool, { page: 1 })).toMatchObject({ ok: false, code: "bad_arguments" });
});
