// The gateway's HTTP address: triggers in, jobs and events out.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { type Clock, Fault } from "../../engine/ports.ts";
import type { GatewaySetup } from "../config/config-file.ts";
import { type Need, needs } from "../config/scopes.ts";
import type { GatewayLog } from "../gateway.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { Enqueued } from "../queue/enqueue.ts";
import { jobRecord } from "../queue/job.ts";
import { countJobs, isTreeOpen, jobById, jobTree } from "../queue/jobs.ts";
import type { QueueFile } from "../queue/queue-file.ts";
import type { Catalog } from "../router/follow.ts";
import { type Trigger, triggerCommand, triggerPipeline } from "../triggers.ts";
import { admit } from "./caller.ts";
import { DoorError } from "./door-error.ts";
import { noticeStream } from "./notice-stream.ts";
import { treeReport } from "./tree-report.ts";
import { readTrigger } from "./trigger-body.ts";

export interface DoorOptions {
  readonly setup: GatewaySetup;
  readonly file: QueueFile;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: GatewayLog;
}

/** The longest a timer of Node can be. */
const TIMER_MAX_MS = 2_147_483_647;

export class Door {
  readonly #options: DoorOptions;
  readonly #http: Server;
  readonly #closing = new AbortController();
  readonly #openedAt: number;
  #waiting = 0;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#openedAt = options.clock.now();
    this.#http = createAdaptorServer({
      fetch: this.#app().fetch,
      createServer,
      serverOptions: { headersTimeout: 15_000, requestTimeout: 45_000, maxHeaderSize: 16_384 },
    }) as Server;
  }

  /** Resolves with its address. */
  async open(): Promise<string> {
    const { host, port } = this.#options.setup.config.api;
    this.#http.listen(port, host);
    await once(this.#http, "listening").catch((error: unknown) => {
      const { code = "unknown reason" } = error as NodeJS.ErrnoException;
      const message = `cannot listen on \`${host}\` port ${port} (${code})`;
      throw new Fault("cannot-listen", message, { retry: "never", cause: error });
    });
    const address = this.#http.address() as AddressInfo;
    const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return `http://${name}:${address.port}`;
  }

  /** Nobody who waits is kept: what they started goes on without them. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (!this.#http.listening) return;
    const closed = once(this.#http, "close");
    this.#http.close();
    this.#http.closeIdleConnections();
    setTimeout(() => this.#http.closeAllConnections(), 1_000).unref();
    await closed;
  }

  #app(): Hono {
    const app = new Hono({ strict: true });
    app.get("/healthz", (c) => this.#health(c));
    app.post("/pipeline/:name", (c) => this.#pipeline(c, c.req.param("name")));
    app.post("/plugin/:name/:command", (c) =>
      this.#command(c, { plugin: c.req.param("name"), command: c.req.param("command") }),
    );
    app.get("/job/:id", (c) => this.#job(c, c.req.param("id")));
    app.get("/job/:id/tree", (c) => this.#tree(c, c.req.param("id")));
    app.get("/events", (c) => this.#events(c));
    app.notFound((c) =>
      refused(c, new DoorError("not-found", `there is nothing at \`${c.req.path.slice(0, 200)}\``)),
    );
    app.onError((error, c) => {
      if (error instanceof DoorError) return refused(c, error);
      this.#options.log.error({ err: String(error), path: c.req.path }, "a request failed");
      return refused(c, new DoorError("internal", "something went wrong"));
    });
    return app;
  }

  #admit(c: Context, need: Need): void {
    const caller = {
      host: c.req.header("host"),
      origin: c.req.header("origin"),
      site: c.req.header("sec-fetch-site"),
      authorization: c.req.header("authorization"),
    };
    admit(caller, this.#options.setup.config.api.tokens, need);
  }

  #health(c: Context): Response {
    const { file, clock, setup } = this.#options;
    return c.json({
      status: this.#closing.signal.aborted ? "stopping" : "ok",
      uptime_seconds: Math.floor((clock.now() - this.#openedAt) / 1000),
      queue_depth: countJobs(file, "queued"),
      plugins_loaded: setup.plugins.size,
    });
  }

  async #pipeline(c: Context, name: string): Promise<Response> {
    this.#admit(c, needs.pipeline(name));
    const pipeline = this.#options.setup.pipelines.get(name);
    if (pipeline === undefined) throw new DoorError("unknown-pipeline", `there is no pipeline \`${name}\``);
    const trigger = await this.#trigger(c);
    if (!pipeline.isSynchronous || c.req.query("async") === "true")
      return await this.#accepted(c, this.#start(pipeline, trigger));
    const { syncMax } = this.#options.setup.config.api;
    if (this.#waiting >= syncMax)
      throw new DoorError("too-many-waiting", `${syncMax} callers wait already (add ?async=true)`);
    this.#waiting += 1;
    try {
      return await this.#wait(c, pipeline, this.#start(pipeline, trigger));
    } finally {
      this.#waiting -= 1;
    }
  }

  #start(pipeline: Pipeline, trigger: Trigger): Enqueued {
    const queued = triggerPipeline(pipeline, trigger, this.#terms());
    if ("code" in queued) throw new DoorError(queued.code, queued.message);
    return queued;
  }

  /** Until nothing of the tree is left to do, or the caller's time is over. */
  async #wait(c: Context, pipeline: Pipeline, { id }: Enqueued): Promise<Response> {
    const { file, setup } = this.#options;
    const timeoutMs = Math.min(pipeline.timeoutMs, setup.config.api.syncTimeoutMs, TIMER_MAX_MS);
    const over = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal, c.req.raw.signal]);
    const settled = Promise.withResolvers<boolean>();
    const look = (): void => {
      if (!isTreeOpen(file, id)) settled.resolve(true);
    };
    const forget = file.onChange(look);
    over.addEventListener("abort", () => settled.resolve(false), { once: true });
    look();
    try {
      const isOver = await settled.promise;
      await file.durable();
      const status = jobById(file, id)?.status ?? "queued";
      if (!isOver) return c.json({ job_id: id, status, timeout_exceeded: true }, 202);
      return c.json(treeReport(file, jobTree(file, id), pipeline));
    } finally {
      forget();
    }
  }

  async #command(c: Context, { plugin, command }: { plugin: string; command: string }): Promise<Response> {
    const found = this.#options.setup.plugins.get(plugin);
    const known = found?.entry.enabled === true ? found.manifest.commands.get(command) : undefined;
    this.#admit(c, needs.command(plugin, { reads: known?.reads ?? false }));
    if (found?.entry.enabled !== true)
      throw new DoorError("unknown-plugin", `there is no plugin \`${plugin}\`, or it is not enabled`);
    if (known === undefined)
      throw new DoorError("unknown-command", `plugin \`${plugin}\` has no command \`${command}\``);
    return await this.#accepted(
      c,
      triggerCommand({ plugin, command }, await this.#trigger(c), this.#terms()),
    );
  }

  async #trigger(c: Context): Promise<Trigger> {
    const trigger = await readTrigger(c.req.raw);
    if (this.#closing.signal.aborted) throw new DoorError("shutting-down", "the gateway is stopping");
    return trigger;
  }

  async #accepted(c: Context, { id, isDuplicate }: Enqueued): Promise<Response> {
    const { file } = this.#options;
    const status = jobById(file, id)?.status ?? "queued";
    await file.durable();
    return c.json({ job_id: id, status }, isDuplicate ? 200 : 202);
  }

  #terms() {
    const { setup, file, catalog, clock } = this.#options;
    return { file, catalog, now: clock.now(), dedupeTtlMs: setup.config.service.dedupeTtlMs };
  }

  async #job(c: Context, id: string): Promise<Response> {
    this.#admit(c, needs.jobs);
    const { file } = this.#options;
    const job = jobById(file, id);
    await file.durable();
    if (job === undefined) throw new DoorError("unknown-job", `there is no job \`${id}\``);
    return c.json(jobRecord(job));
  }

  async #tree(c: Context, id: string): Promise<Response> {
    this.#admit(c, needs.jobs);
    const { file } = this.#options;
    const tree = jobTree(file, id);
    await file.durable();
    if (tree.length === 0) throw new DoorError("unknown-job", `there is no job \`${id}\``);
    return c.json({ job_id: id, tree: tree.map(jobRecord) });
  }

  #events(c: Context): Response {
    this.#admit(c, needs.events);
    const last = c.req.header("last-event-id");
    const after = last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) : undefined;
    const signal = AbortSignal.any([this.#closing.signal, c.req.raw.signal]);
    return noticeStream(this.#options.file, { after, signal });
  }
}

const refused = (c: Context, { code, message, status }: DoorError): Response =>
  c.json({ error: { code, message } }, status);
