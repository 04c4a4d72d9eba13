// An A2A agent of our own, made of the official server's pieces: its request handler and its two HTTP bindings.
// What it does with a message, and what it keeps of its tasks, is up to the test.

import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard, type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  type TaskStore,
} from "@a2a-js/sdk/server";
import { jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { isObject, type Json, type JsonObject } from "../../../src/base/json.ts";

/** One request as it came over the wire. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  /** The message that was sent, if it was one. */
  readonly message: JsonObject | undefined;
  readonly rpc: string | undefined;
}

export interface OwnAgent extends AsyncDisposable {
  readonly url: string;
  readonly place: string;
  readonly seen: SeenRequest[];
  readonly cancelled: string[];
  card: JsonObject;
  /** Answers in the agent's place when it returns true. */
  instead: (...exchange: Parameters<RequestListener>) => boolean;
}

export type Does = (turn: OwnTurn) => void | Promise<void>;

export interface AgentOptions {
  readonly does: Does;
  readonly streaming?: boolean;
  readonly bindings?: readonly ("JSONRPC" | "HTTP+JSON")[];
  readonly store?: TaskStore;
  readonly port?: number;
  /** More of the card, or other. */
  readonly card?: JsonObject;
}

/** One message and what the agent makes of it. */
export class OwnTurn {
  readonly context: RequestContext;
  readonly #bus: ExecutionEventBus;

  constructor(context: RequestContext, bus: ExecutionEventBus) {
    this.context = context;
    this.#bus = bus;
  }

  get text(): string {
    const [part] = this.context.userMessage.parts;
    return part?.content?.$case === "text"
      ? part.content.value
      : JSON.stringify(part?.content?.value ?? null);
  }

  get isAnswer(): boolean {
    return this.context.task !== undefined;
  }

  reply(text: string): void {
    this.#bus.publish(AgentEvent.message(this.#message([textPart(text)])));
    this.#bus.finished();
  }

  task(state: TaskState, text = ""): void {
    const { taskId: id, contextId, task, userMessage } = this.context;
    const begun: Task = {
      id,
      contextId,
      artifacts: [],
      metadata: {},
      history: [userMessage],
      status: undefined,
    };
    this.#bus.publish(AgentEvent.task({ ...(task ?? begun), status: this.#status(state, [textPart(text)]) }));
    if (state !== TaskState.TASK_STATE_WORKING && state !== TaskState.TASK_STATE_SUBMITTED)
      this.#bus.finished();
  }

  artifact(name: string, parts: Part[]): void {
    const { taskId, contextId } = this.context;
    const artifact = { artifactId: `a-${name}`, name, description: "", parts, metadata: {}, extensions: [] };
    this.#bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact,
        append: false,
        lastChunk: true,
        metadata: {},
      }),
    );
  }

  status(state: TaskState, text: string, parts: Part[] = []): void {
    const { taskId, contextId } = this.context;
    const status = this.#status(state, [textPart(text), ...parts]);
    this.#bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: {} }));
    if (state !== TaskState.TASK_STATE_WORKING) this.#bus.finished();
  }

  #status(state: TaskState, parts: Part[]): NonNullable<Task["status"]> {
    return { state, message: this.#message(parts), timestamp: new Date().toISOString() };
  }

  #message(parts: Part[]): Message {
    const { taskId, contextId } = this.context;
    return {
      messageId: crypto.randomUUID(),
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts,
      metadata: {},
      extensions: [],
      referenceTaskIds: [],
    };
  }
}

export const textPart = (value: string): Part => part({ $case: "text", value }, "text/plain");
export const dataPart = (value: Json): Part => part({ $case: "data", value }, "application/json");
export const rawPart = (value: Buffer): Part => ({
  ...part({ $case: "raw", value }, "image/png"),
  filename: "x.png",
});

