// Gated calls, calls in doubt and calls that somebody outside answers.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { Fault } from "../../src/engine/ports.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { changedWorlds } from "./changed-worlds.ts";
import { asks, start } from "./sample-pack.ts";
import { type Served, served, temporaryFolder } from "./served.ts";
import { startedRun } from "./started-run.ts";

/** Calls of `look` wait for approval. */
async function gated(): Promise<{ server: Served; run: string; step: number; sha256: string }> {
  const server = await served({ settings: { ...noSettings("."), approvals: ["look"] } });
  const run = await startedRun(server, start(asks));
  const summary = await server.until(run, ({ status }) => status === "waiting");
  const [wait] = summary.waiting_for;
  return { server, run, step: wait?.step ?? 0, sha256: wait?.sha256 ?? "" };
}

const toolSteps = async (server: Served, run: string): Promise<readonly JsonObject[]> => {
  const { body } = await server.get(`/api/runs/${run}/steps`);
  return (body["items"] as JsonObject[]).filter(({ kind }) => kind === "tool");
};

describe("a gated call", () => {
  test("runs exactly as approved, and a second approval is fine", async () => {
    const { server, run, step, sha256 } = await gated();
    const decide = () =>
      server.post(`/api/runs/${run}/approvals/${step}`, { decision: "approve", sha256, by: "al" });
    expect((await decide()).status).toBe(200);
    await server.until(run, ({ state }) => state === "gate");
    expect((await decide()).body).toMatchObject({
      ignored: true,
      ignored_because: "the step is decided already",
    });
    expect(await toolSteps(server, run)).toHaveLength(1);
    const { body } = await server.get(`/api/runs/${run}/steps/${step}`);
    expect(body["answer"]).toMatchObject({ by: "al", outcome: { value: "approved" } });
  });

  test("is not run when what was read is not what waits", async () => {
    const { server, run, step } = await gated();
    const body = { decision: "approve", sha256: "0".repeat(64) };
    const answer = await server.post(`/api/runs/${run}/approvals/${step}`, body);
    expect([answer.status, answer.body["code"]]).toEqual([409, "hash-mismatch"]);
    expect(await toolSteps(server, run)).toEqual([]);
  });

  test("that is edited asks again with the new arguments and their hash", async () => {
    const { server, run, step, sha256 } = await gated();
    const path = `/api/runs/${run}/approvals/${step}`;
    const bad = await server.post(path, { decision: "edit", sha256, value: { where: 3 } });
    expect([bad.status, bad.body["code"]]).toEqual([422, "bad-arguments"]);
    expect((await server.post(path, { decision: "edit", sha256 })).status).toBe(400);
    const edited = await server.post(path, { decision: "edit", sha256, value: { where: "there" } });
    const { waiting_for: waits } = edited.body as unknown as Summary;
    expect(waits).toMatchObject([{ kind: "approval", args: { where: "there" } }]);
    expect(waits[0]?.sha256).not.toBe(sha256);
  });

  test("that is rejected is not run, and the model hears why", async () => {
    const { server, run, step } = await gated();
    const body = { decision: "reject", reason: "too dark", by: "bob" };
    expect((await server.post(`/api/runs/${run}/approvals/${step}`, body)).status).toBe(200);
    await server.until(run, ({ state }) => state === "gate");
    expect(await toolSteps(server, run)).toEqual([]);
  });

  test("that is responded to is not run either, and the model hears the response", async () => {
    const { server, run, step } = await gated();
    const path = `/api/runs/${run}/approvals/${step}`;
    expect((await server.post(path, { decision: "respond" })).status).toBe(400);
    expect((await server.post(path, { decision: "respond", value: "it is dark" })).status).toBe(200);
    await server.until(run, ({ state }) => state === "gate");
    expect(await toolSteps(server, run)).toEqual([]);
    const { body } = await server.get(`/api/runs/${run}/steps/${step}`);
    expect(body["answer"]).toMatchObject({ outcome: { ok: false, message: "it is dark" } });
  });

  test("takes no answer, and a step that was never asked is refused", async () => {
    const { server, run, step } = await gated();
    const answer = await server.post(`/api/runs/${run}/answers/${step}`, { result: 1 });
    expect([answer.status, answer.body["code"]]).toEqual([409, "pending-tool-mismatch"]);
    const never = await server.post(`/api/runs/${run}/answers/99`, { result: 1 });
    expect([never.status, never.body["code"]]).toEqual([404, "unknown-step"]);
    expect((await server.post(`/api/runs/${run}/answers/0`, { result: 1 })).status).toBe(400);
  });
});

