// Clients of our MCP server: the official one of the revision 2026-07-28, over HTTP or as the parent of
// `packloop mcp`, and what tests read out of answers.

import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";

export const TASKS = "io.modelcontextprotocol/tasks";

type Capabilities = NonNullable<ConstructorParameters<typeof Client>[1]>["capabilities"];

export interface ClientOptions {
  readonly capabilities?: Capabilities;
  readonly token?: string;
  /** What the user fills into a form; undefined declines it. */
  readonly user?: (message: string, schema: JsonObject) => JsonObject | undefined;
}

export function newClient({ capabilities = {}, user }: ClientOptions): Client {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      capabilities: { ...capabilities, ...(user !== undefined && { elicitation: { form: {} } }) },
      versionNegotiation: { mode: "auto" },
    },
  );
  if (user !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const { message, requestedSchema } = params as unknown as {
        message: string;
        requestedSchema: JsonObject;
      };
      const content = user(message, requestedSchema);
      return (content === undefined ? { action: "decline" } : { action: "accept", content }) as never;
    });
  onTestFinished(() => client.close());
  return client;
}

export async function httpClient(url: string, options: ClientOptions = {}): Promise<Client> {
  const { token } = options;
  const client = newClient(options);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

export const mcpProgram = (args: readonly string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [bin, "mcp", ...args],
});

export interface StdioClient {
  readonly client: Client;
  readonly pid: number;
  /** What it wrote to its error stream. */
  readonly log: () => string;
}

export async function stdioClient(
  folder: string,
  args: readonly string[],
  options: ClientOptions & { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<StdioClient> {
  const client = newClient(options);
  const env = { PATH: process.env["PATH"] ?? "", ...options.env };
  const transport = new StdioClientTransport({ ...mcpProgram(args), cwd: folder, env, stderr: "pipe" });
  let log = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    log += chunk.toString("utf8");
  });
  try {
    await client.connect(transport);
  } catch (error) {
    throw new Error(`packloop mcp did not start: ${log}`, { cause: error });
  }
  return { client, pid: transport.pid ?? 0, log: () => log };
}

export interface ToolAnswer {
  readonly summary: Summary;
  readonly text: string;
  readonly isError: boolean;
}

export async function call(client: Client, name: string, args: JsonObject): Promise<ToolAnswer> {
  const result = await client.callTool({ name, arguments: args });
  const [first] = result.content as readonly { readonly text?: string }[];
  return {
    summary: result.structuredContent as Summary,
    text: first?.text ?? "",
    isError: result.isError === true,
  };
}
