// One connection to one MCP server: the official client over a child process or over HTTP, whichever
// generation of the protocol the server speaks. It holds no rules about runs.

import { resolve } from "node:path";
import type {
  Client,
  PriorDiscovery,
  StreamableHTTPClientTransport,
  Tool,
  Transport,
} from "@modelcontextprotocol/client";
import type { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Clock } from "../../engine/ports.ts";
import { TooLarge } from "./call-failure.ts";
import type { Credentials, McpDefinition } from "./server-definition.ts";
import { listenForTasks, prepareTransport, TASKS_EXTENSION } from "./wire-seam.ts";

export interface OpenOptions {
  readonly definition: McpDefinition;
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** How packloop calls itself. */
  readonly client: { readonly name: string; readonly version: string };
  /** Which generation the server spoke when it was last open; spares a second start of a program. */
  readonly prior: PriorDiscovery | undefined;
  readonly signal: AbortSignal;
}

export interface RequestLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Starting a program may mean downloading it. */
const START_MS = 120_000;
/** A program that says nothing for so long is taken for one of the older generation. */
const PROBE_MS = 30_000;
const LIST_MS = 30_000;
/** Definitions are looked at again after so long, and when the server says that they changed. */
const LIST_FRESH_MS = 60_000;
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
const TAIL_LENGTH = 600;

export class McpConnection {
  readonly #transport: Transport;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #state: LiveState;
  #tools: ReadonlyMap<string, Tool> | undefined;
  #listedAt = 0;

  private constructor(client: Client, transport: Transport, clock: Clock, state: LiveState) {
    this.#client = client;
    this.#transport = transport;
    this.#clock = clock;
    this.#state = state;
  }