describe("what is known of a gated call", () => {
  const items = async (server: Served, query = "") =>
    (await server.get(`/api/inbox${query}`)).body["items"] as readonly JsonObject[];

  test("is what the pack and the settings say of its tool", async () => {
    const look = { exec: ["true"], tier: "destructive", rollback: "switch it off" };
    const server = await served({ settings: { ...noSettings("."), tools: { look } } });
    const { tools: _tools, ...unscripted } = asks;
    const run = await startedRun(server, start(unscripted));
    const { turns } = await server.until(run, ({ status }) => status === "waiting");
    const risk = { tier: "destructive", idempotent: false, reversibility: null, rollback: "switch it off" };
    expect(await items(server)).toMatchObject([{ run, turn: turns, requested_by: "api", risk }]);
    expect(await items(server, `?run=${run}`)).toHaveLength(1);
    const none = await server.get("/api/inbox?run=r_none");
    expect([none.status, none.body["code"]]).toEqual([404, "unknown-run"]);
  });

  test("is left out where the lock file of its folder is bad, which stays as it is", async () => {
    const folder = temporaryFolder();
    const look = { exec: ["true"], tier: "destructive" };
    const server = await served({ folder, settings: { ...noSettings(folder), tools: { look } } });
    const { tools: _tools, ...unscripted } = asks;
    const run = await startedRun(server, start(unscripted));
    await server.until(run, ({ status }) => status === "waiting");
    expect(await items(server)).toMatchObject([{ run, risk: { tier: "destructive" } }]);
    await server.stop();
    const lock = join(folder, "packloop.lock.json");
    for (const bad of ["{", '{"mcp":{"x":null}}', '{"mcp":{"x":{"y":1}}}']) {
      writeFileSync(lock, bad);
      const again = await served({ folder });
      const [item] = await items(again);
      expect(item).toMatchObject({ run, kind: "approval" });
      expect(Object.hasOwn(item ?? {}, "risk")).toBe(bad.includes("y"));
      await again.stop();
      expect(readFileSync(lock, "utf8")).toBe(bad);
    }
  });

  test("is harmless where a script stands in for the tool, and unknown where nobody says", async () => {
    const { server } = await gated();
    expect(await items(server)).toMatchObject([{ risk: { tier: null, idempotent: true, rollback: null } }]);
  });

  test("holds the first arguments once somebody has changed them, however often", async () => {
    const { server, run, step } = await gated();
    expect((await items(server))[0]).not.toHaveProperty("first_args");
    for (const [more, where] of ["there", "anywhere"].entries()) {
      const path = `/api/runs/${run}/approvals/${step + more}`;
      const edit = { decision: "edit", value: { where }, reason: "too far" };
      expect((await server.post(path, edit)).status).toBe(200);
    }
    expect(await items(server)).toMatchObject([
      { args: { where: "anywhere" }, first_args: { where: "here" } },
    ]);
    const { body } = await server.get(`/api/runs/${run}/turns`);
    expect(JSON.stringify(body).match(/"comment":"too far"/g)).toHaveLength(2);
    expect((await server.post(`/api/runs/${run}/replay`)).body["same"]).toBe(true);
  });
});

/** A server whose tool does this with every call. */
async function withTool(
  call: RunPorts["tools"]["call"],
): Promise<{ server: Served; run: string; step: number }> {
  const tools = { knows: () => true, isSafe: () => false, call };
  const server = await served(changedWorlds((ports) => ({ ...ports, tools })));
  const run = await startedRun(server, start(asks));
  const summary = await server.until(run, ({ status }) => status === "waiting");
  return { server, run, step: summary.waiting_for[0]?.step ?? 0 };
}

describe("a call whose end is unknown", () => {
  const lost = () => Promise.reject(new Fault("cut", "the line was cut", { retry: "unknown" }));

  test("waits in doubt, and goes on with the result that is supplied", async () => {
    const { server, run, step } = await withTool(lost);
    expect((await server.get("/api/inbox")).body["items"]).toMatchObject([
      { run, kind: "in_doubt", tool: "look" },
    ]);
    const answer = await server.post(`/api/runs/${run}/answers/${step}`, { result: null, by: "al" });
    expect(answer.status).toBe(200);
    const summary = await server.until(run, ({ state }) => state === "gate");
    expect(summary.used.tool_calls).toBe(1);
    const late = await server.post(`/api/runs/${run}/answers/${step}`, { result: 2 });
    expect([late.status, late.body["ignored"]]).toEqual([200, true]);
    expect(late.body["ignored_because"]).toBe("the step is answered already");
  });

  test("is made again on request", async () => {
    let calls = 0;
    const { server, run, step } = await withTool(async () => {
      calls++;
      if (calls === 1) return lost();
      return { ok: true, value: "bright" };
    });
    expect((await server.post(`/api/runs/${run}/answers/${step}`, { retry: true })).status).toBe(200);
    await server.until(run, ({ state }) => state === "gate");
    expect(calls).toBe(2);
  });

  test("ends the run when it is given up", async () => {
    const { server, run, step } = await withTool(lost);
    const { body } = await server.post(`/api/runs/${run}/answers/${step}`, { abort: true, by: "al" });
    expect(body).toMatchObject({ status: "failed", reason: { code: "aborted" } });
  });

  test("an answer is one of four things", async () => {
    const { server, run, step } = await withTool(lost);
    for (const body of [{}, { result: 1, error: "x" }, { retry: true, abort: true }, { retry: false }])
      expect((await server.post(`/api/runs/${run}/answers/${step}`, body)).status).toBe(400);
    const failed = await server.post(`/api/runs/${run}/answers/${step}`, { error: "it broke" });
    expect(failed.status).toBe(200);
  });
});

test("a call that was promised is answered from outside", async () => {
  const { server, run, step } = await withTool(async () => ({ deferred: true }));
  expect((await server.get("/api/inbox")).body["items"]).toMatchObject([{ run, kind: "answer" }]);
  await server.post(`/api/runs/${run}/answers/${step}`, { result: { light: "dim" } });
  await server.until(run, ({ state }) => state === "gate");
  const { body } = await server.get(`/api/runs/${run}/steps/${step}`);
  expect(body["answer"]).toMatchObject({ outcome: { ok: true, value: { light: "dim" } } });
});
