// Writes are asked for here and written in groups: all that wait at a moment go into one transaction and one
// sync. A run that goes on alone is written on this thread, because handing its turns over would cost up to a
// third of what a commit does (docs/decisions/0003). As soon as several runs are at work, or the disk is
// slow, the groups go to the commit thread and this thread is free meanwhile.

import { once } from "node:events";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Fault } from "../../engine/ports.ts";
import type { OpenOptions } from "./database.ts";
import {
  type FromThread,
  packRequests,
  type ThreadData,
  type ToThread,
  unpackReplies,
} from "./group-message.ts";
import type { CommitRequest, WriteReply, WriteRequest } from "./requests.ts";
import { errorOf, faultOf, isBusy } from "./store-fault.ts";
import { Writer } from "./writer.ts";

/** A sync that blocks this thread for longer is left to the other one. */
const INLINE_MS_MAX = 1;

/** So many groups that would rather go to the thread start it. A short command never does. */
const UNEASY_GROUPS = 8;

/** Bounds a transaction, and with it how long the first of a group waits for the last. */
const GROUP_MAX = 512;

/**
 * A run whose model answers at once would never let timers, signals and sockets be heard: so often they are.
 */
const BREATH_MS = 5;

/** Fewer are not worth two groups. */
const CROWD_MIN = 8;

interface Waiting {
  readonly request: WriteRequest;
  readonly resolve: (reply: WriteReply) => void;
  readonly reject: (error: unknown) => void;
}

export class CommitQueue {
  readonly #file: ThreadData;
  readonly #writer: Writer;
  readonly #broke: (fault: Error) => void;
  #waiting: Waiting[] = [];
  #flying: readonly Waiting[] = [];
  #thread: Worker | undefined;
  #isReady = false;
  /** Nothing was written here since the thread last wrote. */
  #threadIsCurrent = false;
  #uneasy = 0;
  #lastMs = 0;
  #lastRun: string | undefined;
  #breathedAt = 0;
  /** How many were waiting for the thread at once when it last answered. */
  #crowd = 0;
  /** Why nothing is written any more. */
  #end: Error | undefined;

  /** `broke` is told when a write failed: from then on nothing is acknowledged. */
  constructor(db: DatabaseSync, path: string, options: OpenOptions, broke: (fault: Error) => void) {
    this.#file = { path, options };
    this.#writer = new Writer(db);
    this.#broke = broke;
  }

