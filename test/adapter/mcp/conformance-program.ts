// A process that is our client to the protocol's conformance suite: it lists the tools of the server it is
// given and calls each of them as a run would, answering what they ask.

import type { BoundTool } from "../../../src/adapter/tool/bound-tool.ts";
import { get, isObject, type Json, type JsonObject } from "../../../src/base/json.ts";
import { Fault, type ToolAnswer } from "../../../src/engine/ports.ts";
import { bench, context } from "./bench.ts";

const ROUNDS_MAX = 5;
/** What is called with arguments of the suite's choice. */
const SCHEMA_ECHO = "json_schema_echo";
const SCHEMA_TOOL = "json_schema_2020_12_tool";

const url = process.argv.at(-1) ?? "";
const wished = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as JsonObject;

await using on = bench();
const tools = await on.many("mcp__suite__*", { mcp: { url } }).open(AbortSignal.timeout(60_000));
for (const [name, tool] of tools) {
  const plain = name.replace("mcp__suite__", "");
  await called(tool, argumentsFor(plain, tool));
}

async function called(tool: BoundTool, args: JsonObject): Promise<void> {
  let answer = await answered(() => tool.call(args, context()));
  for (let round = 0; "deferred" in answer && round < ROUNDS_MAX; round++) {
    const { question, handle } = answer;
    const more = {
      ...(handle !== undefined && { handle }),
      ...(question !== undefined && { input: { confirmed: true } }),
    };
    answer = await answered(() => tool.call(args, context(more)));
  }
  if ("deferred" in answer) throw new Error("it never ended");
}

/** On a busy machine the suite's server closes connections that we think open. */
async function answered(call: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Fault) || attempt === ROUNDS_MAX) throw error;
    }
  }
}

function argumentsFor(name: string, { definition }: BoundTool): JsonObject {
  const calls = get(wished, "toolCalls");
  const call = Array.isArray(calls)
    ? (calls as readonly Json[]).find((one) => get(one, "name") === name)
    : undefined;
  const given = get(call, "arguments");
  if (isObject(given)) return given;
  if (name === SCHEMA_ECHO)
    return { schema: tools.get(`mcp__suite__${SCHEMA_TOOL}`)?.definition?.parameters ?? null };
  const properties = get(definition?.parameters, "properties");
  return Object.fromEntries(
    Object.entries(isObject(properties) ? properties : {}).map(([field, schema]) => [
      field,
      valueFor(schema),
    ]),
  );
}

function valueFor(schema: Json): Json {
  const type = get(schema, "type");
  if (type === "number" || type === "integer") return 2;
  return type === "boolean" ? true : "given";
}
