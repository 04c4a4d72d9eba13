// A real HTTP server on a free port of this machine, which counts what reaches it and ends with the test.

import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface TestServer {
  readonly port: number;
  /** `127.0.0.1:PORT`, as options want it. */
  readonly place: string;
  readonly url: string;
  readonly requests: readonly {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
  }[];
}

export async function testServer(
  answer: (...exchange: Parameters<RequestListener>) => unknown,
  { listenOn = "127.0.0.1", server = createServer() }: { listenOn?: string; server?: Server } = {},
): Promise<TestServer> {
  const requests: TestServer["requests"][number][] = [];
  server.on("request", (request: IncomingMessage, response) => {
    requests.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    answer(request, response);
  });
  server.listen(0, listenOn);
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { port, place: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, requests };
}

/** The body of a request as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
