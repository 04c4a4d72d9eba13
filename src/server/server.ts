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
import { telemetryEnv } from "../host/telemetry-settings.ts";
import { type Telemetry, telemetryFromEnv } from "../telemetry/telemetry.ts";
import type { CardKey } from "./a2a/card-key.ts";
import { createApp } from "./app.ts";
import { BlobBook } from "./blob-book.ts";
import { Feed, type FeedLimits } from "./feed.ts";
import { ForeignTurns } from "./foreign-turns.ts";
import { Gate, RateLimit } from "./gate.ts";
import type { Catalogue } from "./mcp/catalogue.ts";
import type { Mount, MountWork } from "./mount.ts";
import { allMounts } from "./mounts.ts";
import { Problem, problemBody } from "./problem.ts";
import { letGoForKeys, recoverAll, watchTimers } from "./recovery.ts";
import { allRoutes } from "./routes.ts";
import type { Principal } from "./scope.ts";
import type { ServerParts } from "./server-parts.ts";
import { Sessions } from "./sessions.ts";
import type { SideFile } from "./side-file.ts";
import { StreamLog } from "./stream-log.ts";
import { Tickets } from "./tickets.ts";
import type { TokenFile } from "./tokens.ts";
import { watchedStore } from "./watched-store.ts";
import { HookBook } from "./webhook/hook-book.ts";
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
  /** Where others find it, when that is not where it listens. */
  readonly publicUrl?: string;
  readonly tokenNeeded: boolean;
  readonly principalOf: (token: string) => Principal | undefined;
  /** Made and revoked over HTTP as well. */
  readonly tokens: TokenFile;
  readonly rate?: { readonly perSecond: number; readonly burst: number };
  readonly feedLimits?: FeedLimits;
  readonly bodyTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  readonly connectionsMax?: number;
  /** Sends to the addresses of webhooks. */
  readonly post: Post;
  readonly webhookPausesMs?: readonly number[];
  /** Agents speak A2A 0.3 as well. */
  readonly a2aCompat?: boolean;
  /** Signs the cards of agents. */
  readonly a2aKey?: CardKey;
  /** Takes inputs and performs nothing: workers of the same store do. */
  readonly idle?: boolean;
  /** Shows runs that others drive, changes nothing and performs nothing. */
  readonly readOnly?: boolean;
  /** Where the built page is, if not beside the server. */
  readonly webFolder?: string;
  /** What MCP clients are offered in place of runs and packs. */
  readonly mcpCatalogue?: Catalogue;
}

/** For everybody who speaks HTTP to us, however slowly. */
const HEADERS_MS = 15_000;
const BODY_MS = 30_000;
const RATE = { perSecond: 1_000, burst: 5_000 };

/** Every follower holds one; beyond it connections are closed before anything of them is read. */
const CONNECTIONS_MAX = 2_000;

/** Where the store is shared: runs that this server has at most of those that nobody drives. */
const RUNS_MAX = 256;

/** How long the answer to whether the store can commit is good for: asking costs a write. */
const PROBED_MS = 1_000;

/** How long requests under way may take to end when the server stops. */
const LAST_REQUESTS_MS = 5_000;

export class PackloopServer {
  readonly #options: ServerOptions;
  readonly #feed: Feed;
  readonly #webhooks: WebhookBook;
  readonly #kept: Pick<ServerParts, "blobs" | "hooks">;
  readonly #sender: WebhookSender;
  readonly #telemetry: Telemetry;
  readonly #engine: Engine;
  /** Where the store is shared. */
  readonly #others: ForeignTurns | undefined;
  readonly #http: HttpServer;
  readonly #answering = new Set<ServerResponse>();
  readonly #stream: StreamLog;
  readonly #tickets: Tickets;
  readonly #sessions: Sessions;
  readonly #mounts: readonly Mount[];
  #opened: readonly MountWork[] = [];
  readonly #stop = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  readonly #broken = Promise.withResolvers<unknown>();
  #stopping = false;
  #probed: { readonly at: number; readonly done: Promise<void> } | undefined;

