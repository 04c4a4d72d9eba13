// MCP servers behind an address: both generations of the protocol, what travels with a call, and what can go
// wrong on the way.

import { describe, expect, test } from "vitest";
import { bench, context, faultOf } from "./bench.ts";
import { httpHost } from "./http-host.ts";
import { newWorld, type OwnWorld, text } from "./own-server.ts";

const echo = (): OwnWorld => newWorld({ echo: ({ args }) => text(JSON.stringify(args)) });

describe("a call over HTTP", () => {
  test("carries the arguments, the key of the step and the headers the binding names", async () => {
    const world = echo();
    await using host = await httpHost(world);
    await using on = bench();
    on.env.set("TEAM_KEY", "canary-1234").set("TEAM_BEARER", "canary-5678");
    const headers = { "X-Team": "blue", "X-Key_env": "TEAM_KEY" };
    const tool = on.one("echo", { mcp: { url: host.url, headers, bearer_env: "TEAM_BEARER" } });
    expect(await tool.call({ a: 1 }, context())).toEqual({ ok: true, value: '{"a":1}' });
    expect(world.calls[0]).toMatchObject({ args: { a: 1 }, meta: { "packloop/key": "r_1/3" } });
    const sent = host.seen.at(-1)?.headers;
    expect(sent).toMatchObject({
      "x-team": "blue",
      "x-key": "canary-1234",
      authorization: "Bearer canary-5678",
    });
    expect(sent?.["mcp-protocol-version"]).toBe("2026-07-28");
  });

  test("falls back to the older generation where the server knows no other", async () => {
    const world = echo();
    await using host = await httpHost(world);
    host.instead = (_request, body, response) => {
      if (!body.includes("server/discover")) return false;
      const { id } = JSON.parse(body) as { id: number };
      const error = { code: -32601, message: "Method not found" };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      return true;
    };
    await using on = bench();
    expect(await on.one("echo", { mcp: { url: host.url } }).call({}, context())).toEqual({
      ok: true,
      value: "{}",
    });
    expect(host.seen.at(-1)?.headers["mcp-protocol-version"]).toBe("2025-11-25");
  });

  test("shows secrets neither in results nor in errors", async () => {
    const words = "your header was canary-5678";
    const world = newWorld({
      leak: () => ({ content: [], structuredContent: { list: [words], "canary-5678": 1 } }),
      fail: () => ({ ...text(words), isError: true }),
    });
    await using host = await httpHost(world);
    await using on = bench();
    on.env.set("TOKEN", "canary-5678");
    const server = { mcp: { url: host.url, bearer_env: "TOKEN" } };
    const answers = [
      await on.one("leak", server).call({}, context()),
      await on.one("fail", server).call({}, context()),
    ];
    expect(answers).toEqual([
      { ok: true, value: { list: ["your header was [TOKEN]"], "[TOKEN]": 1 } },
      { ok: false, code: "tool_error", message: "your header was [TOKEN]" },
    ]);
  });

  test("cuts a result that is too long and says by how much", async () => {
    const world = newWorld({
      long: () => text("ä".repeat(3000)),
      wide: () => ({ content: [], structuredContent: { list: Array.from({ length: 2000 }, (_, i) => i) } }),
    });
    await using host = await httpHost(world);
    await using on = bench();
    const server = { mcp: { url: host.url }, max_result_bytes: 2049 };
    const long = await on.one("long", server).call({}, context());
    expect(long).toEqual({ ok: true, value: `${"ä".repeat(1024)}\n[cut: 3952 of 6000 bytes left out]` });
    const wide = await on.one("wide", server).call({}, context());
    expect(wide).toMatchObject({ ok: true, value: { cut: true, bytes: 8900 } });
  });

  test("is refused by the server as an answer for the model", async () => {
    const world = newWorld({
      strict: () => {
        throw Object.assign(new Error("`a` must be even"), { code: -32602 });
      },
      broken: () => {
        throw new Error("disk on fire");
      },
    });
    await using host = await httpHost(world);
    await using on = bench();
    const server = { mcp: { url: host.url } };
    expect(await on.one("strict", server).call({}, context())).toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("`a` must be even"),
    });
    expect(await on.one("broken", server).call({}, context())).toMatchObject({ code: "mcp_error" });
    expect(await on.one("strict", server).call("text", context())).toMatchObject({
      code: "invalid_arguments",
    });
  });
});

