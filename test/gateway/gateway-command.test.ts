// `packloop gateway` as people use it: the worked example end to end, looking at what happened, and its exits.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { emits, gatewayFolder, temporaryFolder } from "./gateway-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "bin", "packloop");

function started(cwd: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [bin, "gateway", ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1" },
  });
  let stdout = "";
  let stderr = "";
  const heard = Promise.withResolvers<string | undefined>();
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
    const url = /at (http:\S+)\n/.exec(stdout)?.[1];
    if (url !== undefined) heard.resolve(url);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const ended = once(child, "close").then(([exit, signal]) => {
    heard.resolve(undefined);
    return { code: (exit as number | null) ?? String(signal), stdout, stderr };
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended, url: heard.promise };
}

const gateway = (cwd: string, ...args: readonly string[]) => started(cwd, ...args).ended;

/** The example as it is shipped, with a port of its own. */
function exampleFolder(): string {
  const folder = join(temporaryFolder(), "examples", "gateway");
  cpSync(join(root, "examples", "gateway"), folder, {
    recursive: true,
    filter: (path) => !path.includes(".packloop"),
  });
  cpSync(join(root, "plugins"), join(folder, "..", "..", "plugins"), { recursive: true });
  const config = join(folder, "config.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("127.0.0.1:8080", "127.0.0.1:0"));
  return folder;
}

const post = async (url: string, payload: JsonObject): Promise<JsonObject> => {
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ payload }) });
  return (await response.json()) as JsonObject;
};

describe("the worked example", () => {
  test("reads a page and writes a critique: five jobs, one at a time, one completion (S1, S3, S6)", async () => {
    const folder = exampleFolder();
    const { child, ended, url } = started(folder);
    const address = await url;
    if (address === undefined) throw new Error((await ended).stderr);
    const report = await post(`${address}/pipeline/agentic-start`, {
      goal: "read http://example.test/a and write a critique in two paragraphs",
    });
    expect(report).toMatchObject({ status: "succeeded", outcome: { type: "agent.completed" } });
    const tree = report["tree"] as JsonObject[];
    expect(tree.map(({ plugin }) => plugin)).toEqual([
      "agentic-loop",
      "page-reader",
      "agentic-loop",
      "text-writer",
      "agentic-loop",
    ]);
    const events = tree.flatMap(({ result }) => ((result as JsonObject)["events"] ?? []) as JsonObject[]);
    expect(events.filter(({ type }) => type === "agent.completed")).toHaveLength(1);
    const workspace = join(folder, ".packloop", "workspaces", String(report["job_id"]));
    expect(
      ["context.md", "memory.md", "plan.md", "trace.jsonl"].filter(
        (name) => !existsSync(join(workspace, name)),
      ),
    ).toEqual([]);
    const critique = readFileSync(join(workspace, "artifacts", "critique.md"), "utf8");
    expect(critique.trim().split("\n\n")).toHaveLength(2);
    const { artifacts } = (report["outcome"] as { payload: { artifacts: string[] } }).payload;
    expect(artifacts.length).toBeGreaterThan(0);
    for (const path of artifacts) expect(statSync(join(workspace, path)).isFile()).toBe(true);

    const direct = await post(`${address}/pipeline/critique`, { url: "http://example.test/a" });
    expect(direct).toMatchObject({
      status: "succeeded",
      result: { events: [{ type: "text.completed" }] },
      outcome: null,
    });
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);

    const jobs = JSON.parse(
      (await gateway(folder, "jobs", "--json", "--plugin", "page-reader")).stdout,
    ) as JsonObject[];
    expect(jobs).toMatchObject([
      { status: "succeeded", exit_code: 0 },
      { status: "succeeded", exit_code: 0 },
    ]);
    const shown = JSON.parse(
      (await gateway(folder, "job", String(report["job_id"]), "--json")).stdout,
    ) as JsonObject;
    expect(shown).toMatchObject({
      status: "succeeded",
      attempts: [{ attempt: 1 }],
      descendants: [{}, {}, {}, {}],
    });
    const told = (await gateway(folder, "events", "--json", "--limit", "500")).stdout.trim().split("\n");
    const names = told.map((line) => (JSON.parse(line) as JsonObject)["name"]);
    expect(names.filter((name) => name === "job.completed").length).toBeGreaterThanOrEqual(7);
  });
});