  constructor(options: ServerOptions) {
    const { store, worlds, clock } = options;
    this.#options = options;
    this.#feed = new Feed(options.feedLimits);
    this.#stream = new StreamLog(options.side, () => this.#feed.placed());
    this.#tickets = new Tickets(() => clock.now());
    this.#sessions = new Sessions({ now: () => clock.now(), principalOf: options.principalOf });
    this.#webhooks = new WebhookBook(options.side);
    this.#kept = { blobs: new BlobBook(options.side), hooks: new HookBook(options.side) };
    this.#sender = new WebhookSender({
      ...{ book: this.#webhooks, store, clock, log: options.log, post: options.post },
      ...(options.webhookPausesMs !== undefined && { pausesMs: options.webhookPausesMs }),
    });
    const env = telemetryEnv(options.settings.telemetry, process.env);
    this.#telemetry = telemetryFromEnv(worlds.redaction, env);
    this.#engine = new Engine({
      store,
      clock,
      redaction: worlds.redaction,
      observer: this.#telemetry,
      closing: worlds,
      idle: options.idle === true || options.readOnly === true,
      takes: RUNS_MAX,
      portsOf: (id) => worlds.portsOf(store, id),
      ...(options.idle !== true && { peopleOf: (id, run) => worlds.peopleOf(store, id, run) }),
      onTurn: (id, row, run) => {
        if (run.final !== null) worlds.forget(id);
        this.#feed.turn(id, row);
        this.#others?.own(id, row.turn);
        this.#moved(id, row.turn);
      },
      onDelta: (delta) => this.#feed.delta(delta),
      onFailed: (run, error) => this.#failed(run, error),
    });
    this.#others = this.#foreignTurns(store);
    const bodyTimeoutMs = options.bodyTimeoutMs ?? BODY_MS;
    const { a2aCompat = false, webhookPausesMs: pausesMs } = options;
    this.#mounts = allMounts({ ...options, a2aCompat, pausesMs });
    const app = createApp(this.#parts(), {
      ...{ routes: allRoutes(), mounts: this.#mounts, gate: this.#gate(), bodyTimeoutMs },
    });
    this.#http = createAdaptorServer({
      fetch: app.fetch,
      createServer,
      serverOptions: {
        headersTimeout: options.headersTimeoutMs ?? HEADERS_MS,
        // A little later than ours, which answers with a problem.
        requestTimeout: (options.headersTimeoutMs ?? HEADERS_MS) + bodyTimeoutMs,
        connectionsCheckingInterval: Math.min(5_000, options.headersTimeoutMs ?? HEADERS_MS),
        maxHeaderSize: 16_384,
      },
    }) as HttpServer;
    this.#http.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
    this.#http.on("clientError", refuseRaw);
    this.#http.on("request", (_request, response) => {
      this.#answering.add(response);
      response.once("close", () => this.#answering.delete(response));
    });
  }

  /** Resolves with where it listens. What was left is taken up meanwhile: requests are answered at once. */
  async start(): Promise<{ readonly host: string; readonly port: number }> {
    const { host, port } = this.#options;
    await this.#prepare();
    this.#http.listen(port, host);
    await once(this.#http, "listening").catch((error: unknown) => {
      const { code = "" } = error as NodeJS.ErrnoException;
      const message = `cannot listen on \`${host}\` port ${port} (${code || "unknown reason"})`;
      throw new Fault("cannot-listen", message, { retry: "never", cause: error });
    });
    this.#begin();
    const address = this.#http.address() as AddressInfo;
    return { host: address.address, port: address.port };
  }

  /** The same without an address, for a protocol that has its own way in. */
  async startUnheard(): Promise<ServerParts> {
    await this.#prepare();
    this.#begin();
    return this.#parts();
  }

  /** A store that it may not work with is told of before anybody is let in. */
  async #prepare(): Promise<void> {
    const { store, idle, readOnly } = this.#options;
    await this.#stream.makeUp(store);
    // What others left is taken up as by any worker.
    if (this.#others !== undefined && idle !== true && readOnly !== true) await this.#engine.drive();
  }

  #begin(): void {
    this.#sender.start();
    this.#opened = this.#mounts.flatMap(({ open }) => (open === undefined ? [] : [open(this.#parts())]));
    this.#watching = this.#watch().catch((error: unknown) => this.#failed("", error));
  }

  /** A turn is committed, by whom ever. */
  #moved(run: string, turn: number): void {
    if (this.#others === undefined) this.#stream.add(run, turn);
    else this.#stream.reach(run, turn);
    this.#tell(run);
  }

  /** Turns that no engine committed: those of a file. */
  #arrived(run: string, turn: number): void {
    this.#stream.reach(run, turn);
    this.#feed.look(run);
    this.#tell(run);
  }

  #tell(run: string): void {
    this.#sender.turn(run);
    for (const opened of this.#opened) opened.turn(run);
  }

  /** Undefined where nobody else writes. */
  #foreignTurns(store: Store): ForeignTurns | undefined {
    const { clock, log, readOnly } = this.#options;
    const failed = (error: unknown) => log.warn({ err: error }, "the store could not be looked at");
    const shared = readOnly === true ? watchedStore(store, failed) : store.shared;
    if (shared === undefined) return undefined;
    return new ForeignTurns({
      ...{ shared, clock, followed: () => this.#feed.followed },
      moved: (run, turn) => {
        if (readOnly !== true) this.#engine.heard(run);
        this.#moved(run, turn);
        this.#feed.look(run);
      },
      failed,
    });
  }

  async #watch(): Promise<void> {
    const { store, clock, log } = this.#options;
    if (this.#others !== undefined) return this.#others.watch(this.#stop.signal);
    const recovery = { engine: this.#engine, store, clock, log };
    const runs = await recoverAll(recovery);
    log.info({ runs }, "taken up");
    const { signal } = this.#stop;
    await Promise.all([letGoForKeys(recovery, signal), watchTimers(recovery, signal)]);
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
    for (const opened of this.#opened) await opened[Symbol.asyncDispose]();
    await this.#engine[Symbol.asyncDispose]();
    this.#stream.flush();
    this.#options.side[Symbol.dispose]();
  }

  async #lastRequests(): Promise<void> {
    const limit = new AbortController();
    const late = this.#options.clock.sleep(LAST_REQUESTS_MS, limit.signal);
    await Promise.race([Promise.all([...this.#answering].map((response) => once(response, "close"))), late]);
    limit.abort();
  }

  #parts(): ServerParts {
    const { store, worlds, clock, settings, side, log, version, tokens } = this.#options;
    const isStopping = () => this.#stopping;
    const probe = () => this.#probe();
    const arrived = (run: string, turn: number) => this.#arrived(run, turn);
    const told = { feed: this.#feed, stream: this.#stream, webhooks: this.#webhooks, sender: this.#sender };
    const { metrics } = this.#telemetry;
    const entry = { tokens, tickets: this.#tickets, sessions: this.#sessions };
    const shared = { engine: this.#engine, ...told, ...this.#kept, ...entry, metrics, probe, arrived };
    return { ...shared, store, worlds, clock, settings, side, log, version, isStopping };
  }

  /** Commits nothing to the store and a row beside it: the one tells of its queue, the other of its disk. */
  #probe(): Promise<void> {
    const { store, side, clock, readOnly } = this.#options;
    const at = clock.now();
    if (this.#probed !== undefined && at - this.#probed.at < PROBED_MS) return this.#probed.done;
    const look = async () => {
      if (readOnly === true) return void (await store.list({ limit: 1 }));
      await store.remove([]);
      try {
        side.probe(at);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const message = `the disk of the store takes nothing: ${why}`;
        throw new Fault("store-unavailable", message, { retry: "later", cause: error });
      }
    };
    this.#probed = { at, done: look() };
    return this.#probed.done;
  }

  #gate(): Gate {
    const { hosts = [], tokenNeeded, principalOf, rate = RATE, clock, publicUrl } = this.#options;
    const { readOnly = false } = this.#options;
    const known = publicUrl === undefined ? undefined : new URL(publicUrl);
    const limit = new RateLimit({ ...rate, now: () => clock.now() });
    return new Gate({
      hosts: [...hosts, ...(known === undefined ? [] : [known.hostname])].map((name) => name.toLowerCase()),
      publicOrigin: known?.origin,
      ...{ tokenNeeded, principalOf, readOnly },
      ticketOwner: (ticket) => this.#tickets.take(ticket),
      sessionOf: (cookies) => this.#sessions.find(cookies),
      rate: limit,
    });
  }

  /** One run stands still; the others go on. A store that cannot be written serves nobody. */
  #failed(run: string, error: unknown): void {
    this.#options.log.error({ run, err: error }, "a run cannot go on");
    const isAway = this.#others !== undefined && error instanceof Fault && error.retry === "later";
    if (error instanceof Fault && error.code === "store-unavailable" && !isAway) this.#broken.resolve(error);
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
    : isLarge
      ? new Problem("headers-too-large", "the headers are too large")
      : new Problem("bad-request", "this is not HTTP");
  const body = JSON.stringify(problemBody(problem, "/"));
  const { status } = problem;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "content-type: application/problem+json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