  /**
   * The reply at once when the run goes on by itself and the disk is quick; undefined when it has to wait.
   */
  writeNow(request: CommitRequest): WriteReply | undefined {
    if (request.run !== this.#lastRun || this.#lastMs > INLINE_MS_MAX || this.#end !== undefined)
      return undefined;
    if (this.#waiting.length > 0 || this.#flying.length > 0) return undefined;
    const start = performance.now();
    if (start - this.#breathedAt > BREATH_MS) return undefined;
    this.#threadIsCurrent = false;
    let reply: WriteReply;
    try {
      reply = this.#writer.single(request);
    } catch (error) {
      const fault = faultOf(error, this.#file.path);
      this.#fail([], fault, !isBusy(error));
      throw fault;
    }
    this.#lastMs = performance.now() - start;
    if (reply.kind === "failed") throw errorOf(reply.error);
    return reply;
  }

  /**
   * Resolves when the request is on the disk. Callers wait for their own, so the queue is no longer than they
   * are many.
   */
  write(request: WriteRequest): Promise<WriteReply> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (this.#waiting.length === 1) this.#flushSoon();
      else if (this.#isHalf()) this.#flush();
    });
  }

  /** The thread is gone afterwards, also when the last write failed. */
  async close(): Promise<void> {
    try {
      if (this.#end === undefined) await this.#settle();
    } finally {
      await this.#stopThread();
    }
  }

  async #settle(): Promise<void> {
    const last = this.write({ kind: "settle" });
    this.#end = new Fault("store-unavailable", "the store is closed", { retry: "never" });
    await last;
  }

  async #stopThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread === undefined) return;
    const gone = once(thread, "exit");
    tell(thread, { kind: "close" });
    await gone;
  }

  /** Callers who were answered together come back together. The thread begins with the first half of them. */
  #isHalf(): boolean {
    return this.#isReady && this.#waiting.length * 2 >= this.#crowd && this.#crowd >= CROWD_MIN;
  }

  /** Those who ask in the same moment get into the same group. */
  #flushSoon(): void {
    if (this.#flying.length > 0) return;
    if (performance.now() - this.#breathedAt < BREATH_MS) return queueMicrotask(() => this.#flush());
    setImmediate(() => {
      this.#breathedAt = performance.now();
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#flying.length > 0 || this.#waiting.length === 0) return;
    const group = this.#waiting.splice(0, GROUP_MAX);
    const easy = this.#isEasy(group);
    if (!easy && this.#thread === undefined && ++this.#uneasy >= UNEASY_GROUPS) this.#startThread();
    const thread = this.#isReady ? this.#thread : undefined;
    if (easy || thread === undefined) this.#writeHere(group);
    else this.#send(thread, group);
  }

  /** One run that was the last to write, or the first of all, and a disk that does not keep this thread. */
  #isEasy(group: readonly Waiting[]): boolean {
    const { request } = group[0] as Waiting;
    const run = request.kind === "commit" ? request.run : this.#lastRun;
    const same = group.length === 1 && (this.#lastRun === undefined || run === this.#lastRun);
    this.#lastRun = run;
    return same && this.#lastMs <= INLINE_MS_MAX;
  }

  #writeHere(group: readonly Waiting[]): void {
    const start = performance.now();
    this.#threadIsCurrent = false;
    try {
      const replies = this.#writer.group(group.map(({ request }) => request));
      this.#lastMs = performance.now() - start;
      this.#answer(group, replies);
    } catch (error) {
      this.#fail(group, faultOf(error, this.#file.path), !isBusy(error));
    }
  }

  #send(thread: Worker, group: readonly Waiting[]): void {
    this.#flying = group;
    const packed = packRequests(group.map(({ request }) => request));
    tell(thread, { kind: "group", group: packed, forget: !this.#threadIsCurrent });
    this.#threadIsCurrent = true;
  }

  #hear(message: FromThread): void {
    this.#thread?.unref();
    if (message.kind === "ready") {
      this.#isReady = true;
      return;
    }
    const group = this.#flying;
    this.#flying = [];
    this.#crowd = group.length + this.#waiting.length;
    if (message.kind === "failed") return this.#fail(group, errorOf(message.error), message.final);
    this.#lastMs = message.ms;
    this.#writer.forget();
    // Those who wait go first: the thread writes them while this one sees to the callers it has just served.
    this.#flush();
    this.#answer(group, unpackReplies(message.replies));
  }

  #answer(group: readonly Waiting[], replies: readonly WriteReply[]): void {
    for (const [index, { resolve, reject }] of group.entries()) {
      const reply = replies[index] as WriteReply;
      if (reply.kind === "failed") reject(errorOf(reply.error));
      else resolve(reply);
    }
    if (this.#waiting.length > 0) this.#flushSoon();
  }

  #fail(group: readonly Waiting[], error: Error, final: boolean): void {
    const all = final ? [...group, ...this.#waiting.splice(0)] : group;
    if (final) this.#end = error;
    for (const { reject } of all) reject(error);
    if (final) this.#broke(error);
    else if (this.#waiting.length > 0) this.#flushSoon();
  }

  #startThread(): void {
    // Options of our own process, such as `--input-type`, are not for the thread.
    const thread = new Worker(threadFile(), { workerData: this.#file, execArgv: [] });
    thread.unref();
    thread.on("message", (message: FromThread) => this.#hear(message));
    thread.on("error", (error) => (this.#isReady ? this.#lost(error) : this.#doWithout(error)));
    thread.on("exit", (code) => {
      this.#thread = undefined;
      this.#isReady = false;
      if (this.#flying.length > 0) this.#lost(new Error(`it ended with code ${code}`));
    });
    this.#thread = thread;
  }

  /** The thread is an economy: where it cannot start, everything is written here. */
  #doWithout(error: Error): void {
    this.#uneasy = Number.NEGATIVE_INFINITY;
    process.emitWarning(`the commit thread did not start, commits will block this one: ${error.message}`);
  }

  #lost(cause: unknown): void {
    // It was stopped after a failure, or has nothing in hand that anybody waits for.
    if (this.#end !== undefined && this.#flying.length === 0) return;
    const message = `the commit thread of the store \`${this.#file.path}\` stopped; open the store again`;
    const group = this.#flying;
    this.#flying = [];
    this.#fail(group, new Fault("store-unavailable", message, { retry: "later", cause }), true);
  }
}

/** An idle thread must not keep the process alive; one with something in hand must. */
function tell(thread: Worker, message: ToThread): void {
  thread.ref();
  thread.postMessage(message);
}

/** Beside this file, both in the sources and in the build. */
function threadFile(): URL {
  const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./commit-thread.${ending}`, import.meta.url);
}
