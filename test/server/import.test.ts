// Runs that come to a server as files: taken whole or not at all, and gone on with.

import { createHash } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { canonical, type JsonObject } from "../../src/base/json.ts";
import { readRunFile, treeLines } from "../../src/host/run-file.ts";
import { knownRecord } from "../../src/host/stored-runs.ts";
import { takeRun } from "../../src/host/take-run.ts";
import { asks, ends, start } from "./sample-pack.ts";
import { type Answer, type Served, served } from "./served.ts";

const TYPE = { "content-type": "application/x-ndjson" };

const send = (server: Served, file: string, headers: Readonly<Record<string, string>> = {}) =>
  server.call("POST", "/api/runs/import", { raw: file, headers: { ...TYPE, ...headers } });

/** A run that was started so, as a file of it. */
async function exported(script: JsonObject, status: string): Promise<string> {
  const server = await served();
  const { body } = await server.post("/api/runs", start(script));
  const run = String(body["run"]);
  await server.until(run, (summary) => summary.status === status);
  let text = "";
  for await (const line of treeLines(server.store, await knownRecord(server.store, run))) text += line;
  return text;
}

const headOf = (file: string): JsonObject => JSON.parse(file.slice(0, file.indexOf("\n"))) as JsonObject;
const runIn = (file: string): string => String(headOf(file)["run"]);

/** The same file with another head, and the hash that fits it. */
function reheaded(file: string, change: JsonObject): string {
  const { sha256: _, ...bare } = { ...headOf(file), ...change };
  const rows = file.slice(file.indexOf("\n") + 1);
  const hash = createHash("sha256")
    .update(`${canonical(bare)}\n`)
    .update(rows)
    .digest("hex");
  return `${JSON.stringify({ ...bare, sha256: hash })}\n${rows}`;
}

const files = new Map<string, Promise<string>>();

/** Made once, by whichever test needs it first. */
function fileOf(status: "completed" | "waiting"): Promise<string> {
  const made = files.get(status) ?? exported(status === "completed" ? ends : asks, status);
  files.set(status, made);
  return made;
}

describe("a run from a file", () => {
  test("is taken once, listed, shown and told to whoever follows all runs", async () => {
    const done = await fileOf("completed");
    const server = await served();
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const stream = await fetch(`${server.url}/api/stream`, { signal: abort.signal });
    const run = runIn(done);
    const taken = await send(server, done);
    const { turns } = taken.body;
    expect([taken.status, taken.body]).toEqual([201, { run, turns, taken: turns }]);
    expect(taken.headers.get("location")).toBe(`/api/runs/${run}`);
    const again = await send(server, done);
    expect([again.status, again.body]).toEqual([200, { run, turns, taken: 0 }]);
    expect((await server.get("/api/runs")).body["items"]).toMatchObject([{ run, status: "completed" }]);
    expect(await server.store.verify(run)).toEqual([]);
    let told = "";
    for await (const chunk of stream.body ?? []) {
      told += Buffer.from(chunk).toString("utf8");
      if (told.includes(`"turn":${String(turns)},`)) break;
    }
    expect(told).toContain(run);
  });

  test("is gone on with: it waits here as it waited there, and is sent on", async () => {
    const waits = await fileOf("waiting");
    const server = await served();
    const run = runIn(waits);
    expect((await send(server, waits)).status).toBe(201);
    expect((await server.post(`/api/runs/${run}/events`, { name: "Yes" })).status).toBe(200);
    const summary = await server.until(run, ({ status }) => status === "completed");
    expect(summary.output?.text).toBe("Goodbye.");
    // What the file has of it is still how it began.
    expect((await send(server, waits)).body).toMatchObject({ taken: 0 });
  });

  test("is taken once when it is brought twice at the same moment", async () => {
    const { store } = await served();
    const read = readRunFile(Buffer.from(await fileOf("completed")));
    const tree = read.ok ? read.tree : expect.fail(read.why);
    const both = await Promise.all([takeRun(store, tree), takeRun(store, tree)]);
    const counts = both.map((taken) => (taken.ok ? taken.run.taken : taken.why));
    expect(new Set(counts)).toEqual(new Set([0, tree.header.turns]));
  });

  test("is taken by the name that a program gave it", async () => {
    const server = await served();
    const named = reheaded(await fileOf("completed"), { run: "order #42, a@b.example", key: null });
    expect(await send(server, named)).toMatchObject({ status: 201, body: { run: runIn(named) } });
    expect((await server.get(`/api/runs/${encodeURIComponent(runIn(named))}`)).status).toBe(200);
  });

  test("gets the first reply again by its key", async () => {
    const done = await fileOf("completed");
    const waits = await fileOf("waiting");
    const server = await served();
    const first = await send(server, done, { "idempotency-key": "k" });
    const second = await send(server, done, { "idempotency-key": "k" });
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    const other = await send(server, waits, { "idempotency-key": "k" });
    expect([other.status, other.body["code"]]).toEqual([422, "idempotency-key-reused"]);
  });

  test("is refused when it has work to do that only a model could do here", async () => {
    const done = await fileOf("completed");
    const server = await served();
    // Its first turn alone, and no script: what is open is a model's.
    const [head = "", first = ""] = done.split("\n");
    const cut = reheaded(`${head}\n${first}\n`, { turns: 1, setup: {} });
    const refused = await send(server, cut);
    expect([refused.status, refused.body["code"]]).toEqual([422, "cannot-start"]);
    expect(refused.body["detail"]).toContain("no model is bound");
    expect((await server.get("/api/runs")).body["items"]).toEqual([]);
  });
});

