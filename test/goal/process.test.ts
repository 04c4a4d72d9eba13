// The plugin as the process it is: one document, its exit codes, the recorded requests of a real gateway, the
// files that are shipped.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { readManifest } from "../../src/process/plugin-manifest.ts";
import {
  LoopHost,
  onlyEvent,
  pluginArguments,
  problemsOf,
  type Response,
  root,
  runPlugin,
} from "./loop-host.ts";
import { providerWire } from "./provider-wire.ts";
import { actTurn, doneTurn, firstTurn, worked } from "./scripted-turns.ts";

function perform(host: LoopHost, command: string, job: Parameters<LoopHost["request"]>[1]): Response {
  host.now = Date.now();
  const { code, stdout, stderr } = runPlugin(`${JSON.stringify(host.request(command, job))}\n`, host.folder);
  expect(code, stderr).toBe(0);
  return host.take(JSON.parse(stdout) as Response);
}

const eventOf = (type: string, payload: JsonObject, context?: Json) => ({
  event: { type, payload },
  ...(context !== undefined && { context: { agentic: context } }),
});

test("S3: the worked example as three processes, with exit code 0 and one completion", () => {
  const host = new LoopHost(worked);
  const start = eventOf("agentic.start", { goal: "fetch and criticise" });
  const first = onlyEvent(perform(host, "handle", start));
  const runId = String(first.payload["run_id"]);
  const second = onlyEvent(
    perform(host, "handle", eventOf("content_ready", { content: "PAGE" }, first.payload["agentic"])),
  );
  expect(second.payload).toMatchObject({ run_id: runId, step: 2, text: "PAGE" });
  const end = onlyEvent(
    perform(host, "handle", eventOf("fabric.completed", { result: "C" }, second.payload["agentic"])),
  );
  expect(end.type).toBe("agent.completed");
  for (const path of end.payload["artifacts"] as readonly string[])
    expect(existsSync(join(host.workspaceDir ?? "", path))).toBe(true);
  const again = perform(
    host,
    "handle",
    eventOf("fabric.completed", { result: "C" }, second.payload["agentic"]),
  );
  expect(again.events).toBeUndefined();
  expect(perform(host, "health", {})).toMatchObject({ status: "ok" });
});

test("a turn of a real provider's model, by the process", async () => {
  const wire = await providerWire([firstTurn()]);
  const model = { provider: "openai-compatible", name: "m", base_url: wire.url };
  const host = new LoopHost([], { model, script: null });
  host.now = Date.now();
  const turn = async (job: Parameters<LoopHost["request"]>[1]) => {
    const child = spawn(process.execPath, [...pluginArguments()], { cwd: host.folder });
    child.stdin.end(`${JSON.stringify(host.request("handle", job))}\n`);
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(err).toBe("");
    return host.take(JSON.parse(out) as Response);
  };
  try {
    const first = onlyEvent(await turn(eventOf("agentic.start", { goal: "g", run_id: "R1" })));
    expect(first.type).toBe("agentic.tool_request.jina-reader");
    expect(wire.bodies).toHaveLength(1);
    const away = await turn(eventOf("agentic.start", { goal: "g", run_id: "R2" }));
    expect(away).toMatchObject({ status: "ok", result: "run R2 waits for the model" });
  } finally {
    wire.close();
  }
});

test("W3: relative folders are meant from where the host was started", () => {
  const host = new LoopHost(worked);
  host.config["script"] = "script.json";
  host.workspaceDir = "workspaces/abc";
  const event = onlyEvent(perform(host, "handle", eventOf("agentic.start", { goal: "g", run_id: "R1" })));
  expect(event.payload["agentic"]).toMatchObject({ workspace_ref: "job:abc" });
  expect(readdirSync(join(host.folder, "workspaces/abc")).sort()).toEqual([
    "context.md",
    "memory.md",
    "plan.md",
    "trace.jsonl",
  ]);
});

test.each([
  "",
  "not json",
  "[]",
  '{"protocol":3,"command":"poll"}',
  '{"protocol":"2","command":"poll"}',
  '{"protocol":2}',
])("P4: %j is answered with exit code 78 and nothing else", (text) => {
  const { code, stdout } = runPlugin(text, tmpdir());
  expect({ code, stdout }).toEqual({ code: 78, stdout: "" });
});

