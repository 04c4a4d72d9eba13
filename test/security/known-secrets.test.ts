// Which values a configuration makes secret, and where one must not be written at all.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { readRunSettings } from "../../src/host/run-settings.ts";
import { RunWorlds } from "../../src/host/run-worlds.ts";

const value = "Zm9vYmFyYmF6-1234567890-abcdefghij";

/** The worlds of a configuration in which the variable has the value. */
function worldsOf(config: JsonObject, variable: string, held = value) {
  const warnings: string[] = [];
  const worlds = new RunWorlds({
    clock: systemClock(),
    env: (name) => (name === variable ? held : undefined),
    storePath: "nowhere/runs.db",
    warn: (line) => warnings.push(line),
  });
  const world = worlds.world(readRunSettings(config, ".").settings);
  return { world, worlds, warnings };
}

const tool = (binding: JsonObject): JsonObject => ({ tools: { t: binding } });

describe("a value is known as a secret", () => {
  test.each<readonly [string, JsonObject, string]>([
    ["as a provider's usual key", {}, "ANTHROPIC_API_KEY"],
    ["as a provider's other usual key", {}, "GEMINI_API_KEY"],
    ["by the list of secrets", { secrets: ["MINE"] }, "MINE"],
    ["as a model's key", { model: { provider: "openai", model: "m", api_key_env: "MINE" } }, "MINE"],
    [
      "as a model's header",
      { model: { provider: "openai", model: "m", headers_env: { x: "MINE" } } },
      "MINE",
    ],
    [
      "as a provider's key",
      { providers: { p: { provider: "openai", model: "m", api_key_env: "MINE" } } },
      "MINE",
    ],
    ["as a bearer of a tool", tool({ http: { url: "https://a.example", bearer_env: "MINE" } }), "MINE"],
    [
      "as a header of a tool",
      tool({ http: { url: "https://a.example", headers: { "x-key_env": "MINE" } } }),
      "MINE",
    ],
    [
      "however the key is spelled",
      tool({ http: { url: "https://a.example", headers: { "X-Key_ENV": "MINE" } } }),
      "MINE",
    ],
    ["as the address of a database", tool({ builtin: "sql", url_env: "MINE" }), "MINE"],
    ["as what an MCP server is given", tool({ mcp: { command: ["x"], env: ["MY_TOKEN"] } }), "MY_TOKEN"],
    ["whatever the tool is called", { tools: { my_env: { exec: ["x"], env: ["MY_TOKEN"] } } }, "MY_TOKEN"],
    ["as what a command is given", tool({ exec: ["x"], env: ["MY_PASSWORD"] }), "MY_PASSWORD"],
    [
      "as what a process is given",
      tool({ builtin: "proc", argv: ["x"], env: ["PATH", "MY_SECRET"] }),
      "MY_SECRET",
    ],
  ])("%s", (_how, config, variable) => {
    expect(worldsOf(config, variable).worlds.redaction.text(`<${value}>`)).toBe(`<[redacted ${variable}]>`);
  });

  test("but not what every program is given", () => {
    const { worlds } = worldsOf(tool({ builtin: "proc", argv: ["x"], env: ["LANG"] }), "LANG", "en_GB.UTF-8");
    expect(worlds.redaction.text("en_GB.UTF-8")).toBe("en_GB.UTF-8");
  });

  test("as the password in an address that a program is given", () => {
    const address = "https://app:s3cr3t-horse@db.example/";
    const { worlds } = worldsOf(tool({ exec: ["x"], env: ["BOOKS"] }), "BOOKS", address);
    expect(worlds.redaction.text("login with s3cr3t-horse failed")).toBe(
      "login with [redacted BOOKS] failed",
    );
  });
});

describe("a secret in the file itself is refused", () => {
  test.each<readonly [string, JsonObject]>([
    [
      "as a header of an endpoint",
      tool({ http: { url: "https://a.example", headers: { Authorization: `Bearer ${value}` } } }),
    ],
    ["as a header of a fetch", tool({ builtin: "http", headers: { "X-Api-Key": value } })],
    ["as a header of an MCP server", tool({ mcp: { url: "https://a.example", headers: { Cookie: value } } })],
    ["as a header of a model", { model: { provider: "openai", model: "m", headers: { "api-key": value } } }],
    [
      "in the address of a model",
      { model: { provider: "openai", model: "m", base_url: `https://u:${value}@a.example` } },
    ],
    ["in the address of an endpoint", tool({ http: { url: `https://u:${value}@a.example` } })],
  ])("%s", (_where, config) => {
    const messages = worldsOf(config, "X").world.problems.map(({ message }) => message);
    expect(messages.join()).toMatch(/_env|environment|credentials/);
    expect(messages.join()).not.toContain(value);
  });
});