describe("what is not a run", () => {
  const answered = ({ status, body }: Answer) => [status, body["code"]];

  test("is refused by what is wrong with it, and nothing is taken", async () => {
    const done = await fileOf("completed");
    const server = await served();
    const program = { ...(headOf(done)["program"] as JsonObject), name: "Other" };
    const wrong: readonly (readonly [string, string])[] = [
      ["", "does not begin with a header"],
      ["null\n", "does not begin with a header"],
      [`${"[".repeat(5_000)}${"]".repeat(5_000)}\n`, "does not begin with a header"],
      [done.slice(0, -2), "turns"],
      [`${done}{}\n`, "turns"],
      [done.replace("Goodbye", "Goodbyf"), "does not fit its hash"],
      [reheaded(done, { run: ".." }), "does not begin with a header"],
      [reheaded(done, { run: "a\\..\\b" }), "does not begin with a header"],
      [reheaded(done, { run: "a/../../b\u0000" }), "does not begin with a header"],
      [reheaded(done, { key: 7 }), "does not begin with a header"],
      [reheaded(done, { earlier: [null] }), "does not begin with a header"],
      [reheaded(done, { program }), "does not fit its digest"],
      [reheaded(done.replace('"context":""', '"context":{}'), {}), "is not a turn"],
      [reheaded(done.replace('"ask":{"kind":"model"', '"ask":{"kine":"model"'), {}), "is not a turn"],
    ];
    for (const [file, why] of wrong) {
      const refused = await send(server, file);
      expect([why, ...answered(refused)]).toEqual([why, 400, "bad-request"]);
      expect(refused.body["detail"]).toContain(why);
    }
    expect((await server.get("/api/runs")).body["items"]).toEqual([]);
  });

  test("has to be sent as what it is", async () => {
    const server = await served();
    expect(answered(await server.post("/api/runs/import", {}))).toEqual([415, "unsupported-media-type"]);
    expect(answered(await server.post("/api/runs/import"))).toEqual([400, "bad-request"]);
  });

  test("and another run of the same name stays as it is", async () => {
    const done = await fileOf("completed");
    const waits = await fileOf("waiting");
    const server = await served();
    await send(server, done);
    const other = reheaded(waits, { run: runIn(done) });
    expect(answered(await send(server, other))).toEqual([409, "run-exists"]);
    expect((await server.get(`/api/runs/${runIn(done)}`)).body["status"]).toBe("completed");
  });
});
