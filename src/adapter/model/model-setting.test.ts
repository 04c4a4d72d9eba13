// Settings of models and what they open.

import { describe, expect, test } from "vitest";
import type { Json } from "../../base/json.ts";
import { Fault } from "../../engine/ports.ts";
import type { OptionProblem } from "../tool/option-reader.ts";
import { readModelSetting } from "./model-setting.ts";
import { openModel } from "./open-model.ts";

function read(value: Json) {
  const problems: OptionProblem[] = [];
  const setting = readModelSetting(value, ["model"], problems);
  return { setting, said: problems.map(({ path, message }) => `${path.join(".")}: ${message}`) };
}

describe("a text", () => {
  test("names provider and model, whose name may hold slashes", () => {
    expect(read("anthropic/claude-sonnet-5").setting).toEqual({
      provider: "anthropic",
      model: "claude-sonnet-5",
    });
    expect(read("ollama/library/qwen3:8b").setting).toEqual({
      provider: "ollama",
      model: "library/qwen3:8b",
    });
  });

  test.each([
    ["claude-sonnet-5", "`claude-sonnet-5` names no provider (write `anthropic/claude-sonnet-5`)"],
    ["gpt-6.1-sol", "`gpt-6.1-sol` names no provider (write `openai/gpt-6.1-sol`)"],
    ["antropic/claude", "`antropic` is no provider of models (did you mean `anthropic`?)"],
    ["google/", "`google/` names no model (write `google/MODEL`)"],
    [
      "openai-compatible/x",
      "`openai-compatible` needs an address (write a mapping with `provider`, `base_url` and `model`)",
    ],
  ])("`%s` is answered with what to write", (text, message) => {
    expect(read(text)).toEqual({ setting: undefined, said: [`model: ${message}`] });
  });
});

describe("a mapping", () => {
  test("gives everything a server needs", () => {
    const mapping = {
      provider: "openai-compatible",
      base_url: "http://localhost:8000/v1",
      model: "m",
      api_key_env: "LOCAL_KEY",
      headers: { "x-team": "blue" },
      timeout_sec: 90,
      stream: true,
    };
    expect(read(mapping)).toEqual({
      setting: {
        provider: "openai-compatible",
        baseUrl: "http://localhost:8000/v1",
        model: "m",
        apiKeyEnv: "LOCAL_KEY",
        headers: { "x-team": "blue" },
        timeoutMs: 90_000,
        stream: true,
      },
      said: [],
    });
  });

  test("every mistake is told with its place", () => {
    const mapping = {
      provider: "anthropic",
      base_url: "localhost",
      api: "chat",
      headers: { a: 1 },
      modell: "x",
    };
    expect(read(mapping)).toEqual({
      setting: undefined,
      said: [
        "model: `model` is missing",
        "model.base_url: `localhost` is no address (it begins with http:// or https://)",
        "model.headers: `headers` is a mapping of texts",
        "model.api: `api` is for the provider `openai` only",
        "model.modell: unknown key `modell` (did you mean `model`?)",
      ],
    });
    expect(read({ provider: "openai-compatible", model: "m" }).said).toEqual([
      "model.provider: `openai-compatible` needs `base_url` (like `http://localhost:8000/v1`)",
    ]);
    expect(read(7).said).toHaveLength(1);
  });
});

describe("opening", () => {
  const open = async (value: Json, env: Readonly<Record<string, string>> = {}) => {
    const { setting } = read(value);
    if (setting === undefined) throw new Error("unusable setting");
    return openModel(setting, { env: (name) => env[name] });
  };
  const lineOf = (work: Promise<unknown>) =>
    work.then(
      () => "opened",
      (error: unknown) => (error instanceof Fault ? `${error.code}: ${error.message}` : error),
    );

  test.each([
    ["anthropic/claude-sonnet-5", "no_key: `anthropic/claude-sonnet-5` needs a key (set ANTHROPIC_API_KEY)"],
    ["openai/gpt-6.1-sol", "no_key: `openai/gpt-6.1-sol` needs a key (set OPENAI_API_KEY)"],
    ["google/gemini-x", "no_key: `google/gemini-x` needs a key (set GOOGLE_GENERATIVE_AI_API_KEY)"],
    [{ provider: "openai", model: "m", api_key_env: "OTHER" }, "no_key: `openai/m` needs a key (set OTHER)"],
    [
      { provider: "ollama", model: "m", headers_env: { authorization: "TOKEN" } },
      "no_key: the header `authorization` needs a value (set TOKEN)",
    ],
  ])("%j without its key is one line that says what to set", async (value, line) => {
    expect(await lineOf(open(value))).toBe(line);
  });

  test("an empty key is none", async () => {
    expect(await lineOf(open("openai/m", { OPENAI_API_KEY: "" }))).toMatch(/^no_key/);
  });

  test("says whether the model has a price", async () => {
    const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" };
    expect(await open("anthropic/claude-sonnet-5", env)).toMatchObject({
      model: "claude-sonnet-5",
      isPriced: true,
    });
    expect(await open("google/gemini-2.5-flash", env)).toMatchObject({ isPriced: true });
    expect(await open("openai/gpt-unheard-of", env)).toMatchObject({ isPriced: false });
    expect(await open("ollama/qwen3")).toMatchObject({ isPriced: true });
  });
});
