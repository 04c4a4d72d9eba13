// The debugger's files as the server serves them: what their headers promise, and who may come to them.

import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { ends, start } from "./sample-pack.ts";
import { type Served, served, temporaryFolder } from "./served.ts";

const PAGE = "<!doctype html><title>packloop</title>";
const SCRIPT = "export const nothing = 1;\n".repeat(100);

async function withPage(): Promise<Served> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "favicon.svg"), "<svg/>");
  writeFileSync(join(folder, "assets", "page-abc.js"), SCRIPT);
  return served({ webFolder: folder });
}

/** With exactly these headers, and the bytes as they came. */
async function raw(url: string, headers: Readonly<Record<string, string>>) {
  const [response] = (await once(get(url, { headers }), "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) };
}

test("every screen's address shows the page, under a policy without any exception", async () => {
  const server = await withPage();
  for (const path of [
    "/",
    "/inbox",
    "/settings",
    "/r/r_1%2F2",
    "/p/sha256:ab",
    "/compare/r_1/r_2?change=1",
  ]) {
    const { status, headers, body } = await server.get(path);
    expect([path, status, body["text"]]).toEqual([path, 200, PAGE]);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-cache");
  }
});

test("an address that no screen has is still a problem", async () => {
  const server = await withPage();
  expect((await server.get("/nowhere")).status).toBe(404);
  expect((await server.get("/r/a/b")).status).toBe(404);
  expect((await server.get("/assets/other.js")).status).toBe(404);
  expect((await server.get("/assets/..%2Findex.html")).status).toBe(404);
});

test("files named by their content are kept for ever, and squeezed for who takes that", async () => {
  const server = await withPage();
  const url = `${server.url}/assets/page-abc.js`;
  const plain = await fetch(url, { headers: { "accept-encoding": "identity" } });
  expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(plain.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(await plain.text()).toBe(SCRIPT);
  const squeezed = await raw(url, { "accept-encoding": "gzip, br" });
  expect(squeezed.headers["content-encoding"]).toBe("br");
  expect(brotliDecompressSync(squeezed.bytes).toString()).toBe(SCRIPT);
  const tag = plain.headers.get("etag") ?? "";
  expect((await fetch(url, { headers: { "if-none-match": tag } })).status).toBe(304);
});

test("a link from elsewhere leads to the page, and to nothing else", async () => {
  const server = await withPage();
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  const ask = async (path: string, headers: Readonly<Record<string, string>>) =>
    (await raw(`${server.url}${path}`, headers)).status;
  expect(await ask("/inbox", link)).toBe(200);
  expect(await ask("/inbox", { ...link, "sec-fetch-mode": "cors" })).toBe(403);
  expect(await ask("/inbox", { ...link, origin: "https://elsewhere.example" })).toBe(403);
  expect(await ask("/api/runs", link)).toBe(403);
});

test("a server whose page was not built says so", async () => {
  const server = await served({ webFolder: temporaryFolder() });
  const { status, body } = await server.get("/");
  expect(status).toBe(404);
  expect(body["detail"]).toContain("not built");
});

test("short traces cut every value to a line, and a summary can leave its output out", async () => {
  const server = await withPage();
  const long = `one\n${"long ".repeat(1_000)}`;
  const script = {
    ...ends,
    states: { ...(ends["states"] as object), work: [{ artifacts: { note: long }, event: "Done" }] },
  };
  const { body } = await server.post("/api/runs", start(script));
  const run = String(body["run"]);
  await server.until(run, ({ status }) => status === "completed");
  const { body: rows } = await server.get(`/api/runs/${run}/trace?values=short`);
  const { artifacts } = (rows as unknown as { artifacts: { note: string } }[]).at(-1) ?? {
    artifacts: { note: "" },
  };
  expect(artifacts.note).toMatch(/^one long long .{1,110}…$/);
  expect((await server.get(`/api/runs/${run}?output=none`)).body["output"]).toBeNull();
  expect((await server.get(`/api/runs/${run}`)).body["output"]).not.toBeNull();
});