describe("the command", () => {
  const parts = {
    plugins: { it: emits() },
    pipelines: [
      {
        name: "p",
        on: "go",
        steps: [
          { id: "b", uses: "it" },
          { id: "a", uses: "it" },
        ],
      },
    ],
  };

  test("check prints pipelines as they are run, always in the same order", async () => {
    const folder = gatewayFolder(parts);
    const { stdout, code: exit } = await gateway(folder, "check");
    expect({ stdout, exit }).toEqual({
      stdout: "p on go\n  a uses it (terminal)\n  b uses it -> a (entry)\n",
      exit: 0,
    });
    expect(JSON.parse((await gateway(folder, "check", "--config", "config.yaml", "--json")).stdout)).toEqual({
      pipelines: [
        {
          ...{ name: "p", on: "go", execution_mode: "async", entries: ["b"], terminals: ["a"] },
          nodes: [
            { id: "a", uses: "it" },
            { id: "b", uses: "it" },
          ],
          edges: [{ from: "b", to: "a" }],
        },
      ],
    });
  });

  test("tells every error of a configuration and leaves with 2", async () => {
    const folder = gatewayFolder({ ...parts, config: { routes: [{}], service: { tick_interval: "x" } } });
    const { code: exit, stderr } = await gateway(folder);
    expect(exit).toBe(2);
    expect(stderr.match(/^error: /gm)).toHaveLength(2);
  });

  test("of a configuration that is not there it says that, and nothing that follows from it", async () => {
    const folder = exampleFolder();
    const { code: exit, stderr } = await gateway(folder, "--config", "none.yaml");
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^error: `[^`]*none\.yaml` is not there\n$/);
  });

  test("pipelines prints what an agent needs, ready to be read", async () => {
    const folder = exampleFolder();
    const { stdout } = await gateway(folder, "pipelines", "--for", "agentic-loop");
    rmSync(join(folder, "pipelines.yaml"));
    writeFileSync(join(folder, "pipelines.yaml"), stdout);
    expect((await gateway(folder, "check")).stdout).toContain(
      "agentic-tool-page-reader on agentic.tool_request.page-reader\n",
    );
    expect(stdout).toContain("input_schema");
  });

  test("install writes a manifest and a program that a gateway trusts, and nothing else", async () => {
    const folder = gatewayFolder({});
    const { stdout, code: exit } = await gateway(folder, "install", "text-writer", "plugins");
    expect({ stdout, exit }).toEqual({
      stdout: "plugins/text-writer/text-writer.mjs\nplugins/text-writer/manifest.yaml\n",
      exit: 0,
    });
    expect(statSync(join(folder, "plugins/text-writer/text-writer.mjs")).mode & 0o777).toBe(0o755);
    writeFileSync(
      join(folder, "pipelines.yaml"),
      "pipelines: [{ name: p, on: go, steps: [{ uses: text-writer }] }]",
    );
    expect((await gateway(folder, "check")).code).toBe(0);
    expect((await gateway(folder, "install", "none", "plugins")).code).toBe(2);
    expect((await gateway(folder, "install", "../src", "plugins")).code).toBe(2);
    const nowhere = await gateway(folder, "install", "text-writer", "config.yaml");
    expect({ exit: nowhere.code, stderr: nowhere.stderr }).toEqual({
      exit: 2,
      stderr:
        "error: `text-writer` cannot be installed: the folder `config.yaml` cannot be written (ENOTDIR)\n",
    });
  });

  test("looking where nothing is leaves with 5, and a second gateway with 6", async () => {
    const folder = gatewayFolder({ ...parts, config: { api: { enabled: true, listen: "127.0.0.1:0" } } });
    expect((await gateway(folder, "jobs")).code).toBe(5);
    const first = started(folder);
    await first.url;
    expect((await gateway(folder)).code).toBe(6);
    expect((await gateway(folder, "jobs")).stdout).toBe("no jobs\n");
    expect((await gateway(folder, "job", "none")).code).toBe(5);
    first.child.kill("SIGINT");
    expect((await first.ended).code).toBe(0);
  });
});
