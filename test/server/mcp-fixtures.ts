// What the conformance suite wants of a server beside ours: tools, prompts and resources with set names and
// contents. Where a run or a pack can be what the suite describes, it is one; the rest are entries of the
// catalogue that our server is made from.

import { must } from "../../src/base/assert.ts";
import { get, isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { acceptedContent } from "../../src/server/mcp/answer-forms.ts";
import { type Catalogue, runCatalogue } from "../../src/server/mcp/catalogue.ts";
import type { InputRequest, McpCall, McpTool, ToolOutcome } from "../../src/server/mcp/mcp-call.ts";
import type { McpPrompt } from "../../src/server/mcp/mcp-prompt.ts";
import { RUN_TOOLS } from "../../src/server/mcp/run-tools.ts";

const head = `name: Fixture
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
`;

const pack = `id: fixture
${head}prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: "Work.", tools: [ask] }
tools:
  ask:
    name: ask
    description: Asks a person.
    parameters: { type: object, properties: { question: { type: string }, schema: { type: object } } }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 5, max_wall_time_sec: 600 }, result_bindings: { ask: said } }
  states:
    work: { prompt_task: work, terminal: true, artifacts: { said: { type: application/json } } }
`;

/** Registered, its prompts have the names that the suite asks for. */
export const PROMPTS_PACK = `id: test
${head}prompts:
  simple_prompt: { id: a, name: Simple, description: Says it., version: 1.0.0, system_template: "Say it." }
  prompt_with_arguments:
    id: b
    name: Two
    description: Takes two values.
    version: 1.0.0
    system_template: "First {{arg1}}, second {{arg2}}."
    variables:
      - { name: arg1, type: string, required: true, validation: { enum: [testValue1, testValue2] } }
      - { name: arg2, type: string, required: true }
  input_required_result_prompt:
    id: c
    name: Context
    description: Asks for its context.
    version: 1.0.0
    system_template: "About {{context}}."
    variables: [{ name: context, type: string, required: true }]
`;

const startRun = must(
  RUN_TOOLS.find(({ name }) => name === "start_run"),
  "runs can be started",
);

type Call = McpTool["call"];

const run =
  (answers: (args: JsonObject) => readonly JsonObject[], more: JsonObject = {}): Call =>
  (args, call) =>
    startRun.call({ pack, script: { states: { work: answers(args) as Json } }, ...more }, call);

const ask = (question: string, field: string, type = "string"): JsonObject => ({
  tool: "ask",
  args: { question, schema: { type: "object", properties: { [field]: { type } } } },
});
const asks = (question: string, field: string, type?: string): JsonObject => ({
  calls: [ask(question, field, type)],
});

/**
 * Long enough to become a task before it ends or asks, also on a busy machine. With whole seconds it never is
 * the two seconds that the test's clock cuts short.
 */
const SOON_MS = 1_100;

/** Its second call of the model is one too many. */
const failing = (delay: JsonObject): Call =>
  run(() => [{ ...delay, calls: [{ tool: "none", args: {} }] }], { budgets: { max_model_calls: 1 } });

const says =
  (...content: readonly JsonObject[]): Call =>
  async () => ({ kind: "content", content });
const text = (said: string): JsonObject => ({ type: "text", text: said });

/** One red point. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** Sound of no length. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const image = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri: string): JsonObject => ({
  type: "resource",
  resource: { uri, mimeType: "text/plain", text: "Embedded." },
});

const form = (message: string, field: string): InputRequest => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] },
  },
});
const sampling: InputRequest = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text("The capital of France?") }], maxTokens: 100 },
};
const roots: InputRequest = { method: "roots/list", params: {} };

/** Asks until there is a response to everything that was asked. */
const wants =
  (requests: Readonly<Record<string, InputRequest>>): Call =>
  async (_args, { client, given }): Promise<ToolOutcome> => {
    const asked = Object.entries(requests).filter(([, { method }]) => client.answers(method));
    const isAnswered = (name: string, { method }: InputRequest): boolean => {
      if (given === undefined || !Object.hasOwn(given.responses, name)) return false;
      const response = given.responses[name];
      return method === "elicitation/create"
        ? acceptedContent(name, response) !== undefined
        : isObject(response);
    };
    if (asked.length > 0 && asked.every(([name, request]) => isAnswered(name, request)))
      return { kind: "content", content: [text(JSON.stringify(given?.responses))] };
    return { kind: "input", requests, state: "asked" };
  };

/** Asks, and then starts a run that tells what was answered. */
const thenRuns =
  (requests: Readonly<Record<string, InputRequest>>): Call =>
  async (args, call) => {
    const outcome = await wants(requests)(args, call);
    if (outcome.kind !== "content") return outcome;
    const said = JSON.stringify(call.given?.responses);
    return await run(() => [{ delay_ms: SOON_MS, text: `Heard ${said}.` }])(args, call);
  };

const anything = { type: "object" };
const tool = (name: string, call: Call, more: Partial<McpTool> = {}): McpTool => ({
  ...{ name, title: name, description: `The suite's ${name}.`, inputSchema: anything },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  scopes: ["runs:write"],
  call,
  ...more,
});
const asking = (name: string, requests: Readonly<Record<string, InputRequest>>): McpTool =>
  tool(name, wants(requests), { asks: true });

async function slowly(_args: JsonObject, { progress }: McpCall): Promise<ToolOutcome> {
  for (const part of [1, 2, 3]) await progress?.(part, `part ${part}`);
  return { kind: "content", content: [text("Said what there is to say.")] };
}

/** As a text, because an object with `then` is taken for a promise. */
const CONDITIONS = JSON.parse(
  '{"if": {"required": ["address"]}, "then": {"required": ["phone"]}, "else": {"required": ["email"]}}',
) as JsonObject;

const TOOLS: readonly McpTool[] = [
  tool("greet", (args, call) => says(text(`Hello, ${String(get(args, "name"))}!`))(args, call)),
  tool("test_simple_text", says(text("Simple."))),
  tool("test_image_content", says(image)),
  tool("test_audio_content", says({ type: "audio", data: WAV, mimeType: "audio/wav" })),
  tool("test_embedded_resource", says(embedded("test://embedded-resource"))),
  tool(
    "test_multiple_content_types",
    says(text("Several."), image, embedded("test://mixed-content-resource")),
  ),
  tool("test_logging_tool", slowly),
  tool("test_header_parameter", says(text("Routed.")), {
    inputSchema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    },
  }),
  tool("json_schema_2020_12_tool", says(text("Fits.")), {
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" } } },
      },
      properties: {
        address: { $ref: "#/$defs/address" },
        phone: { type: "string" },
        email: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
      ...CONDITIONS,
      additionalProperties: false,
    },
  }),
  tool(
    "slow_compute",
    run((args) => [{ text: "Computed.", delay_ms: Number(get(args, "seconds") ?? 0) * 1000 + SOON_MS }]),
  ),
  tool("failing_job", failing({ delay_ms: 1000 }), { needsTasks: true }),
  tool("test_error_handling", failing({})),
  tool(
    "test_tool_with_progress",
    run(() => {
      const round = { delay_ms: 50, calls: [{ tool: "none", args: {} }] };
      return [round, round, round, { text: "Done." }];
    }),
  ),
  ...["request_state", "tampered_state"].map((what) =>
    tool(
      `test_input_required_result_${what}`,
      run(() => [asks("Fine?", "ok", "boolean"), { text: "Fine." }]),
    ),
  ),
  tool(
    "test_input_required_result_multi_round",
    run(() => [asks("Your name?", "name"), asks("Your colour?", "color"), { text: "Thanks." }]),
  ),
  asking("test_streaming_elicitation", { user_name: form("Your name?", "name") }),
  asking("test_input_required_result_elicitation", { user_name: form("Your name?", "name") }),
  asking("test_input_required_result_sampling", { capital_question: sampling }),
  asking("test_input_required_result_list_roots", { client_roots: roots }),
  asking("test_input_required_result_capabilities", { user_name: form("Your name?", "name"), sampling }),
  asking("test_input_required_result_multiple_inputs", {
    ...{ user_name: form("Your name?", "name"), greeting: sampling, client_roots: roots },
  }),
  asking("test_missing_capability", { greeting: sampling }),
  tool("test_tool_with_task", thenRuns({ user_name: form("Your name?", "name") }), { asks: true }),
  tool(
    "confirm_delete",
    run(() => [{ delay_ms: SOON_MS, ...asks("Delete it?", "confirm", "boolean") }, { text: "Deleted." }]),
  ),
  tool(
    "multi_input",
    run(() => [
      { delay_ms: SOON_MS, calls: [ask("Which name?", "name"), ask("Which place?", "place")] },
      { text: "Thanks." },
    ]),
  ),
];

