// Large results by reference: found by their hash as long as a run has them.

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { start } from "./sample-pack.ts";
import { type Served, served } from "./served.ts";
import { startedRun } from "./started-run.ts";

const looks = (result: JsonObject["x"]): JsonObject => ({
  states: {
    work: [{ calls: [{ tool: "look", args: { where: "x" } }] }, { event: "Done" }],
    end: [{ text: "Bye." }],
  },
  tools: { look: [{ ok: result }] },
});

interface Blob {
  readonly sha256: string;
  readonly bytes: number;
  readonly href: string;
}

/** The reference that the step of the tool has, if it has one. */
async function blobOf(server: Served, run: string): Promise<Blob | undefined> {
  const { body } = await server.get(`/api/runs/${run}/steps`);
  const steps = body["items"] as unknown as readonly { step: number; kind: string }[];
  const step = steps.find(({ kind }) => kind === "tool")?.step;
  const shown = await server.get(`/api/runs/${run}/steps/${step}`);
  return (shown.body["answer"] as unknown as { blob?: Blob }).blob;
}

async function endedRun(server: Served, result: JsonObject["x"]): Promise<string> {
  const run = await startedRun(server, start(looks(result)));
  await server.until(run, ({ status }) => status === "completed");
  return run;
}

test("a result over 16 KiB is found by its hash, as it is, after a restart as well", async () => {
  const first = await served();
  const text = "<b>ö</b>".repeat(4_000);
  const run = await endedRun(first, text);
  const blob = await blobOf(first, run);
  expect(blob?.sha256).toBe(createHash("sha256").update(text).digest("hex"));
  expect(blob?.bytes).toBe(Buffer.byteLength(text));
  await first.stop();
  const server = await served({ folder: first.folder });
  const found = await fetch(server.url + blob?.href);
  expect(await found.text()).toBe(text);
  expect(found.headers.get("content-type")).toContain("text/plain");
  expect(found.headers.get("cache-control")).toContain("immutable");
  const tag = { "if-none-match": String(found.headers.get("etag")) };
  expect((await fetch(server.url + blob?.href, { headers: tag })).status).toBe(304);
});

test("a result that is no text is JSON, a small one has no reference, and what is gone is not found", async () => {
  const server = await served();
  const value = { rows: Array.from({ length: 3_000 }, (_, row) => ({ row })) };
  const run = await endedRun(server, value);
  const blob = await blobOf(server, run);
  const found = await fetch(server.url + blob?.href);
  expect(found.headers.get("content-type")).toBe("application/json");
  expect(await found.json()).toEqual(value);
  expect(await blobOf(server, await endedRun(server, "small"))).toBeUndefined();
  await server.call("DELETE", `/api/runs/${run}`);
  const gone = await server.get(String(blob?.href));
  expect([gone.status, gone.body["code"]]).toEqual([404, "unknown-blob"]);
  expect((await server.get("/api/blobs/nonsense")).status).toBe(400);
});
