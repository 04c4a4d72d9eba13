// The server: one engine behind an HTTP address. It takes up what was left, answers until it is told to stop,
// and then leaves everything so that the next one goes on.

import { once } from "node:events";
import { createServer, type Server as HttpServer, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Logger } from "pino";
import { Engine } from "../engine/engine.ts";
import { type Clock, Fault, type Store } from "../engine/ports.ts";
import type { RunSettings } from "../host/run-settings.ts";
import type { RunWorlds } from "../host/run-worlds.ts";
import { createApp } from "./app.ts";
import { Feed, type FeedLimits } from "./feed.ts";
import { Gate, RateLimit } from "./gate.ts";
import { allMounts } from "./mounts.ts";
import { Problem, problemBody } from "./problem.ts";
import { recoverAll, watchTimers } from "./recovery.ts";
import { allRoutes } from "./routes.ts";
import type { Principal } from "./scope.ts";
import type { ServerParts } from "./server-parts.ts";
import type { SideFile } from "./side-file.ts";
import { WebhookBook } from "./webhook/webhook-book.ts";
import { type Post, WebhookSender } from "./webhook/webhook-sender.ts";

export interface ServerOptions {
  readonly store: Store;
  readonly worlds: RunWorlds;
  readonly clock: Clock;
  readonly settings: RunSettings;
  readonly side: SideFile;
  readonly log: Logger;
  readonly version: string;
  readonly host: string;
  readonly port: number;
  /** Names by which it may be asked for. */
  readonly hosts?: readonly string[];
  readonly tokenNeeded: boolean;
  readonly principalOf: (token: string) => Principal | undefined;
  readonly rate?: { readonly perSecond: number; readonly burst: number };
  readonly feedLimits?: FeedLimits;
  readonly bodyTimeoutMs?: number;
  /** Sends to the addresses of webhooks. */
  readonly post: Post;
  readonly webhookPausesMs?: readonly number[];
}

/** For everybody who speaks HTTP to us, however slowly. */
const HEADERS_MS = 15_000;
const BODY_MS = 30_000;
const RATE = { perSecond: 200, burst: 1_000 };

/** How long requests under way may take to end when the server stops. */
const LAST_REQUESTS_MS = 5_000;

export class PackloopServer {
  readonly #options: ServerOptions;
  readonly #feed: Feed;
  readonly #webhooks: WebhookBook;
  readonly #sender: WebhookSender;
  readonly #engine: Engine;
  readonly #http: HttpServer;
  readonly #answering = new Set<ServerResponse>();
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  readonly #broken = Promise.withResolvers<unknown>();
  #stopping = false;

