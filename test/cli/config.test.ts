// `packloop config`: the settings that a run would have, and which layer each of them comes from.

import { expect, test } from "vitest";
import { packloopAlone } from "./packloop-alone.ts";
import { folderWith } from "./run-cli.ts";

interface Row {
  readonly name: string;
  readonly value: unknown;
  readonly origin?: { readonly layer: string; readonly place: string | null };
}

const file = `model: anthropic/claude-sonnet-5
tools:
  read_file: { builtin: fs, op: read }
  a.b: { builtin: time, op: sleep }
approvals: [read_file]
budgets:
  max_cost_usd: 2
telemetry:
  endpoint: http://127.0.0.1:4318
  headers: { authorization_env: COLLECTOR_KEY }
`;

async function rows(
  cwd: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<string, Row>> {
  const ran = await packloopAlone(["config", "--show-origin", "--json", ...args], { cwd, env });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const { settings } = JSON.parse(ran.stdout) as { settings: readonly Row[] };
  return new Map(settings.map((row) => [row.name, row]));
}

test("without a file every value is a default", async () => {
  using folder = folderWith({});
  const all = await rows(folder.path);
  expect(new Set([...all.values()].map(({ origin }) => origin?.layer))).toEqual(new Set(["default"]));
  expect(all.get("store")?.value).toBe(".packloop/runs.db");
  expect(all.get("model")?.value).toBeNull();
});

test("values of the file are said with their lines", async () => {
  using folder = folderWith({ "packloop.yaml": file });
  const all = await rows(folder.path);
  const place = (name: string) => all.get(name)?.origin;
  expect(all.get("model")?.value).toBe("anthropic/claude-sonnet-5");
  expect(place("model")).toEqual({ layer: "file", place: "packloop.yaml:1:1" });
  expect(place("tools.read_file")).toEqual({ layer: "file", place: "packloop.yaml:3:3" });
  expect(place("tools.a.b")).toEqual({ layer: "file", place: "packloop.yaml:4:3" });
  expect(all.get("approvals")?.value).toEqual(["read_file"]);
  expect(place("budgets.max_cost_usd")).toEqual({ layer: "file", place: "packloop.yaml:7:3" });
  expect(place("telemetry.endpoint")).toEqual({ layer: "file", place: "packloop.yaml:9:3" });
  expect(all.get("telemetry.headers")?.value).toEqual({ authorization_env: "COLLECTOR_KEY" });
  expect(place("secrets")).toEqual({ layer: "default", place: null });
});

test("a flag wins over the environment, and the environment over the file", async () => {
  using folder = folderWith({ "packloop.yaml": file });
  const env = {
    PACKLOOP_MODEL: "openai/gpt-5.1",
    PACKLOOP_STORE: "env.db",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9999",
  };
  const byEnv = await rows(folder.path, [], env);
  expect(byEnv.get("model")).toMatchObject({
    value: "openai/gpt-5.1",
    origin: { layer: "environment", place: "PACKLOOP_MODEL" },
  });
  expect(byEnv.get("store")).toMatchObject({ value: "env.db", origin: { place: "PACKLOOP_STORE" } });
  expect(byEnv.get("telemetry.endpoint")).toMatchObject({
    value: "http://127.0.0.1:9999",
    origin: { layer: "environment", place: "OTEL_EXPORTER_OTLP_ENDPOINT" },
  });
  const byFlag = await rows(folder.path, ["--model", "ollama/qwen3", "--store", "flag.db"], env);
  expect(byFlag.get("model")).toMatchObject({ value: "ollama/qwen3", origin: { layer: "flag" } });
  expect(byFlag.get("store")?.origin).toEqual({ layer: "flag", place: "--store" });
});

test("a pack's own file is found beside it, and another one with --config", async () => {
  using folder = folderWith({ "other.yaml": "model: ollama/qwen3\n" });
  using elsewhere = folderWith({ "p.pack.yaml": "id: p\n", "packloop.yaml": file });
  const own = await rows(folder.path, [`${elsewhere.path}/p.pack.yaml`]);
  expect(own.get("model")?.value).toBe("anthropic/claude-sonnet-5");
  expect((await rows(folder.path, [elsewhere.path])).get("model")?.origin).toEqual(own.get("model")?.origin);
  const given = await rows(folder.path, [elsewhere.path, "--config", "other.yaml"]);
  expect(given.get("model")?.origin).toEqual({ layer: "file", place: "other.yaml:1:1" });
});

test("the text has one line a setting, with the origin in front only when asked for", async () => {
  using folder = folderWith({ "packloop.yaml": "model: ollama/qwen3\n" });
  const plain = await packloopAlone(["config"], { cwd: folder.path });
  expect(plain.stdout).toContain('\nmodel = "ollama/qwen3"\n');
  const shown = await packloopAlone(["config", "--show-origin"], { cwd: folder.path });
  expect(shown.stdout).toMatch(/^file packloop\.yaml:1:1 {2}model = "ollama\/qwen3"$/m);
  expect(shown.stdout).toMatch(/^default {17}workspace = null$/m);
});

test("no secret is shown, wherever somebody wrote it", async () => {
  using folder = folderWith({
    "packloop.yaml": [
      "model: { provider: openai-compatible, base_url: http://h/v1, model: m, headers_env: { x-api-key: KEYVAR } }",
      "secrets: [DEPLOY_TOKEN]",
      "tools:",
      "  a: { mcp: { url: 'https://h.example/mcp?k=canary-query' } }",
      "  b: { exec: [x], password: canary-password, note: canary-of-deploy }",
      "  c: { http: { url: 'https://u:canary-access@h.example/x' } }",
    ].join("\n"),
  });
  const ran = await packloopAlone(["config", "--show-origin", "--json"], {
    cwd: folder.path,
    env: {
      DEPLOY_TOKEN: "canary-of-deploy",
      PACKLOOP_TOKEN: "canary-of-server",
      PACKLOOP_STORE: "postgres://me:canary-store@db.example/runs?schema=mine&password=canary-again",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=canary-header",
    },
  });
  expect(ran.code).toBe(0);
  expect(ran.stdout + ran.stderr).not.toContain("canary");
  const { settings } = JSON.parse(ran.stdout) as { settings: readonly Row[] };
  const valueOf = (name: string) => settings.find((row) => row.name === name)?.value;
  expect(valueOf("store")).toBe("postgres://db.example/runs");
  // Names of variables are no secrets.
  expect(valueOf("secrets")).toEqual(["DEPLOY_TOKEN"]);
  expect(valueOf("model")).toMatchObject({ headers_env: { "x-api-key": "KEYVAR" } });
  expect(valueOf("token")).toBe("[not shown]");
});

test("mistakes of the file are said with their places, and exit 2", async () => {
  using folder = folderWith({ "packloop.yaml": "budgets: { max_cost_usd: -1 }\nworkspace: 3\n" });
  const ran = await packloopAlone(["config"], { cwd: folder.path });
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toContain("packloop.yaml:1:12: `max_cost_usd` is a number");
  expect(ran.stderr).toContain("packloop.yaml:2:1: `workspace` is a text");
  expect((await packloopAlone(["config", "nowhere"], { cwd: folder.path })).code).toBe(2);
});

test("a section that nothing reads is named", async () => {
  using folder = folderWith({ "packloop.yaml": "retention: { keep: 30d }\n" });
  const ran = await packloopAlone(["config", "--json"], { cwd: folder.path });
  expect(ran.stderr).toContain("`retention` in `packloop.yaml` is accepted, and nothing reads it");
  expect(ran.stdout).not.toContain("origin");
});
