// The guarded client against real servers: redirects, what follows them, sizes, times, and the environment.

import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type GuardedRequest,
  type GuardedResponse,
  guardedRequest,
  readBody,
} from "../../../src/adapter/net/guarded-request.ts";
import { bodyOf, type TestServer, testServer } from "../test-server.ts";

const never = new AbortController().signal;

const requestOf = (server: TestServer, more: Partial<GuardedRequest> = {}): GuardedRequest => ({
  url: `${server.url}/`,
  method: "GET",
  headers: {},
  rules: { allowPrivate: [server.place] },
  timeoutMs: 10_000,
  signal: never,
  ...more,
});

async function opened(request: GuardedRequest): Promise<GuardedResponse> {
  const response = await guardedRequest(request);
  if (!response.ok) throw new Error(`${response.code}: ${response.message}`);
  return response;
}

const readAll = async (request: GuardedRequest, maxBytes = 5_000_000) =>
  readBody(await opened(request), { maxBytes, signal: request.signal });

describe("redirects", () => {
  test("five are followed, and the answer names where it came from", async () => {
    const server = await testServer((request, response) => {
      const nth = Number(request.url?.slice(1) || "0");
      if (nth === 5) response.end("there");
      else response.writeHead(302, { location: `/${nth + 1}` }).end();
    });
    const response = await opened(requestOf(server));
    expect(response.url).toBe(`${server.url}/5`);
    expect((await readBody(response, { maxBytes: 100, signal: never })).bytes.toString()).toBe("there");
  });

  test("a sixth is not", async () => {
    const server = await testServer((request, response) => {
      response.writeHead(302, { location: `/${Number(request.url?.slice(1) || "0") + 1}` }).end();
    });
    expect(await guardedRequest(requestOf(server))).toMatchObject({ code: "redirect_refused" });
    expect(server.requests).toHaveLength(6);
  });

  test("headers of the caller stay with their origin", async () => {
    const other = await testServer((_request, response) => response.end());
    const server = await testServer((request, response) => {
      const location = request.url === "/" ? "/again" : `${other.url}/elsewhere`;
      response.writeHead(302, { location }).end();
    });
    const headers = { authorization: "Bearer secret", "x-key": "secret", cookie: "a=b", accept: "text/html" };
    await opened(requestOf(server, { headers, rules: { allowPrivate: [server.place, other.place] } }));
    expect(server.requests.map((one) => one.headers.authorization)).toEqual([
      "Bearer secret",
      "Bearer secret",
    ]);
    const arrived = other.requests[0]?.headers;
    expect([arrived?.authorization, arrived?.["x-key"], arrived?.cookie]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(arrived?.accept).toBe("text/html");
  });

  test("a body is sent again only to its own origin", async () => {
    const other = await testServer((_request, response) => response.end());
    const bodies: string[] = [];
    const server = await testServer(async (request, response) => {
      bodies.push(await bodyOf(request));
      const location = { "/": "/same", "/same": `${other.url}/`, "/see": "/got" }[request.url ?? ""];
      const status = request.url === "/see" ? 303 : 307;
      if (location === undefined) response.end("got");
      else response.writeHead(status, { location }).end();
    });
    const rules = { allowPrivate: [server.place, other.place] };
    const posted = requestOf(server, { method: "POST", body: "payload", rules });
    expect(await guardedRequest(posted)).toMatchObject({ code: "redirect_refused" });
    expect(bodies).toEqual(["payload", "payload"]);
    expect(other.requests).toEqual([]);
    expect(await guardedRequest({ ...posted, url: `${server.url}/see` })).toMatchObject({ ok: true });
    expect(server.requests.at(-1)).toMatchObject({ method: "GET", url: "/got" });
  });

  test("hosts that are not listed are not followed to", async () => {
    const server = await testServer((_request, response) => {
      response.writeHead(302, { location: "https://elsewhere.example/" }).end();
    });
    const rules = { allowPrivate: [server.place], allowHosts: ["127.0.0.1"] };
    expect(await guardedRequest(requestOf(server, { rules }))).toMatchObject({ code: "host_not_allowed" });
  });
});

describe("hosts", () => {
  test.each([
    ["https://docs.example.org/", true],
    ["https://a.b.example.org/", true],
    ["https://example.org/", false],
    ["https://badexample.org/", false],
    ["https://example.net/", true],
    ["https://EXAMPLE.net./", true],
    ["https://sub.example.net/", false],
    ["https://xn--bcher-kva.example/", true],
    ["https://example.net.evil.example/", false],
  ])("with a list, %s is asked for: %s", async (url, isAllowed) => {
    const asked: string[] = [];
    const answer = await guardedRequest({
      url,
      method: "GET",
      headers: {},
      timeoutMs: 30_000,
      signal: never,
      rules: { allowHosts: ["*.example.org", "example.net", "bücher.example"] },
      resolve: async (host) => {
        asked.push(host);
        return [{ address: "127.0.0.1", family: 4 }];
      },
    });
    expect(answer).toMatchObject({ code: isAllowed ? "address_refused" : "host_not_allowed" });
    expect(asked).toHaveLength(isAllowed ? 1 : 0);
  });
});

describe("bodies", () => {
  const packers = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync, deflate: deflateSync };

  test.each(Object.entries(packers))("%s is unpacked", async (coding, pack) => {
    const server = await testServer((_request, response) => {
      response.writeHead(200, { "content-encoding": coding }).end(pack(Buffer.from("plain text")));
    });
    expect((await readAll(requestOf(server))).bytes.toString()).toBe("plain text");
  });

  test.each(Object.entries(packers))(
    "a bomb in %s is refused before it is unpacked",
    async (coding, pack) => {
      const bomb = pack(Buffer.alloc(20_000_000));
      const server = await testServer((_request, response) => {
        response.writeHead(200, { "content-encoding": coding }).end(bomb);
      });
      const reading = readAll(requestOf(server), 100_000_000);
      await expect(reading).rejects.toMatchObject({ code: "decompression_bomb", retry: "never" });
    },
  );

  test("a bomb packed twice is refused too", async () => {
    const twice = gzipSync(gzipSync(Buffer.alloc(20_000_000)));
    const server = await testServer((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(twice);
    });
    await expect(readAll(requestOf(server), 50_000_000)).rejects.toMatchObject({
      code: "decompression_bomb",
    });
  });

  test.each(["gzip, gzip, gzip", "compress", "made-up"])("packed as %s is refused", async (coding) => {
    const server = await testServer((_request, response) => {
      response.writeHead(200, { "content-encoding": coding }).end("x");
    });
    expect(await guardedRequest(requestOf(server))).toMatchObject({ code: "encoding_refused" });
  });

  test("at the limit a body is whole, past it cut", async () => {
    const server = await testServer((request, response) =>
      response.end(Buffer.alloc(Number(request.url?.slice(1)), "x")),
    );
    const at = await readAll(requestOf(server, { url: `${server.url}/1000` }), 1000);
    expect([at.bytes.length, at.truncated]).toEqual([1000, false]);
    const past = await readAll(requestOf(server, { url: `${server.url}/1001` }), 1000);
    expect([past.bytes.length, past.truncated]).toEqual([1000, true]);
  });

  test("a body without end is left after the limit", async () => {
    const closed = Promise.withResolvers<void>();
    const server = await testServer((_request, response) => {
      const pour = () => {
        while (response.write(Buffer.alloc(65_536, "x")));
      };
      response.on("drain", pour).on("close", () => closed.resolve());
      pour();
    });
    expect((await readAll(requestOf(server), 1_000_000)).truncated).toBe(true);
    await closed.promise;
  });

  test("a broken coding and a cut connection leave open what was done", async () => {
    const server = await testServer((request, response) => {
      if (request.url === "/cut") {
        response.writeHead(200, { "content-length": "100" });
        response.write("half", () => response.destroy());
      } else response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip");
    });
    await expect(readAll(requestOf(server))).rejects.toMatchObject({ code: "network", retry: "unknown" });
    const cut = readAll(requestOf(server, { url: `${server.url}/cut` }));
    await expect(cut).rejects.toMatchObject({ code: "network", retry: "unknown" });
  });
});

