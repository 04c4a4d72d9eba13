// Stands between the conformance suite and our server: the suite calls tools by names of its own, which become
// runs of ours that behave as the suite describes them. Everything else passes as it is.

import { once } from "node:events";
import {
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { get, isObject, type Json, type JsonObject } from "../../src/base/json.ts";

const pack = `id: fixture
name: Fixture
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
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

const run = (answers: readonly JsonObject[], more: JsonObject = {}): Call => ({
  name: "start_run",
  arguments: { pack, script: { states: { work: answers } }, ...more },
});

const ask = (question: string, field: string, type = "string"): JsonObject => ({
  tool: "ask",
  args: { question, schema: { type: "object", properties: { [field]: { type } } } },
});
const asks = (question: string, field: string, type?: string): JsonObject => ({
  calls: [ask(question, field, type)],
});

/** Long enough to become a task before it asks. */
const SOON_MS = 300;

/** Its second call of the model is one too many. */
const failing = (delay: JsonObject): Call =>
  run([{ ...delay, calls: [{ tool: "none", args: {} }] }], { budgets: { max_model_calls: 1 } });

interface Call {
  readonly name: string;
  readonly arguments: JsonObject;
}

const FIXTURES: Readonly<Record<string, (args: Json | undefined) => Call>> = {
  greet: () => ({ name: "check_pack", arguments: { source: pack } }),
  slow_compute: (args) =>
    run([{ text: "Computed.", delay_ms: Number(get(args, "seconds") ?? 0) * 1000 + SOON_MS }]),
  failing_job: () => failing({ delay_ms: 1000 }),
  test_error_handling: () => failing({}),
  test_simple_text: () => run([{ text: "Simple." }]),
  test_tool_with_progress: () => {
    const round = { delay_ms: 50, calls: [{ tool: "none", args: {} }] };
    return run([round, round, round, { text: "Done." }]);
  },
  test_input_required_result_elicitation: () => run([asks("Your name?", "name"), { text: "Hello." }]),
  test_input_required_result_request_state: () => run([asks("Fine?", "ok", "boolean"), { text: "Fine." }]),
  test_input_required_result_tampered_state: () => run([asks("Fine?", "ok", "boolean"), { text: "Fine." }]),
  test_input_required_result_multi_round: () =>
    run([asks("Your name?", "name"), asks("Your colour?", "color"), { text: "Thanks." }]),
  // What was answered is an artifact of the run, and so in its result.
  test_tool_with_task: () => run([asks("Your name?", "name"), { delay_ms: SOON_MS, text: "Hello." }]),
  confirm_delete: () =>
    run([{ delay_ms: SOON_MS, ...asks("Delete it?", "confirm", "boolean") }, { text: "Deleted." }]),
  multi_input: () =>
    run([
      { delay_ms: SOON_MS, calls: [ask("Which name?", "name"), ask("Which place?", "place")] },
      { text: "Thanks." },
    ]),
};

/** Where the suite finds the server. */
export async function withFixtures(url: string): Promise<string> {
  const proxy = createServer((request, response) => {
    pass(url, request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
}

async function pass(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { body, headers } = translated(Buffer.concat(chunks).toString(), request.headers);
  const onward = forward(`${url}/mcp`, { method: request.method ?? "GET", headers });
  response.on("close", () => onward.destroy());
  onward.end(body);
  const [answer] = (await once(onward, "response")) as [IncomingMessage];
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  answer.pipe(response);
}

/** With the headers as they came, the names of hosts and pages above all. */
function translated(
  text: string,
  given: IncomingHttpHeaders,
): { body: string; headers: IncomingHttpHeaders } {
  const { "content-length": _length, "transfer-encoding": _encoding, ...headers } = given;
  const message = jsonOf(text);
  const params = get(message, "params");
  const name = get(params, "name");
  const fixture = typeof name === "string" && Object.hasOwn(FIXTURES, name) ? FIXTURES[name] : undefined;
  if (!isObject(message) || !isObject(params) || fixture === undefined || message["method"] !== "tools/call")
    return { body: text, headers };
  const call = fixture(params["arguments"]);
  const named = headers["mcp-name"] === name ? { "mcp-name": call.name } : {};
  return {
    body: JSON.stringify({ ...message, params: { ...params, ...call } }),
    headers: { ...headers, ...named },
  };
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
