// The prompts of registered packs, as MCP prompts: listed, filled in, completed, and asked for what is missing.

import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { SCOPES } from "../../src/server/scope.ts";
import { principalOf, tokenOf } from "./callers.ts";
import { httpClient } from "./mcp-client.ts";
import { callTool, rpc, WITH_FORMS } from "./mcp-rpc.ts";
import { asks, start } from "./sample-pack.ts";
import { type Served, type ServeOptions, served } from "./served.ts";

const pack = (system: string): string => `id: letters
name: Letters
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  write:
    id: write
    name: Write a letter
    description: Writes to somebody.
    version: 1.0.0
    system_template: "${system}"
    variables:
      - { name: to, type: string, required: true, description: Who it is for. }
      - { name: pages, type: number, required: false, default: 1, validation: { maximum: 9 } }
      - { name: tone, type: string, required: false, validation: { enum: [kind, curt, Keen] } }
      - { name: loud, type: boolean, required: false }
  read: { id: read, name: Read, version: 1.0.0, system_template: "Read." }
`;
const WORDS = "To {{to}}, {{pages}} pages, {{tone}}, {{loud}}, {{artifacts.draft}}.";

async function withLetters(options: ServeOptions = {}): Promise<Served> {
  const here = await served(options);
  const headers = options.tokenNeeded === true ? { authorization: `Bearer ${tokenOf("admin")}` } : {};
  expect((await here.post("/api/packs", { source: pack(WORDS) }, headers)).status).toBe(201);
  return here;
}

const textOf = (result: JsonObject): string => {
  const [message] = result["messages"] as { role: string; content: { type: string; text: string } }[];
  expect(message).toMatchObject({ role: "user", content: { type: "text" } });
  return message?.content.text ?? "";
};

const filledIn = (url: string, args: JsonObject, more: JsonObject = {}, capabilities: JsonObject = {}) =>
  rpc(url, "prompts/get", { name: "letters_write", arguments: args, ...more }, { capabilities });

test("every prompt of a pack is listed with its variables, in the same order every time", async () => {
  const { url } = await withLetters();
  const { result } = await rpc(url, "prompts/list", {});
  expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
  expect(result["prompts"]).toEqual((await rpc(url, "prompts/list", {})).result["prompts"]);
  expect(result["prompts"]).toMatchObject([
    { name: "letters_read", description: "Prompt read of pack letters 1.0.0", arguments: [] },
    {
      name: "letters_write",
      title: "Write a letter",
      description: "Writes to somebody.",
      arguments: [
        { name: "to", description: "Who it is for.", required: true },
        { name: "pages", required: false },
        { name: "tone", required: false },
        { name: "loud", required: false },
      ],
      _meta: { "packloop/pack": { id: "letters" }, "packloop/prompt": "write" },
    },
  ]);
});

test("a pack that is registered again speaks in place of the one before", async () => {
  const here = await withLetters();
  await here.post("/api/packs", { source: pack("Dear {{to}}.") });
  expect(textOf((await filledIn(here.url, { to: "Ada" })).result)).toBe("Dear Ada.");
});

describe("a prompt is filled in", () => {
  test("as a run would fill it in, with nothing where only a run has something", async () => {
    const { url } = await withLetters();
    const full = await filledIn(url, { to: "{{tone}}", pages: "2", tone: "kind", loud: "true" });
    expect(textOf(full.result)).toBe("To {{tone}}, 2 pages, kind, true, .");
    expect(textOf((await filledIn(url, { to: "Ada" })).result)).toBe("To Ada, 1 pages, , , .");
  });

  test.each([
    [{}, "`to` is required"],
    [{ to: "Ada", pages: "many" }, "`pages` must be a number"],
    [{ to: "Ada", pages: "10" }, "`pages`"],
    [{ to: "Ada", tone: "rude" }, "`tone` must be one of"],
    [{ to: "Ada", form: "x" }, "`form` is not an argument"],
  ])("but not with %j", async (args, why) => {
    const { url } = await withLetters();
    const { error } = await filledIn(url, args);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(why) });
  });

  test("for clients of either revision", async () => {
    const { url } = await withLetters();
    const older = new OlderClient({ name: "older", version: "1.0.0" });
    onTestFinished(() => older.close());
    await older.connect(new OlderTransport(new URL(`${url}/mcp`)));
    const asked = { name: "letters_write", arguments: { to: "Ada" } };
    const newer = await httpClient(url);
    const [one, other] = [await older.getPrompt(asked), await newer.getPrompt(asked)];
    expect(one.messages).toEqual(other.messages);
    await expect(newer.getPrompt({ name: "letters_burn" })).rejects.toMatchObject({ code: -32602 });
  });
});