test("I4, P3: odd requests get a valid document and exit code 0", () => {
  const odd: JsonObject[] = [
    { protocol: 2, command: "handle" },
    { protocol: 2, command: "handle", config: null, state: null, event: null, unknown: 1 },
    { protocol: 2, command: "dance", job_id: "j" },
    {
      protocol: 2,
      command: "handle",
      state: { runs: { R1: 7, R2: {} } },
      event: { type: "x", payload: { run_id: "R2", step: 1, tool: "t" } },
    },
    { protocol: 2, command: "handle", event: { type: 7, payload: [1] }, context: [] },
    {
      protocol: 2,
      command: "poll",
      config: { allowed_plugins: ["a"] },
      state: {
        runs: { R: { status: "running", pending_step: 1, pending_tool: "a", pending_deadline: "never" } },
      },
      deadline_at: "soon",
    },
    {
      protocol: 2,
      command: "health",
      config: { allowed_plugins: ["a"], tools: { a: { input_schema: { $ref: "#/nowhere" } } } },
    },
  ];
  for (const request of odd) {
    const { code, stdout, stderr } = runPlugin(JSON.stringify(request), tmpdir());
    expect(code, stderr).toBe(0);
    expect(problemsOf(JSON.parse(stdout) as JsonObject)).toEqual([]);
  }
});

const fixtures = join(root, "../shared/gateway/fixtures/feb17/loop");

describe.skipIf(!existsSync(fixtures))(
  "FX-1: requests recorded from a real gateway (shared material beside the repository)",
  () => {
    interface Pair {
      readonly pair: string;
      readonly plugin: string;
      readonly branch: string;
    }
    const index = JSON.parse(
      existsSync(fixtures) ? readFileSync(join(fixtures, "index.json"), "utf8") : "[]",
    ) as readonly Pair[];

    test.each(
      index.filter(({ plugin }) => plugin === "agentic-loop").map(({ pair, branch }) => [pair, branch]),
    )("%s takes the branch %s", (pair, branch) => {
      const folder = mkdtempSync(join(tmpdir(), "packloop-fx-"));
      const turns = [firstTurn(), actTurn("fabric"), doneTurn(["step:1"])];
      writeFileSync(join(folder, "script.json"), JSON.stringify({ turns }));
      const request = JSON.parse(readFileSync(join(fixtures, `${pair}.request.json`), "utf8")) as Record<
        string,
        JsonObject
      >;
      const job = String(request["job_id"]);
      mkdirSync(join(folder, "workspaces", job), { recursive: true });
      const config = { ...request["config"], model: { provider: "scripted", script: "script.json" } };
      const { code, stdout, stderr } = runPlugin(JSON.stringify({ ...request, config }), folder);
      expect(code, stderr).toBe(0);
      const response = JSON.parse(stdout) as Response;
      expect(problemsOf(response as unknown as JsonObject)).toEqual([]);
      const types = (response.events ?? []).map(({ type }) =>
        type.replace(/^agentic\.tool_request\..*/, "request"),
      );
      const run = String(((request["event"]?.["payload"] ?? {}) as JsonObject)["run_id"] ?? "");
      const after = ((response.state_updates?.["runs"] ?? {}) as Record<string, JsonObject>)[run];
      const expected = {
        start: { types: ["request"], step: 1 },
        resume: { types: [after?.["status"] === "done" ? "agent.completed" : "request"], step: 2 },
        stale: { types: [], step: undefined },
        poll: { types: [], step: undefined },
      }[branch];
      expect({ types, step: after?.["step"] }).toEqual(expected);
    });
  },
);

describe("what is shipped", () => {
  const manifest = parse(
    readFileSync(join(root, "plugins/agentic-loop/manifest.yaml"), "utf8"),
  ) as JsonObject;

  test("P8: the manifest keeps the rules of both generations", () => {
    expect(manifest).toMatchObject({
      ...{ manifest_spec: "ductile.plugin", manifest_version: 1, name: "agentic-loop", protocol: 2 },
      ...{ entrypoint: "agentic-loop.mjs", concurrency_safe: false },
    });
    expect(typeof manifest["version"]).toBe("string");
    expect(manifest).not.toHaveProperty("fact_outputs");
    const commands = manifest["commands"] as readonly JsonObject[];
    expect(commands.map(({ name, type }) => `${String(name)} ${String(type)}`)).toEqual([
      "handle write",
      "poll write",
      "health read",
    ]);
    const read = readManifest(manifest);
    expect(typeof read === "string" ? read : read.warnings).toEqual([]);
  });

  const built = join(root, "plugins/agentic-loop/agentic-loop.mjs");

  test.skipIf(!existsSync(built))(
    "the entrypoint is one executable file that needs nothing beside it (when it is built)",
    () => {
      expect(readdirSync(join(root, "plugins/agentic-loop")).sort()).toEqual([
        "agentic-loop.mjs",
        "manifest.yaml",
      ]);
      expect(statSync(built).mode & 0o111).not.toBe(0);
      const text = readFileSync(built, "utf8");
      expect(text.startsWith("#!/usr/bin/env node\n")).toBe(true);
      expect(text.match(/^import .* from "(?!node:)[^"]*"/gm) ?? []).toEqual([]);
    },
  );
});