  static async open(options: OpenOptions, state: LiveState): Promise<McpConnection> {
    const { definition, prior, clock, signal } = options;
    const { Client: ClientClass } = await import("@modelcontextprotocol/client");
    const client = new ClientClass(options.client, {
      capabilities: { elicitation: { form: {}, url: {} }, extensions: { [TASKS_EXTENSION]: {} } },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_MS } },
      // Questions are answered by people, perhaps days later and by another process.
      inputRequired: { autoFulfill: false },
    });
    const transport =
      definition.kind === "stdio"
        ? await programTransport(definition, options.credentials, state)
        : await addressTransport(definition, options.credentials, state);
    prepareTransport(transport);
    const onAbort = (): void => void transport.close();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await client.connect(transport, { timeout: START_MS, ...(prior !== undefined && { prior }) });
      state.pid = pidOf(transport);
    } catch (error) {
      await transport.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    listenForTasks(transport);
    const connection = new McpConnection(client, transport, clock, state);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the only way in a client has
    client.onclose = () => {
      state.closed = true;
    };
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      connection.#listedAt = 0;
    });
    return connection;
  }

  get isClosed(): boolean {
    return this.#state.closed;
  }

  get isModern(): boolean {
    return this.#client.getProtocolEra() === "modern";
  }

  /** How to skip finding out the generation when the server is opened again. */
  get prior(): PriorDiscovery | undefined {
    const discover = this.#client.getDiscoverResult();
    if (!this.isModern) return { kind: "legacy" };
    return discover === undefined ? undefined : { kind: "modern", discover };
  }

  /** Whether a server of the older generation runs calls of tools as tasks. */
  get hasOlderTasks(): boolean {
    const tasks = (this.#client.getServerCapabilities() as unknown as JsonObject | undefined)?.["tasks"];
    const requests = isObject(tasks) ? tasks["requests"] : undefined;
    const tools = isObject(requests) ? requests["tools"] : undefined;
    return !this.isModern && isObject(tools) && tools["call"] !== undefined;
  }

  async tools(signal: AbortSignal): Promise<ReadonlyMap<string, Tool>> {
    const now = this.#clock.now();
    if (this.#tools === undefined || now - this.#listedAt > LIST_FRESH_MS) {
      const listed = await this.#client.listTools({}, { cacheMode: "refresh", signal, timeout: LIST_MS });
      this.#tools = new Map(listed.tools.map((tool) => [tool.name, tool]));
      this.#listedAt = now;
    }
    return this.#tools;
  }

  /** `tool` without a schema of its result: that is data, whatever its shape. */
  async call(tool: Tool, params: JsonObject, { signal, timeoutMs }: RequestLimits): Promise<JsonObject> {
    const { outputSchema: _output, ...toolDefinition } = tool;
    const options = { toolDefinition, signal, timeout: timeoutMs, allowInputRequired: true };
    const result = await this.#client.callTool({ name: tool.name, ...params }, options);
    return result as unknown as JsonObject;
  }

  /** A request that the client has no words for. */
  async request(
    method: string,
    params: JsonObject,
    { signal, timeoutMs }: RequestLimits,
  ): Promise<JsonObject> {
    return await this.#client.request({ method, params }, anyObject, { signal, timeout: timeoutMs });
  }

  async close(): Promise<void> {
    if ("terminateSession" in this.#transport && !this.#state.closed)
      await endSession(this.#transport as StreamableHTTPClientTransport, this.#state);
    const { pid, closed } = this.#state;
    const closing = this.#client.close();
    if (pid !== undefined && !closed) await ended(pid);
    await closing;
    this.#state.closed = true;
  }
}

/** What happens to a connection while it is open, also before it is known to be. */
export class LiveState {
  closed = false;
  pid: number | undefined;
  /** From the last `Retry-After`. */
  retryAfterMs: number | undefined;
  #tail = "";

  /** What the program wrote to its error stream last, on one line. */
  get tail(): string {
    return this.#tail.trim().replaceAll(/\s*\n\s*/g, " | ");
  }

  wrote(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_LENGTH);
  }
}

async function programTransport(
  { command, cwd, folder }: Extract<McpDefinition, { readonly kind: "stdio" }>,
  { env }: Credentials,
  state: LiveState,
): Promise<StdioClientTransport> {
  const { StdioClientTransport: TransportClass } = await import("@modelcontextprotocol/client/stdio");
  const [program = "", ...args] = command;
  const transport = new TransportClass({
    command: program,
    args,
    cwd: resolve(folder, cwd),
    env: { ...env },
    stderr: "pipe",
    maxBufferSize: MESSAGE_BYTES_MAX,
  });
  transport.stderr?.on("data", (chunk: Buffer) => state.wrote(chunk.toString()));
  return transport;
}

async function addressTransport(
  { url }: Extract<McpDefinition, { readonly kind: "http" }>,
  { headers }: Credentials,
  state: LiveState,
): Promise<StreamableHTTPClientTransport> {
  const { StreamableHTTPClientTransport: TransportClass } = await import("@modelcontextprotocol/client");
  return new TransportClass(new URL(url), {
    requestInit: { headers },
    fetch: async (address, init) => {
      const response = await fetch(address, init);
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      state.retryAfterMs = seconds >= 0 ? seconds * 1000 : undefined;
      // A stream that is got lives as long as the session; an answer to a request has an end.
      return init?.method === "POST" ? limited(response) : response;
    },
  });
}

/** An answer that is too long fails while it is read. */
function limited(response: Response): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MESSAGE_BYTES_MAX) throw new TooLarge(`its answer is over ${MESSAGE_BYTES_MAX} bytes`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

const pidOf = (transport: Transport): number | undefined =>
  "pid" in transport && typeof transport.pid === "number" ? transport.pid : undefined;

/** The server frees what it keeps for us. When it cannot be told, its own expiry does. */
async function endSession(transport: StreamableHTTPClientTransport, state: LiveState): Promise<void> {
  const told = transport.terminateSession().catch((error: unknown) => state.wrote(String(error)));
  await Promise.race([told, new Promise((resolve) => setTimeout(resolve, 1000).unref())]);
}

/** A program whose input has ended is asked to stop, then made to. */
async function ended(pid: number): Promise<void> {
  const signals = new Map<number, NodeJS.Signals>([
    [POLITE_LOOKS, "SIGTERM"],
    [4 * POLITE_LOOKS, "SIGKILL"],
  ]);
  for (let look = 0; look < 8 * POLITE_LOOKS && took(pid, signals.get(look) ?? 0); look++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

const LOOK_MS = 20;
const POLITE_LOOKS = 20;

function took(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // There is no such process, which is what is wanted.
    return false;
  }
}

type ObjectSchema = Parameters<Client["request"]>[1] & {
  readonly "~standard": { readonly types?: { readonly input: unknown; readonly output: JsonObject } };
};

/** Takes any object: the caller looks at it as at anything else from outside. */
const anyObject = {
  "~standard": {
    version: 1 as const,
    vendor: "packloop",
    validate: (value: unknown): { value: JsonObject } | { issues: [{ message: string }] } =>
      isObject(value) ? { value: value } : { issues: [{ message: "no object" }] },
  },
} satisfies object as unknown as ObjectSchema;