describe("time", () => {
  test("a server that never answers, and one that never ends, leave open what was done", async () => {
    const server = await testServer((request, response) => {
      if (request.url === "/drip") response.write("x");
    });
    const silent = guardedRequest(requestOf(server, { timeoutMs: 1_000 }));
    await expect(silent).rejects.toMatchObject({ code: "timeout", retry: "unknown" });
    const dripping = readAll(requestOf(server, { url: `${server.url}/drip`, timeoutMs: 1_000 }));
    await expect(dripping).rejects.toMatchObject({ code: "timeout", retry: "unknown" });
  });

  test("a name that is never found is a fault to try again", async () => {
    const resolve = () => new Promise<never>(() => {});
    const asked = guardedRequest({
      ...requestOf(await testServer(() => {})),
      url: "http://slow.example/",
      timeoutMs: 50,
      resolve,
    });
    await expect(asked).rejects.toMatchObject({ code: "timeout" });
  });

  test("giving up ends the request with the caller's own reason", async () => {
    const server = await testServer(() => giving.abort(new Error("no longer needed")));
    const giving = new AbortController();
    const asked = guardedRequest(requestOf(server, { signal: giving.signal }));
    await expect(asked).rejects.toMatchObject({ name: "AbortError", cause: { message: "no longer needed" } });
    expect(server.requests).toHaveLength(1);
  });

  test("nobody listening is a fault that does not say more than the host", async () => {
    const refused = guardedRequest({
      ...requestOf(await testServer(() => {})),
      url: "http://127.0.0.1:1/",
      rules: { allowPrivate: ["127.0.0.1:1"] },
    });
    await expect(refused).rejects.toMatchObject({ code: "network", retry: "later" });
  });
});

