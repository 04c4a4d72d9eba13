// Starting and stopping: what was under way goes on, and nothing that was answered is lost.

import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { Fault } from "../../src/engine/ports.ts";
import { SideFile } from "../../src/server/side-file.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { ends, pack, start } from "./sample-pack.ts";
import { served, temporaryFolder } from "./served.ts";
import { startedRun, waiting } from "./started-run.ts";

/** A model that takes its time with every answer. */
const slow = (delay: number): JsonObject => ({
  states: {
    work: [
      { event: "Again", delay_ms: delay },
      { event: "Done", delay_ms: delay },
    ],
    end: [{ text: "Bye." }],
  },
});

const slowTool = (delay: number): JsonObject => ({
  states: {
    work: [{ calls: [{ tool: "look", args: { where: "x" } }] }, { event: "Done" }],
    end: [{ text: "Bye." }],
  },
  tools: { look: [{ ok: "bright", delay_ms: delay }] },
});

test("runs at work go on when a server starts on their store", async () => {
  const first = await served();
  const runs: string[] = [];
  for (let n = 0; n < 5; n++) runs.push(await startedRun(first, start(slow(100))));
  await first.stop();
  const second = await served({ folder: first.folder });
  for (const run of runs) {
    const summary = await second.until(run, ({ status }) => status === "completed");
    // Each answered call was made once, however often it was asked.
    expect(summary.used.model_calls).toBe(3);
  }
});

test("the time of a run that waits ends it, although nobody moved it since the server started", async () => {
  const first = await served();
  const brief = pack.replace("max_wall_time_sec: 600", "max_wall_time_sec: 1");
  const run = await waiting(first, { pack: brief });
  await first.stop();
  const second = await served({ folder: first.folder });
  const summary = await second.until(run, ({ status }) => status === "budget_exhausted");
  expect(summary.reason).toMatchObject({ limit: "max_wall_time_sec" });
});

test("a tool at work may finish within the grace and is recorded", async () => {
  const first = await served();
  const run = await startedRun(first, start(slowTool(300)));
  await first.until(run, ({ turns }) => turns === 2);
  await first.stop(20_000);
  const second = await served({ folder: first.folder });
  // The tool must not be called twice unasked: had its answer not been recorded, the run would wait in doubt.
  expect((await second.until(run, ({ status }) => status === "completed")).used.tool_calls).toBe(1);
});

test("a request that is under way when the server stops is answered, and a later one is refused", async () => {
  const server = await served();
  const body = JSON.stringify(start(ends));
  const { hostname, port, host } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = `POST /api/runs HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const sent = new Promise<void>((resolve) => socket.write(head + body.slice(0, 100), () => resolve()));
  await sent;
  // Answered on another connection, so the first has been accepted by now.
  await server.get("/healthz");
  const stopping = server.stop();
  socket.write(body.slice(100));
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  await once(socket, "close");
  await stopping;
  expect(text).toMatch(/^HTTP\/1\.1 (201|503) /);
  const started = text.startsWith("HTTP/1.1 201");
  const next = await served({ folder: server.folder });
  expect((await next.get("/api/runs")).body["items"]).toHaveLength(started ? 1 : 0);
});

test("it says that it lives and that it can be used", async () => {
  const server = await served();
  expect((await server.get("/healthz")).body).toEqual({ status: "ok", version: "0.0.0" });
  expect((await server.get("/readyz")).body).toEqual({ status: "ok", version: "0.0.0" });
});

test("it is not ready when the store cannot commit, and says why", async () => {
  const folder = temporaryFolder();
  const real = await openSqliteStore(join(folder, "runs.db"));
  const broken = new Proxy(real, {
    get(store, name) {
      if (name === "remove")
        return async () => {
          throw new Fault("store-unavailable", "the disk is full", { retry: "never" });
        };
      const value: unknown = Reflect.get(store, name, store);
      return typeof value === "function" ? (value.bind(store) as unknown) : value;
    },
  });
  const server = await served({ folder, store: broken });
  const { status, body } = await server.get("/readyz");
  expect([status, body["code"], body["detail"]]).toEqual([503, "store-unavailable", "the disk is full"]);
  expect((await server.get("/healthz")).status).toBe(200);
});

test("it is not ready when the disk takes nothing", async () => {
  const folder = temporaryFolder();
  const side = new SideFile(join(folder, "side"));
  const server = await served({ folder, side });
  side.db.exec("PRAGMA query_only = ON");
  const { status, body } = await server.get("/readyz");
  expect([status, body["code"]]).toEqual([503, "store-unavailable"]);
  side.db.exec("PRAGMA query_only = OFF");
});