describe("what a prompt lacks is asked of the user", () => {
  const lacking = (url: string) => filledIn(url, { tone: "kind" }, {}, WITH_FORMS);

  test("by a form, and the prompt is filled in with the answer", async () => {
    const { url } = await withLetters();
    const messages: string[] = [];
    const client = await httpClient(url, {
      user(message, schema) {
        messages.push(message);
        expect(schema).toEqual({
          type: "object",
          properties: { to: { type: "string", title: "to", description: "Who it is for." } },
          required: ["to"],
        });
        return { to: "Ada" };
      },
    });
    const result = await client.getPrompt({ name: "letters_write", arguments: { tone: "curt" } });
    expect(textOf(result as unknown as JsonObject)).toBe("To Ada, 1 pages, curt, , .");
    expect(messages).toEqual(["Prompt write of pack letters needs values"]);
  });

  test("once: who declines is told what is missing", async () => {
    const { url } = await withLetters();
    const client = await httpClient(url, { user: () => undefined });
    await expect(client.getPrompt({ name: "letters_write", arguments: {} })).rejects.toThrow(
      "`to` is required",
    );
  });

  test("and what is wrong is not asked for again", async () => {
    const { url } = await withLetters();
    const { error } = await filledIn(url, { pages: "many" }, {}, WITH_FORMS);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("`to` is required") });
  });

  test("for this prompt alone: its state is of no use elsewhere, nor is another's here", async () => {
    const { url, store } = await withLetters();
    const { result } = await lacking(url);
    expect(result["resultType"]).toBe("input_required");
    const back = {
      requestState: result["requestState"] ?? "",
      inputResponses: { variables: { action: "accept", content: { to: "Ada" } } },
    };
    const done = await filledIn(url, { tone: "kind" }, back, WITH_FORMS);
    expect(textOf(done.result)).toBe("To Ada, 1 pages, kind, , .");
    const refused = { code: -32602, data: { reason: "invalid_request_state" } };
    const other = { name: "letters_read", ...back };
    expect((await rpc(url, "prompts/get", other, { capabilities: WITH_FORMS })).error).toMatchObject(refused);
    const tool = await callTool(url, "start_run", start(asks), { capabilities: WITH_FORMS, more: back });
    expect(tool.error).toMatchObject(refused);
    expect(await store.names({ prefix: "", limit: 1 })).toEqual([]);
    const run = await callTool(url, "start_run", start(asks), { capabilities: WITH_FORMS });
    const states = { requestState: run.result["requestState"] ?? "" };
    expect((await filledIn(url, {}, states, WITH_FORMS)).error).toMatchObject(refused);
    const list = await callTool(url, "list_runs", {}, { capabilities: WITH_FORMS, more: states });
    expect(list.error).toMatchObject(refused);
  });
});

describe("what somebody is writing is completed", () => {
  const completed = async (url: string, params: JsonObject) =>
    (await rpc(url, "completion/complete", params)).result["completion"];
  const forPrompt = (name: string, value: string): JsonObject => ({
    ref: { type: "ref/prompt", name: "letters_write" },
    argument: { name, value },
  });

  test("with the values that a variable may have", async () => {
    const { url } = await withLetters();
    expect(await completed(url, forPrompt("tone", "k"))).toEqual({
      ...{ values: ["kind", "Keen"], total: 2, hasMore: false },
    });
    expect(await completed(url, forPrompt("loud", ""))).toMatchObject({ values: ["true", "false"] });
    expect(await completed(url, forPrompt("to", ""))).toMatchObject({ values: [] });
    const nowhere = { ref: { type: "ref/prompt", name: "none" }, argument: { name: "x", value: "" } };
    expect((await rpc(url, "completion/complete", nowhere)).error).toMatchObject({ code: -32602 });
  });

  test("with ids of runs, and names of a run's artifacts", async () => {
    const { url } = await withLetters();
    const { result } = await callTool(url, "start_run", start(asks));
    const { run } = result["structuredContent"] as { run: string };
    const uri = "packloop://runs/{id}/artifacts/{name}";
    const ofId = { ref: { type: "ref/resource", uri }, argument: { name: "id", value: run.slice(0, 3) } };
    expect(await completed(url, ofId)).toMatchObject({ values: [run] });
    const ofName = {
      ref: { type: "ref/resource", uri },
      argument: { name: "name", value: "no" },
      context: { arguments: { id: run } },
    };
    expect(await completed(url, ofName)).toMatchObject({ values: ["note"] });
    const unknown = { ...ofName, context: { arguments: { id: "r_none" } } };
    expect((await rpc(url, "completion/complete", unknown)).error).toMatchObject({ code: -32602 });
  });
});

test("prompts are for those who may read runs", async () => {
  const { url } = await withLetters({ tokenNeeded: true, principalOf });
  for (const scope of SCOPES) {
    const headers = { authorization: `Bearer ${tokenOf(scope)}` };
    const may = scope === "admin" || scope === "runs:read";
    for (const [method, params] of [
      ["prompts/list", {}],
      ["prompts/get", { name: "letters_read" }],
      [
        "completion/complete",
        { ref: { type: "ref/prompt", name: "letters_write" }, argument: { name: "tone", value: "" } },
      ],
    ] as const) {
      const { error } = await rpc(url, method, params, { headers });
      expect([scope, method, error === undefined]).toEqual([scope, method, may]);
    }
  }
});
