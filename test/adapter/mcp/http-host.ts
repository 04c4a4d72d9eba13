// Serves an MCP server of our own over Streamable HTTP on a free port, and lets a test stand in the way.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { type OwnWorld, ownServer } from "./own-server.ts";

export interface HttpHost extends AsyncDisposable {
  readonly url: string;
  readonly seen: IncomingMessage[];
  /** Answers a request in the server's place when it returns true. */
  instead: (request: IncomingMessage, body: string, response: ServerResponse) => boolean;
}

export async function httpHost(world: OwnWorld): Promise<HttpHost> {
  const handler = createMcpHandler(() => ownServer(world));
  const http = createServer((request, response) => {
    void serve(request, response);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    host.seen.push(request);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (host.instead(request, body.toString(), response)) return;
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const answer = await handler.fetch(
      new Request(host.url, {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        signal: gone.signal,
        ...(body.length > 0 && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  };
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const host: HttpHost = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    seen: [],
    instead: () => false,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await handler.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return host;
}