  constructor(options: ServerOptions) {
    const { store, worlds, clock } = options;
    this.#options = options;
    this.#feed = new Feed(options.feedLimits);
    this.#webhooks = new WebhookBook(options.side);
    this.#sender = new WebhookSender({
      ...{ book: this.#webhooks, store, clock, log: options.log, post: options.post },
      ...(options.webhookPausesMs !== undefined && { pausesMs: options.webhookPausesMs }),
    });
    this.#engine = new Engine({
      store,
      clock,
      redaction: worlds.redaction,
      closing: worlds,
      portsOf: (id) => worlds.portsOf(store, id),
      peopleOf: (id, run) => worlds.peopleOf(store, id, run),
      onTurn: (id, _row, run) => {
        if (run.final !== null) worlds.forget(id);
        this.#feed.turn(id);
        this.#sender.turn(id);
      },
      onDelta: (delta) => this.#feed.delta(delta),
      onFailed: (run, error) => this.#failed(run, error),
    });
    const bodyTimeoutMs = options.bodyTimeoutMs ?? BODY_MS;
    const app = createApp(this.#parts(), {
      ...{ routes: allRoutes(), mounts: allMounts(), gate: this.#gate(), bodyTimeoutMs },
    });
    this.#http = createAdaptorServer({
      fetch: app.fetch,
      createServer,
      serverOptions: {
        headersTimeout: HEADERS_MS,
        // A little later than ours, which answers with a problem.
        requestTimeout: HEADERS_MS + bodyTimeoutMs,
        connectionsCheckingInterval: 5_000,
        maxHeaderSize: 16_384,
      },
    }) as HttpServer;
    this.#http.on("clientError", refuseRaw);
    this.#http.on("request", (_request, response) => {
      this.#answering.add(response);
      response.once("close", () => this.#answering.delete(response));
    });
  }

  /** Resolves with where it listens. What was left is taken up meanwhile: requests are answered at once. */
  async start(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.#options;
    this.#http.listen(port, host);
    await once(this.#http, "listening").catch((error: unknown) => {
      const { code = "" } = error as NodeJS.ErrnoException;
      const message = `cannot listen on \`${host}\` port ${port} (${code || "unknown reason"})`;
      throw new Fault("cannot-listen", message, { retry: "never", cause: error });
    });
    this.#sender.start();
    this.#watching = this.#watch().catch((error: unknown) => this.#failed("", error));
    const address = this.#http.address() as AddressInfo;
    return { host: address.address, port: address.port };
  }

  async #watch(): Promise<void> {
    const { store, clock, log } = this.#options;
    const recovery = { engine: this.#engine, store, clock, log };
    const runs = await recoverAll(recovery);
    log.info({ runs }, "taken up");
    await watchTimers(recovery, this.#stop.signal);
  }

  /** Resolves when the store can no longer be written: only a new process can open it again. */
  get broken(): Promise<unknown> {
    return this.#broken.promise;
  }

  /** Takes no more requests, lets calls finish within the grace, leaves the rest open, closes the store. */
  async stop(graceMs: number): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#stop.abort();
    this.#http.close();
    this.#feed.close();
    await this.#engine.pause(graceMs);
    await this.#lastRequests();
    // What is left are connections that clients keep for later.
    this.#http.closeAllConnections();
    await this.#watching;
    await this.#sender.stop();
    await this.#engine[Symbol.asyncDispose]();
    this.#options.side[Symbol.dispose]();
  }

  async #lastRequests(): Promise<void> {
    const limit = new AbortController();
    const late = this.#options.clock.sleep(LAST_REQUESTS_MS, limit.signal);
    await Promise.race([Promise.all([...this.#answering].map((response) => once(response, "close"))), late]);
    limit.abort();
  }

  #parts(): ServerParts {
    const { store, worlds, clock, settings, side, log, version } = this.#options;
    const isStopping = () => this.#stopping;
    const shared = { engine: this.#engine, feed: this.#feed, webhooks: this.#webhooks, sender: this.#sender };
    return { ...shared, store, worlds, clock, settings, side, log, version, isStopping };
  }

  #gate(): Gate {
    const { hosts = [], tokenNeeded, principalOf, rate = RATE, clock } = this.#options;
    const limit = new RateLimit({ ...rate, now: () => clock.now() });
    return new Gate({
      hosts: hosts.map((name) => name.toLowerCase()),
      tokenNeeded,
      principalOf,
      rate: limit,
    });
  }

  /** One run stands still; the others go on. A store that cannot be written serves nobody. */
  #failed(run: string, error: unknown): void {
    this.#options.log.error({ run, err: error }, "a run cannot go on");
    if (error instanceof Fault && error.code === "store-unavailable") this.#broken.resolve(error);
  }
}

/** What is not even HTTP, or too slow to be a request, is answered by hand. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const isLarge = error.code === "HPE_HEADER_OVERFLOW";
  const problem = isLate
    ? new Problem("request-timeout", "the request took too long to arrive")
    : new Problem("bad-request", isLarge ? "the headers are too large" : "this is not HTTP");
  const body = JSON.stringify(problemBody(problem, "/"));
  const status = isLarge ? 431 : problem.status;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "content-type: application/problem+json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
