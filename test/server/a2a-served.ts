// A server with a pack of agents whose model is a script, and the A2A package's own client for it.

import { randomUUID } from "node:crypto";
import { type Message, type Part, Role, type SendMessageRequest, type Task } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { readScript } from "../../src/adapter/script/read-script.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { RunWorlds } from "../../src/host/run-worlds.ts";
import { type Served, type ServeOptions, served, temporaryFolder } from "./served.ts";

export const desk = `id: desk
name: Desk
version: 1.2.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  clerk:
    id: clerk
    name: Clerk
    description: Takes requests.
    version: 2.0.0
    system_template: "Serve {{who}}."
    tools: [stamp]
    variables: [{ name: who, type: string, required: true, description: Whom to serve. }]
  close: { id: close, name: Close, version: 1.0.0, system_template: "Close {{artifacts.note}}." }
  greeter: { id: greeter, name: Greeter, version: 1.0.0, system_template: "Greet." }
tools:
  stamp:
    name: stamp
    description: Stamps.
    parameters: { type: object, properties: { on: { type: string } }, required: [on] }
workflow:
  version: 2
  entry: work
  engine: { budget: { max_total_visits: 6, max_tool_calls: 9, max_wall_time_sec: 600 } }
  states:
    work:
      prompt_task: clerk
      artifacts:
        note: { type: text/markdown, description: What was noted. }
        data: { type: application/json }
        log: { type: text/plain, mode: append }
      on_event: { Again: work, Ask: gate, Done: end }
    gate: { prompt_task: close, orchestration: external, on_event: { Yes: end, No: work } }
    end: { prompt_task: close, terminal: true }
agents:
  entry: clerk
  members:
    clerk:
      state: work
      description: Serves somebody at the desk.
      tags: [desk, help]
    greeter: { input_modes: [text/plain], output_modes: [text/plain] }
`;

/** Notes something, asks, and ends when it is told to. */
export const asking: JsonObject = {
  states: {
    work: [{ artifacts: { note: "# seen", data: { n: 1 }, log: "one" }, event: "Ask", text: "Shall I?" }],
    gate: [{ text: "Well?" }],
    end: [{ text: "Goodbye." }],
  },
  prompts: { greeter: [{ text: "Hello." }] },
};

/** Goes round once, and ends by itself. */
export const ending: JsonObject = {
  states: {
    work: [
      { artifacts: { log: "one" }, event: "Again" },
      { artifacts: { log: "two" }, event: "Done" },
    ],
    end: [{ text: "Goodbye." }],
  },
  prompts: { greeter: [{ text: "Hello." }] },
};

export interface DeskOptions extends ServeOptions {
  readonly script?: JsonObject;
  readonly pack?: string;
  readonly approvals?: readonly string[];
  readonly withoutModel?: true;
  /** In place of the script's. */
  readonly tools?: RunPorts["tools"];
  /** What a test does between the engine and the model. */
  readonly model?: (model: RunPorts["model"]) => RunPorts["model"];
}

export async function servedDesk(options: DeskOptions = {}): Promise<Served> {
  const {
    script = asking,
    pack = desk,
    approvals = [],
    withoutModel,
    tools,
    model: wrapped,
    ...rest
  } = options;
  const folder = options.folder ?? temporaryFolder();
  const clock = options.clock ?? systemClock();
  const worlds = new RunWorlds({
    ...{ clock, env: () => undefined, storePath: folder, warn: () => undefined },
    script: readScript(script).script,
  });
  const portsOf = worlds.portsOf.bind(worlds);
  worlds.portsOf = async (store, id) => {
    const ports = await portsOf(store, id);
    return { model: wrapped?.(ports.model) ?? ports.model, tools: tools ?? ports.tools };
  };
  const model = withoutModel === true ? null : "ollama/none";
  const settings = { ...noSettings(folder), model, approvals };
  const server = await served({ worlds, settings, clock, ...rest, folder });
  const admin = { authorization: "Bearer token-of-admin" };
  const body = { source: pack, file: "desk.yaml" };
  const { status } = await server.post("/api/packs", body, rest.tokenNeeded === true ? admin : {});
  if (status !== 201) throw new Error("the pack was not registered");
  return server;
}

export type Binding = "JSONRPC" | "HTTP+JSON";
export const BINDINGS: readonly Binding[] = ["JSONRPC", "HTTP+JSON"];

export interface ClientOptions {
  readonly binding?: Binding;
  readonly agent?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function clientOf({ url }: Served, options: ClientOptions = {}): Promise<Client> {
  const { binding = "JSONRPC", agent = "desk/clerk", headers = {} } = options;
  const fetchImpl: typeof fetch = (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(input, { ...init, headers: all });
  };
  const transport =
    binding === "JSONRPC"
      ? new JsonRpcTransportFactory({ fetchImpl })
      : new RestTransportFactory({ fetchImpl });
  return new ClientFactory({ transports: [transport] }).createFromUrl(url, `/a2a/${agent}/agent-card.json`);
}

export const text = (value: string): Part => ({
  ...{ content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "" },
});

export const data = (value: Json): Part => ({
  ...{ content: { $case: "data", value }, metadata: undefined, filename: "", mediaType: "" },
});

export function message(parts: readonly Part[], more: Partial<Message> = {}): Message {
  return {
    ...{ messageId: randomUUID(), contextId: "", taskId: "", role: Role.ROLE_USER, parts: [...parts] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    ...more,
  };
}

export const send = (
  of: Message,
  configuration?: SendMessageRequest["configuration"],
): SendMessageRequest => ({
  ...{ tenant: "", message: of, configuration, metadata: undefined },
});

export const configuration = (
  more: Partial<NonNullable<SendMessageRequest["configuration"]>>,
): NonNullable<SendMessageRequest["configuration"]> => ({
  ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false },
  ...more,
});

/** The message that starts a task at the desk. */
export const request = (more: Partial<Message> = {}): Message =>
  message([text("Please."), data({ who: "Ada" })], more);

export async function started(client: Client, of: Message = request()): Promise<Task> {
  return (await client.sendMessage(send(of))) as Task;
}

export const texts = (parts: readonly Part[] = []): readonly string[] =>
  parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : []));

export const datas = (parts: readonly Part[] = []): readonly JsonObject[] =>
  parts.flatMap(({ content }) => (content?.$case === "data" ? [content.value as JsonObject] : []));

/** A request as the specification writes it, to the agent's own address. */
export async function rpc(
  { url }: Served,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: JsonObject }> {
  const response = await fetch(`${url}/a2a/desk/clerk`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}
