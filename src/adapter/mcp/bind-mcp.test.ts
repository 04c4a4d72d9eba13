import { expect, test } from "vitest";
import type { JsonObject } from "../../base/json.ts";
import type { Surroundings } from "../tool/bound-tool.ts";
import { OptionReader } from "../tool/option-reader.ts";
import { bindMcp, bindMcpTools } from "./bind-mcp.ts";
import { McpServers } from "./mcp-servers.ts";

const around: Surroundings = {
  folder: "/nowhere",
  workspaceOf: () => Promise.reject(new Error("not needed")),
  env: () => undefined,
  clock: { now: () => 0, sleep: () => Promise.resolve() },
};

function problemsOf(binding: JsonObject, name = "read_file"): readonly string[] {
  const reader = new OptionReader(binding, ["tools", name]);
  bindMcp(reader, around, { name, servers: new McpServers() });
  reader.end();
  return reader.problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

const command = ["npx", "server"];

test.each<{ binding: JsonObject; says: readonly string[] }>([
  { binding: { mcp: { command } }, says: [] },
  { binding: { mcp: { command, env: ["TOKEN"], cwd: "sub" }, tool: "x", allow: ["x"] }, says: [] },
  {
    binding: { mcp: { url: "https://x.example/mcp", headers: { "X-Team": "a" }, bearer_env: "T" } },
    says: [],
  },
  {
    binding: { mcp: {} },
    says: [
      "tools.read_file.mcp.command: `command` is a list of a program and its arguments (or give a `url`)",
    ],
  },
  {
    binding: { mcp: { command: "npx server" } },
    says: ["tools.read_file.mcp.command: `command` is a list of texts"],
  },
  {
    binding: { mcp: { command, url: "https://x.example" } },
    says: ["tools.read_file.mcp.command: a server has a `command` or a `url`, not both"],
  },
  {
    binding: { mcp: { url: "file:///etc/passwd" } },
    says: ["tools.read_file.mcp.url: `file:///etc/passwd` is not an http or https address"],
  },
  {
    binding: { mcp: { url: "https://me:secret@x.example" } },
    says: [
      "tools.read_file.mcp.url: a secret does not belong into the address (name its variable in `bearer_env`)",
    ],
  },
  {
    binding: { mcp: { url: "https://x.example", headers: { Authorization: "Bearer abc" } } },
    says: [
      "tools.read_file.mcp.headers: `Authorization` is a secret " +
        "(write `Authorization_env` and the name of a variable)",
    ],
  },
  {
    binding: { mcp: { url: "https://x.example", headers: { "X-Team": 5 } } },
    says: ["tools.read_file.mcp.headers: header `X-Team` is a name with a text"],
  },
  {
    binding: { mcp: { comand: command, url: "https://x.example" } },
    says: ["tools.read_file.mcp.comand: unknown key `comand` (did you mean `command`?)"],
  },
  {
    binding: { mcp: { command }, allow: ["other"] },
    says: ["tools.read_file.allow: `read_file` is not among the allowed tools"],
  },
  {
    binding: { mcp: { command }, timeout_sec: 0 },
    says: ["tools.read_file.timeout_sec: `timeout_sec` is a number from 1 to 3600"],
  },
])("a binding $binding has the problems $says", ({ binding, says }) => {
  const found = problemsOf(binding);
  for (const line of says) expect(found).toContain(line);
  expect(found.length > 0).toBe(says.length > 0);
});

test("a name as packs list it says which tool of the server is meant", () => {
  expect(problemsOf({ mcp: { command }, allow: ["read_file"] }, "mcp__files__read_file")).toEqual([]);
});

test("a tool whose binding is wrong cannot be called", async () => {
  const reader = new OptionReader({ mcp: {} }, []);
  const tool = bindMcp(reader, around, { name: "x", servers: new McpServers() });
  await expect(tool.call({}, {} as never)).rejects.toMatchObject({ code: "not_configured" });
});

test("a pattern binds the names that begin as it does, and only tools on its list", () => {
  const reader = new OptionReader({ mcp: { command }, allow: ["read_*", "stat"] }, []);
  const tools = bindMcpTools(reader, around, {
    name: "mcp__files__*",
    servers: new McpServers(),
    safe: true,
  });
  expect(tools.tool("mcp__files__read_file")).toMatchObject({ tier: "destructive", safe: true });
  expect(tools.tool("mcp__files__stat")).toBeDefined();
  for (const name of ["mcp__files__", "mcp__files__write", "mcp__other__stat", "stat"])
    expect(tools.tool(name)).toBeUndefined();
});
