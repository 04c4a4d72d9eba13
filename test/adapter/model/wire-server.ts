// A provider that answers with the very bytes a test wants: errors, half answers, reasoning with its marks.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface WireAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or a value sent as JSON; `chunks` is for streams. */
  readonly body?: unknown;
  readonly chunks?: readonly string[];
  /** The connection breaks after the last chunk. */
  readonly cut?: true;
  /** After the last chunk nothing comes any more, and the connection stays open. */
  readonly hang?: true;
}

export class WireServer implements AsyncDisposable {
  readonly requests: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  readonly #answers: WireAnswer[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  /** Resolves when a client went away before it had its answer. */
  readonly left: Promise<void>;
  #leave: () => void = () => {};

  constructor() {
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  /** Answers are used in order; the last one repeats. */
  static async start(...answers: readonly WireAnswer[]): Promise<WireServer> {
    const server = new WireServer();
    server.#answers.push(...answers);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    this.requests.push({ path: request.url ?? "", body: JSON.parse(text) as Record<string, unknown> });
    const answer = (this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0]) ?? {};
    response.on("close", () => {
      if (!response.writableEnded) this.#leave();
    });
    const { status = 200, headers = {}, body, chunks } = answer;
    const type = chunks === undefined ? "application/json" : "text/event-stream";
    response.writeHead(status, { "content-type": type, ...headers });
    for (const chunk of chunks ?? []) response.write(chunk);
    if (answer.hang === true) response.flushHeaders();
    else if (answer.cut === true) setImmediate(() => response.destroy());
    else response.end(chunks === undefined ? (typeof body === "string" ? body : JSON.stringify(body)) : "");
  }
}

/** Server-sent events, named where the protocol names them. */
export const events = (...values: readonly Record<string, unknown>[]): readonly string[] =>
  values.map((value) => {
    const name = typeof value["type"] === "string" ? `event: ${value["type"]}\n` : "";
    return `${name}data: ${JSON.stringify(value)}\n\n`;
  });