test("variables that name a proxy are not heard", async () => {
  const proxy = await testServer((_request, response) => response.end("by proxy"));
  const server = await testServer((_request, response) => response.end("direct"));
  const module = new URL("../../../src/adapter/net/guarded-request.ts", import.meta.url);
  const code = `import { guardedRequest, readBody } from ${JSON.stringify(module.href)};
    const signal = new AbortController().signal;
    const response = await guardedRequest({ url: "${server.url}", method: "GET", headers: {}, timeoutMs: 30_000,
      rules: { allowPrivate: ["${server.place}"] }, signal });
    process.stdout.write((await readBody(response, { maxBytes: 100, signal })).bytes);`;
  const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy.url, http_proxy: proxy.url, ALL_PROXY: proxy.url };
  const args = ["--input-type=module-typescript", "-e", code];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toBe("direct");
  expect(proxy.requests).toEqual([]);
});

test("https is checked, and credentials never follow from it to http", async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), "packloop-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  try {
    const subject = [
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-subj",
      "/CN=127.0.0.1",
    ];
    execFileSync("openssl", ["req", ...subject, "-keyout", keyFile, "-out", certFile], { stdio: "ignore" });
  } catch {
    skip("openssl, which makes the certificate, need not be there");
  }
  const plain = await testServer((_request, response) => response.end("plain"));
  const server = createHttpsServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) });
  const secure = await testServer(
    (_request, response) => response.writeHead(302, { location: `${plain.url}/` }).end(),
    { server },
  );
  const rules = { allowPrivate: [plain.place, secure.place] };
  const request = requestOf(secure, { url: `https://${secure.place}/`, rules });
  await expect(guardedRequest(request)).rejects.toMatchObject({ code: "network" });
  expect(secure.requests).toEqual([]);
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  onTestFinished(() => {
    delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  });
  const withKey = { ...request, headers: { authorization: "Bearer secret" } };
  expect(await guardedRequest(withKey)).toMatchObject({ code: "redirect_refused" });
  expect(plain.requests).toEqual([]);
  expect(await guardedRequest(request)).toMatchObject({ ok: true, url: `${plain.url}/` });
});