describe("trouble on the way", () => {
  const cases = [
    { status: 401, code: "unauthorized", retry: "never" },
    { status: 403, code: "unauthorized", retry: "never" },
    { status: 404, code: "session_gone", retry: "later" },
    { status: 418, code: "mcp_refused", retry: "never" },
    { status: 429, code: "mcp_unavailable", retry: "later", afterMs: 7000 },
    { status: 503, code: "mcp_unavailable", retry: "later", afterMs: 7000 },
    { status: 500, code: "in_doubt", retry: "unknown" },
    { status: 502, code: "in_doubt", retry: "unknown" },
  ];
  test.each(cases)("HTTP $status for a call is $code, $retry", async ({ status, ...fault }) => {
    await using host = await httpHost(echo());
    await using on = bench();
    const tool = on.one("echo", { mcp: { url: host.url } });
    host.instead = (_request, body, response) => {
      if (!body.includes("tools/call")) return false;
      response.writeHead(status, { "retry-after": "7" }).end("nothing to see");
      return true;
    };
    expect(await faultOf(tool.call({}, context()))).toMatchObject(fault);
    host.instead = () => false;
    expect(await tool.call({}, context())).toMatchObject({ ok: true });
  });

  test("a server error is tried again where the tool may be repeated", async () => {
    await using host = await httpHost(echo());
    await using on = bench();
    host.instead = (_request, body, response) => {
      if (!body.includes("tools/call")) return false;
      response.writeHead(500).end();
      return true;
    };
    const fault = await faultOf(on.one("echo", { mcp: { url: host.url } }, true).call({}, context()));
    expect(fault).toMatchObject({ code: "connection_lost", retry: "later" });
  });

  test.each(["text/event-stream", "application/json"])(
    "an answer that breaks off (%s) is in doubt",
    async (type) => {
      await using host = await httpHost(echo());
      await using on = bench();
      host.instead = (_request, body, response) => {
        if (!body.includes("tools/call")) return false;
        response.writeHead(200, { "content-type": type });
        response.write(type === "application/json" ? '{"jsonrpc": "2.0", "id"' : ": wait for it\n\n");
        setImmediate(() => response.destroy());
        return true;
      };
      const tool = on.one("echo", { mcp: { url: host.url } });
      expect(await faultOf(tool.call({}, context()))).toMatchObject({ code: "in_doubt", retry: "unknown" });
      host.instead = () => false;
      expect(await tool.call({}, context())).toMatchObject({ ok: true });
    },
  );

  test("a server that is away is tried again later", async () => {
    const host = await httpHost(echo());
    await host[Symbol.asyncDispose]();
    await using on = bench();
    const fault = await faultOf(on.one("echo", { mcp: { url: host.url } }).call({}, context()));
    expect(fault).toMatchObject({ code: "mcp_unavailable", retry: "later" });
  });

  test("a call that is given up ends at the server, too", async () => {
    const aborted = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const world = newWorld({
      hang: async ({ signal }) => {
        signal.addEventListener("abort", () => aborted.resolve());
        started.resolve();
        await aborted.promise;
        return text("late");
      },
    });
    await using host = await httpHost(world);
    await using on = bench();
    const stop = new AbortController();
    const hanging = on.one("hang", { mcp: { url: host.url } }).call({}, context({ signal: stop.signal }));
    hanging.catch(() => {});
    await started.promise;
    stop.abort(new DOMException("enough", "AbortError"));
    await expect(hanging).rejects.toThrow("enough");
    await aborted.promise;
  });

  test("an answer of many megabytes never reaches the journal", async () => {
    await using host = await httpHost(echo());
    await using on = bench();
    host.instead = (_request, body, response) => {
      if (!body.includes("tools/call")) return false;
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(1024 * 1024, "x");
      const more = (left: number): void => {
        if (left === 0) response.end();
        else response.write(chunk, () => more(left - 1));
      };
      more(40);
      return true;
    };
    const answer = await on.one("echo", { mcp: { url: host.url } }).call({}, context());
    expect(answer).toMatchObject({ ok: false, code: "too_large" });
  });
});