const prompt = (
  name: string,
  known: readonly string[],
  content: (args: Readonly<Record<string, string>>) => JsonObject,
): McpPrompt => ({
  ...{ name, title: name, description: `The suite's ${name}.` },
  arguments: known.map((one) => ({ name: one, required: true })),
  get: async (args) => ({ kind: "messages", messages: [{ role: "user", content: content(args) }] }),
  valuesOf: () => [],
});

const PROMPTS: readonly McpPrompt[] = [
  prompt("test_prompt_with_embedded_resource", ["resourceUri"], ({ resourceUri = "" }) =>
    embedded(resourceUri),
  ),
  prompt("test_prompt_with_image", [], () => image),
];

function contentsOf(uri: string): JsonObject | undefined {
  if (uri === "test://static-text") return { mimeType: "text/plain", text: "As it stands." };
  if (uri === "test://static-binary") return { mimeType: "image/png", blob: PNG };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  return id === undefined ? undefined : { mimeType: "application/json", text: JSON.stringify({ id }) };
}

export const fixtures: Catalogue = {
  ...runCatalogue,
  tools: (parts) => [...runCatalogue.tools(parts), ...TOOLS],
  prompts: (parts) => [...runCatalogue.prompts(parts), ...PROMPTS],
  templates: [...runCatalogue.templates, { name: "data", uriTemplate: "test://template/{id}/data" }],
  async readResource(parts, uri) {
    const content = contentsOf(uri);
    if (content === undefined) return await runCatalogue.readResource(parts, uri);
    return { contents: [{ uri, ...content }] };
  },
};
