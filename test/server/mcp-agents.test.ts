// Agents of registered packs as tools: each with its own name, words and variables.

import { describe, expect, test } from "vitest";
import { readScript } from "../../src/adapter/script/read-script.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { RunWorlds } from "../../src/host/run-worlds.ts";
import { call, httpClient } from "./mcp-client.ts";
import { callTool, rpc } from "./mcp-rpc.ts";
import { type Served, served, temporaryFolder } from "./served.ts";

const pack = `id: desk
name: Desk
version: 1.2.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  triage:
    id: triage
    name: Triage
    version: 2.0.0
    description: Sorts what comes in.
    system_template: "Sort for {{team}}, {{depth}} deep."
    variables:
      - { name: team, type: string, required: true, description: Who works, validation: { max_length: 9 } }
      - { name: depth, type: number, required: false, default: 2 }
  analyst: { id: analyst, name: Analyst, version: 1.0.0, description: Looks closely., system_template: Look. }
workflow:
  version: 2
  entry: sort
  states:
    sort: { prompt_task: triage, on_event: { Sorted: done } }
    done: { prompt_task: analyst, terminal: true }
agents:
  entry: analyst
  members:
    triage: { state: sort, description: Sorts by hand. }
    analyst: { description: "" }
`;

const script = {
  states: { sort: [{ event: "Sorted" }], done: [{ text: "Sorted out." }] },
  prompts: { analyst: [{ text: "Looked at." }] },
};

/** Everybody's runs are scripted. */
async function desk(): Promise<Served> {
  const folder = temporaryFolder();
  const worlds = new RunWorlds({
    clock: systemClock(),
    env: () => undefined,
    storePath: folder,
    warn: () => undefined,
    script: readScript(script).script,
  });
  // A model has to be bound, and the script answers in its place.
  const settings = { ...noSettings(folder), model: "ollama/none" };
  const server = await served({ folder, worlds, settings });
  const { status } = await server.post("/api/packs", { source: pack, file: "desk.pack.yaml" });
  expect(status).toBe(201);
  return server;
}

const agentsAt = async (url: string): Promise<readonly JsonObject[]> => {
  const { result } = await rpc(url, "tools/list", {});
  return (result["tools"] as JsonObject[]).filter(({ name }) => String(name).startsWith("agent_"));
};

test("every agent of a registered pack is a tool with its words and its variables", async () => {
  const { url } = await desk();
  const [analyst, triage, ...rest] = await agentsAt(url);
  expect(rest).toEqual([]);
  expect(analyst).toMatchObject({
    name: "agent_desk_analyst",
    title: "Analyst",
    description: expect.stringContaining("Looks closely."),
    inputSchema: { required: ["query"], additionalProperties: false },
  });
  expect(triage).toMatchObject({
    name: "agent_desk_triage",
    description: expect.stringContaining("Sorts by hand."),
    inputSchema: {
      required: ["variables"],
      properties: {
        query: { type: "string" },
        variables: {
          required: ["team"],
          properties: {
            team: { type: "string", description: "Who works", maxLength: 9 },
            depth: { type: "number", default: 2 },
          },
        },
      },
    },
    _meta: { "packloop/pack": { id: "desk", version: "1.2.0" } },
  });
});

describe("calling", () => {
  test("an agent that is a state runs the loop, and one that is a prompt runs once", async () => {
    const { url } = await desk();
    const client = await httpClient(url);
    const loop = await call(client, "agent_desk_triage", { query: "all", variables: { team: "a" } });
    expect(loop.text).toBe("Sorted out.");
    expect(loop.summary).toMatchObject({ status: "completed", visits: { sort: 1, done: 1 } });
    const once = await call(client, "agent_desk_analyst", { query: "this" });
    expect(once.text).toBe("Looked at.");
    expect(once.summary.visits).toEqual({});
    const again = await call(client, "agent_desk_analyst", { query: "this" });
    expect(again.summary.run).not.toBe(once.summary.run);
  });

  test("it with variables that are missing or wrong says all that is wrong", async () => {
    const { url } = await desk();
    const client = await httpClient(url);
    const answer = await call(client, "agent_desk_triage", { query: "x", variables: { depth: "deep" } });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("team");
    expect(answer.text).toContain("depth");
    const { error } = await callTool(url, "agent_desk_triage", { words: "x" });
    expect(error).toMatchObject({ code: -32602 });
  });

  test("it twice with one key is calling it once", async () => {
    const { url } = await desk();
    const meta = { "packloop/key": "r_9/2" };
    const args = { query: "this" };
    const first = await callTool(url, "agent_desk_analyst", args, { meta });
    const again = await callTool(url, "agent_desk_analyst", args, { meta });
    expect(again.result["structuredContent"]).toEqual(first.result["structuredContent"]);
    const other = await callTool(url, "agent_desk_triage", { variables: { team: "a" } }, { meta });
    expect(other.result).toMatchObject({ isError: true });
  });
});

describe("names", () => {
  test("belong to the pack that was registered last under its id", async () => {
    const server = await desk();
    const newer = pack.replace("version: 1.2.0", "version: 1.3.0").replace("Sorts by hand.", "Sorts better.");
    await server.post("/api/packs", { source: newer, file: "desk.pack.yaml" });
    const agents = await agentsAt(server.url);
    expect(agents.map(({ name }) => name)).toEqual(["agent_desk_analyst", "agent_desk_triage"]);
    expect(agents[1]?.["description"]).toContain("Sorts better.");
  });

  test("are such that every client takes them, and stay apart", async () => {
    const server = await served();
    const long = "d".repeat(80);
    for (const id of [long, `${long}e`]) {
      const source = pack.replace("id: desk", `id: ${id}`);
      expect((await server.post("/api/packs", { source })).status).toBe(201);
    }
    const names = (await agentsAt(server.url)).map(({ name }) => String(name));
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(names).toEqual(names.toSorted());
  });

  test("of a pack without agents are the pack's own", async () => {
    const server = await served();
    const plain = pack.slice(0, pack.indexOf("agents:"));
    await server.post("/api/packs", { source: plain });
    expect((await agentsAt(server.url)).map(({ name }) => name)).toEqual(["agent_desk"]);
  });
});
