// The same figures by both ways out: pushed by the SDK, and scraped from a server.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { type Served, served } from "../server/served.ts";
import { exportedHere } from "./exported.ts";
import { ends, text } from "./looping-pack.ts";

const collector = exportedHere();

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

async function scraped(server: Served): Promise<readonly Sample[]> {
  const { status, headers, body } = await server.get("/metrics");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return String(body["text"])
    .split("\n")
    .flatMap((line) => {
      const match = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (match === null || line.startsWith("#")) return [];
      const [, name = "", labels = "", value] = match;
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, one]) => [key, one]);
      return [{ name, labels: Object.fromEntries(pairs) as Sample["labels"], value: Number(value) }];
    });
}

const valueOf = (samples: readonly Sample[], name: string, labels: Sample["labels"] = {}): number =>
  samples
    .filter(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);

async function run(server: Served, states: JsonObject, pack = text): Promise<string> {
  const script = { states: { ...ends, ...states } };
  const { body } = await server.post("/api/runs", { pack, variables: { task: "tides" }, script });
  const id = String(body["run"]);
  await server.until(id, ({ status }) => status !== "running");
  return id;
}

describe("a server's metrics", () => {
  test("count visits, redirects, limits, tokens, calls, commits and what is open", async () => {
    const server = await served();
    await run(server, {
      work: [{ event: "Bounded", usage: { input_tokens: 100, output_tokens: 20 } }],
      bounded: [{ event: "Again" }],
    });
    await run(server, { work: [{ calls: [{ tool: "look" }] }] });
    const waits = await run(server, { work: [{ event: "Ask" }] });
    const samples = await scraped(server);
    const looping = { gen_ai_workflow_name: "Looping" };
    expect(valueOf(samples, "packloop_visits_total", { ...looping, promptpack_state: "work" })).toBe(3);
    expect(valueOf(samples, "packloop_redirects_total", { ...looping, promptpack_state: "bounded" })).toBe(1);
    expect(valueOf(samples, "packloop_budget_exhausted_total", { limit: "max_tool_calls" })).toBe(1);
    const tokens = { gen_ai_token_type: "input", gen_ai_request_model: "script" };
    expect(valueOf(samples, "gen_ai_client_token_usage_sum", tokens)).toBe(100);
    expect(valueOf(samples, "packloop_open_asks", { kind: "event" })).toBe(1);
    expect(valueOf(samples, "packloop_open_asks", { kind: "model" })).toBe(0);
    expect(valueOf(samples, "gen_ai_workflow_duration_seconds_count", looping)).toBe(3);
    const failed = { ...looping, error_type: "budget_exhausted" };
    expect(valueOf(samples, "gen_ai_workflow_duration_seconds_count", failed)).toBe(1);
    const calls = valueOf(samples, "gen_ai_client_operation_duration_seconds_count");
    expect(calls).toBe(valueOf(samples, "gen_ai_client_token_usage_count", tokens));
    const turns = (await server.store.list({ limit: 10 })).map(({ turn }) => turn);
    const commits = turns.reduce((sum, turn) => sum + turn, 0);
    expect(valueOf(samples, "packloop_commit_duration_seconds_count")).toBe(commits);
    await server.post(`/api/runs/${waits}/events`, { name: "Yes", by: "alice" });
    await server.until(waits, ({ status }) => status === "completed");
    expect(valueOf(await scraped(server), "packloop_open_asks")).toBe(0);
  });

  test("are the ones that are pushed", async () => {
    const server = await served();
    const pushed = (name: string) =>
      collector()
        .points()
        .filter((point) => point.name === name);
    const visits = () =>
      pushed("packloop.visits")
        .filter(({ attributes }) => attributes["gen_ai.workflow.name"] === "Pushed")
        .reduce((sum, { value }) => sum + value, 0);
    const pack = text.replace("name: Looping", "name: Pushed");
    await run(server, { work: [{ event: "Again" }, { event: "Done" }] }, pack);
    await run(server, { work: [{ event: "Again" }, { event: "Again" }, { event: "Done" }] }, pack);
    await collector().until(() => visits() >= 7);
    expect(visits()).toBe(7);
    expect(valueOf(await scraped(server), "packloop_visits_total")).toBe(7);
    expect(
      new Set(
        collector()
          .points()
          .map(({ name }) => name),
      ),
    ).toEqual(
      new Set([
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
        "gen_ai.workflow.duration",
        "packloop.visits",
        "packloop.redirects",
        "packloop.budget_exhausted",
        "packloop.open_asks",
        "packloop.commit.duration",
      ]),
    );
    const [duration] = pushed("gen_ai.client.operation.duration");
    expect(duration?.bounds).toEqual([
      ...[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
    ]);
    expect(duration?.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "script",
      "gen_ai.request.model": "script",
    });
    const [usage] = pushed("gen_ai.client.token.usage");
    expect([usage?.bounds[0], usage?.bounds.at(-1)]).toEqual([1, 67_108_864]);
  });

  test("count what is open from what this process has made, and nothing that another left", async () => {
    const first = await served();
    const waits = await run(first, { work: [{ event: "Ask" }] });
    expect(valueOf(await scraped(first), "packloop_open_asks", { kind: "event" })).toBe(1);
    await first.stop(0);
    const second = await served({ folder: first.folder });
    await second.post(`/api/runs/${waits}/events`, { name: "No", by: "alice" });
    await second.until(waits, ({ status }) => status === "waiting");
    expect(valueOf(await scraped(second), "packloop_open_asks", { kind: "event" })).toBe(1);
    await second.post(`/api/runs/${waits}/events`, { name: "Yes", by: "alice" });
    await second.until(waits, ({ status }) => status === "completed");
    expect(valueOf(await scraped(second), "packloop_open_asks")).toBe(0);
  });

  test("say how long it took to take up what was left", async () => {
    const first = await served();
    const { body } = await first.post("/api/runs", {
      pack: text,
      variables: { task: "tides" },
      script: { states: { ...ends, work: [{ event: "Done", delay_ms: 1_000 }] } },
    });
    await first.stop(0);
    const second = await served({ folder: first.folder });
    await second.until(String(body["run"]), ({ status }) => status === "completed");
    expect(valueOf(await scraped(second), "packloop_recovery_duration_seconds_count")).toBe(1);
  });
});

describe("/metrics", () => {
  test("is for those who may read runs", async () => {
    const scopes = new Map([
      ["reader", ["runs:read"]],
      ["writer", ["runs:write"]],
    ]);
    const principalOf = (token: string) => {
      const found = scopes.get(token);
      return found === undefined ? undefined : { name: token, scopes: found as never };
    };
    const server = await served({ tokenNeeded: true, principalOf });
    const statusFor = async (token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await server.get("/metrics", headers)).status;
    };
    expect([await statusFor(), await statusFor("writer"), await statusFor("reader")]).toEqual([
      401, 403, 200,
    ]);
  });
});
