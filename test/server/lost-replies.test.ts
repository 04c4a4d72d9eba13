// A server that dies between the commit and the reply: whoever asks again with the same key gets the reply that
// was lost, exactly, and nothing is done twice.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { SideFile } from "../../src/server/side-file.ts";
import { changedWorlds } from "./changed-worlds.ts";
import { asks, ends, start } from "./sample-pack.ts";
import { serveProcess, serveWith } from "./serve-process.ts";
import { served, temporaryFolder } from "./served.ts";
import { startedRun, waiting } from "./started-run.ts";

const KEY = { "idempotency-key": "the one key" };

async function post(url: string, path: string, body: JsonObject, headers: Record<string, string> = KEY) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const { status, headers: got } = response;
  return { status, replayed: got.get("idempotency-replayed"), body: (await response.json()) as JsonObject };
}

const read = async (url: string, path: string) => (await (await fetch(`${url}${path}`)).json()) as JsonObject;

/** A folder with a run that waits: for the approval of a call, or at the gate. */
async function folderWithRun(isGated: boolean): Promise<{ folder: string; run: string; step: number }> {
  const folder = temporaryFolder();
  if (isGated) writeFileSync(join(folder, "packloop.yaml"), "approvals: [look]\n");
  const server = await serveProcess(folder);
  const { body } = await post(server.url, "/api/runs", start(asks), {});
  const run = String(body["run"]);
  let summary = body as unknown as Summary;
  while (summary.status !== "waiting")
    summary = (await read(server.url, `/api/runs/${run}`)) as unknown as Summary;
  await server.stop("SIGTERM");
  return { folder, run, step: summary.waiting_for[0]?.step ?? 0 };
}

/** The first commit kills the server before it has answered; another one is asked the same again. */
async function afterTheKill(folder: string, path: string, body: JsonObject) {
  const doomed = await serveWith({ PACKLOOP_CRASH_AT: "commit:1:after" }, folder);
  await expect(post(doomed.url, path, body)).rejects.toThrow("fetch failed");
  expect(await doomed.ended).toBe("SIGKILL");
  const next = await serveProcess(folder);
  const again = await post(next.url, path, body);
  const third = await post(next.url, path, body);
  const other = await post(next.url, path, { ...body, by: "another" });
  return { next, again, third, other };
}

test.each([
  ["an event", false, "events", { name: "No", by: "al" }],
  ["a message", false, "messages", { text: "hello", by: "al" }],
  ["a cancellation", false, "cancel", { reason: "enough" }],
  ["an approval", true, "approvals/STEP", { decision: "approve", by: "al" }],
  ["a rejection", true, "approvals/STEP", { decision: "reject", reason: "no" }],
])("%s", async (_, isGated, place, body) => {
  const { folder, run, step } = await folderWithRun(isGated);
  const path = `/api/runs/${run}/${place.replace("STEP", String(step))}`;
  const { next, again, third, other } = await afterTheKill(folder, path, body);
  expect([again.status, again.replayed]).toEqual([200, "true"]);
  expect(again.body).not.toHaveProperty("ignored");
  // The reply that was lost is how the run stood after the turn of the request.
  const { turns } = again.body as { turns: number };
  expect(again.body).toEqual(await read(next.url, `/api/runs/${run}?at=${turns}`));
  expect(third).toEqual(again);
  expect([other.status, other.body["code"]]).toEqual([422, "idempotency-key-reused"]);
  await next.stop("SIGTERM");
});

test("a start", async () => {
  const { next, again, third } = await afterTheKill(temporaryFolder(), "/api/runs", start(ends));
  expect([again.status, again.replayed, again.body["turns"]]).toEqual([201, "true", 1]);
  expect(third).toEqual(again);
  expect((await read(next.url, "/api/runs"))["items"]).toHaveLength(1);
  await next.stop("SIGTERM");
});

test("a fork", async () => {
  const server = await served();
  const run = await waiting(server);
  const body = { edits: [{ event: "Yes" }] };
  const first = await server.post(`/api/runs/${run}/fork`, body, KEY);
  await server.until(String(first.body["run"]), ({ status }) => status === "completed");
  await server.stop();
  // As after a crash: the server's own notes are gone.
  const next = await served({ folder: server.folder, side: new SideFile(":memory:") });
  const again = await next.post(`/api/runs/${run}/fork`, body, KEY);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  const other = await next.post(`/api/runs/${run}/fork`, { edits: [{ event: "No" }] }, KEY);
  expect(other.body["code"]).toBe("idempotency-key-reused");
});

test("an answer, while somebody else's second answer stays ignored", async () => {
  const tools = { knows: () => true, isSafe: () => false, call: async () => ({ deferred: true as const }) };
  const worlds = changedWorlds((ports) => ({ ...ports, tools }));
  const server = await served(worlds);
  const run = await startedRun(server, start(asks));
  const { waiting_for: waits } = await server.until(run, ({ status }) => status === "waiting");
  const path = `/api/runs/${run}/answers/${waits[0]?.step}`;
  const first = await server.post(path, { result: "dim" }, KEY);
  await server.until(run, ({ state }) => state === "gate");
  await server.stop();
  const next = await served({ ...worlds, folder: server.folder, side: new SideFile(":memory:") });
  const again = await next.post(path, { result: "dim" }, KEY);
  expect(again.body).toEqual(first.body);
  expect((await next.post(path, { result: "dim" })).body).toMatchObject({ ignored: true });
  const others = await next.post(path, { result: "dim" }, { "idempotency-key": "another" });
  expect(others.body).toMatchObject({ ignored: true });
  expect((await next.call("POST", `/api/runs/${run}/replay`)).body).toMatchObject({ same: true });
});

test("a refusal is the same when it is asked for again, also when the run has moved on", async () => {
  const server = await served();
  const run = await waiting(server);
  const wrong = await server.post(`/api/runs/${run}/events`, { name: "Maybe" }, KEY);
  expect([wrong.status, wrong.headers.get("idempotency-replayed")]).toEqual([409, null]);
  await server.post(`/api/runs/${run}/cancel`, {});
  const again = await server.post(`/api/runs/${run}/events`, { name: "Maybe" }, KEY);
  expect([again.status, again.body]).toEqual([409, wrong.body]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
});