const part = (content: NonNullable<Part["content"]>, mediaType: string): Part => ({
  content,
  mediaType,
  filename: "",
  metadata: undefined,
});

export async function ownAgent(options: AgentOptions): Promise<OwnAgent> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const agent: OwnAgent = {
    url,
    place: `127.0.0.1:${port}`,
    seen: [],
    cancelled: [],
    card: cardOf(url, options),
    instead: () => false,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  await serve(http, agent, options);
  return agent;
}

function cardOf(
  url: string,
  { streaming = true, bindings = ["JSONRPC", "HTTP+JSON"], card }: AgentOptions,
): JsonObject {
  const paths = { JSONRPC: "/rpc", "HTTP+JSON": "/rest" };
  const supportedInterfaces = bindings.map((protocolBinding) => ({
    url: `${url}${paths[protocolBinding]}`,
    protocolBinding,
    protocolVersion: "1.0",
  }));
  return {
    name: "Clerk",
    description: "Writes things down.",
    version: "1.0.0",
    supportedInterfaces,
    capabilities: { streaming },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "write", name: "Write", description: "Writes what it is told.", tags: [] }],
    ...card,
  };
}

const EXPRESS: string = "express";

interface Express {
  use(path: string, handler: unknown): void;
  (...exchange: Parameters<RequestListener>): void;
}

async function serve(http: Server, agent: OwnAgent, { does, store }: AgentOptions): Promise<void> {
  const requestHandler = new DefaultRequestHandler(
    AgentCard.fromJSON(agent.card),
    store ?? new InMemoryTaskStore(),
    {
      execute: async (context, bus) => does(new OwnTurn(context, bus)),
      async cancelTask(taskId, bus) {
        agent.cancelled.push(taskId);
        const status = {
          state: TaskState.TASK_STATE_CANCELED,
          message: undefined,
          timestamp: new Date().toISOString(),
        };
        bus.publish(AgentEvent.statusUpdate({ taskId, contextId: "", status, metadata: {} }));
        bus.finished();
      },
    },
  );
  // The package's bindings are made for Express, which it brings along without types.
  const { default: express } = (await import(EXPRESS)) as { readonly default: () => Express };
  const app = express();
  const userBuilder = UserBuilder.noAuthentication;
  app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder }));
  app.use("/rest", restHandler({ requestHandler, userBuilder }));
  http.on("request", (request, response) => {
    if (request.method === "GET" && request.url === "/.well-known/agent-card.json") {
      agent.seen.push(seenOf(request, ""));
      if (!agent.instead(request, response)) sendCard(agent.card, request, response);
      return;
    }
    // What the bindings read is noted on the way.
    const chunks: Buffer[] = [];
    const emit = request.emit.bind(request);
    request.emit = (event: string, ...args: unknown[]) => {
      if (event === "data") chunks.push(args[0] as Buffer);
      if (event === "end") agent.seen.push(seenOf(request, Buffer.concat(chunks).toString()));
      return emit(event, ...args);
    };
    if (!agent.instead(request, response)) app(request, response);
  });
}

function sendCard(card: JsonObject, ...[request, response]: Parameters<RequestListener>): void {
  const text = JSON.stringify(card);
  const etag = `"${Buffer.from(text).length}-${text.length}-${card["version"]}"`;
  const headers = { "content-type": "application/json", etag };
  if (request.headers["if-none-match"] === etag) response.writeHead(304, headers).end();
  else response.writeHead(200, headers).end(text);
}

function seenOf({ method = "", url = "", headers }: IncomingMessage, body: string): SeenRequest {
  const value: unknown = body.startsWith("{") ? JSON.parse(body) : {};
  const json = isObject(value) ? value : {};
  const params = isObject(json["params"]) ? json["params"] : json;
  const message = isObject(params["message"]) ? params["message"] : undefined;
  const rpc = typeof json["method"] === "string" ? json["method"] : undefined;
  return { method, url, headers, message, rpc };
}
