// `packloop serve` and `packloop token` as people use them.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { folderWith, packloop } from "../cli/run-cli.ts";
import { readEvents } from "./event-reader.ts";
import { ends, pack, start } from "./sample-pack.ts";
import { serveProcess } from "./serve-process.ts";
import { temporaryFolder } from "./served.ts";

async function call(url: string, path: string, body?: JsonObject, token?: string) {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const slow: JsonObject = {
  states: {
    work: [...Array.from({ length: 8 }, () => ({ event: "Again", delay_ms: 40 })), { event: "Done" }],
    end: [{ text: "Bye." }],
  },
};

describe("serve", () => {
  test("a killed server's runs go on with the next one, as if nothing had happened", async () => {
    const folder = temporaryFolder();
    const first = await serveProcess(folder);
    const { run } = (await call(first.url, "/api/runs", start(slow))).body as unknown as Summary;
    await readEvents(first.url, `/api/runs/${run}/stream`, { bytes: 2_000 });
    expect(await first.stop("SIGKILL")).toBe("SIGKILL");
    const second = await serveProcess(folder);
    const { events } = await readEvents(second.url, `/api/runs/${run}/stream`);
    expect(events.at(-1)).toMatchObject({ name: "end", data: { status: "completed" } });
    const { body } = await call(second.url, `/api/runs/${run}`);
    expect(body).toMatchObject({ visits: { work: 9, end: 1 }, used: { visits: 10, model_calls: 10 } });
    expect(await second.stop("SIGTERM")).toBe(0);
    expect(packloop(["verify", "--all"], { cwd: folder }).code).toBe(0);
  });

  test("registers packs, keeps runs in the store given, and stops with 0", async () => {
    using folder = folderWith({ "served.pack.yaml": pack });
    const server = await serveProcess(folder.path, "served.pack.yaml", "--store", "other.db");
    const { body } = await call(server.url, "/api/packs");
    const [{ digest }] = body["items"] as [{ digest: string }];
    const started = await call(server.url, "/api/runs", { digest, variables: { task: "it" }, script: ends });
    expect(started.status).toBe(201);
    expect(await server.stop("SIGINT")).toBe(0);
    const listed = packloop(["ls", "--store", "other.db", "--json"], { cwd: folder.path });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ run: started.body["run"] }]);
  });

  test("a second server on the same store leaves with 6, and a taken port with 2", async () => {
    const folder = temporaryFolder();
    const server = await serveProcess(folder);
    expect(packloop(["serve", "--port", "0"], { cwd: folder }).code).toBe(6);
    const { port } = new URL(server.url);
    const taken = packloop(["serve", "--port", port, "--store", "b.db"], { cwd: folder });
    expect(taken).toMatchObject({ code: 2, stdout: "" });
    expect(taken.stderr).toContain("EADDRINUSE");
    await server.stop("SIGTERM");
  });

  test("beyond this machine it does not start without a token, and then asks everybody for one", async () => {
    const folder = temporaryFolder();
    const bare = packloop(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd: folder });
    expect(bare).toMatchObject({ code: 2, stdout: "" });
    expect(bare.stderr).toContain("packloop token create");
    const made = packloop(["token", "create", "ci", "--scope", "runs:read"], { cwd: folder });
    const token = made.stdout.trim();
    const server = await serveProcess(folder, "--host", "0.0.0.0");
    const url = server.url.replace("0.0.0.0", "127.0.0.1");
    expect((await call(url, "/api/runs")).status).toBe(401);
    expect((await call(url, "/api/runs", undefined, token)).status).toBe(200);
    expect((await call(url, "/api/runs", start(ends), token)).status).toBe(403);
    expect(packloop(["token", "revoke", "ci"], { cwd: folder }).code).toBe(0);
    expect((await call(url, "/api/runs", undefined, token)).status).toBe(401);
    await server.stop("SIGTERM");
    expect(server.text()).not.toContain(token);
  });
});

describe("token", () => {
  test("is shown once, kept as a hash by its owner only, listed without itself, and revoked", () => {
    using folder = folderWith({});
    const cli = (...args: string[]) => packloop(["token", ...args], { cwd: folder.path });
    const { stdout, code } = cli("create", "ci", "--scope", "runs:read,events:send");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^plt_[\w-]{43}\n$/);
    const file = join(folder.path, ".packloop", "tokens.json");
    expect(readFileSync(file, "utf8")).not.toContain(stdout.trim());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(cli("list", "--json").stdout)).toMatchObject([
      { name: "ci", scopes: ["runs:read", "events:send"] },
    ]);
    expect(cli("create", "ci", "--scope", "admin").code).toBe(2);
    expect(cli("create", "x y", "--scope", "admin").code).toBe(2);
    const typo = cli("create", "b", "--scope", "run:read");
    expect(typo).toMatchObject({ code: 2, stdout: "" });
    expect(typo.stderr).toContain("did you mean `runs:read`?");
    expect([cli("revoke", "ci").code, cli("revoke", "ci").code]).toEqual([0, 5]);
    expect(cli("list").stdout).toBe("no tokens\n");
  });

  test("a file that holds no tokens is not written over", () => {
    using folder = folderWith({ "t.json": "[]" });
    const args = ["token", "create", "a", "--scope", "admin", "--token-file", "t.json"];
    const ran = packloop(args, { cwd: folder.path });
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(readFileSync(join(folder.path, "t.json"), "utf8")).toBe("[]");
  });
});
