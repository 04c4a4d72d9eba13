// Tells those who asked for it what happens to their tasks: every update, in its order, at least once, each
// until it has arrived or all attempts are used up.

import { A2A_CONTENT_TYPE, StreamResponse } from "@a2a-js/sdk";
import { sha256Of } from "../../base/sha256.ts";
import { applyTurn } from "../../core/apply.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import type { RunRecord } from "../../engine/ports.ts";
import { runAt } from "../../host/stored-runs.ts";
import type { ServerParts } from "../server-parts.ts";
import { PAUSES, type Post, type Posted } from "../webhook/webhook-sender.ts";
import type { PushBook, PushConfig } from "./push-book.ts";
import { statusView } from "./task-status.ts";
import { statusText, statusUpdate, toldBy, updatesOf } from "./task-updates.ts";
import { placeOf, taskView } from "./task-view.ts";

export interface PushOptions {
  readonly book: PushBook;
  readonly parts: ServerParts;
  readonly post: Post;
  /** Pauses before the second, third, … attempt. */
  readonly pausesMs?: readonly number[] | undefined;
}

const TIMEOUT_MS = 15_000;
/** Told at once. */
const AT_ONCE = 16;
const PAGE = 50;
const LOOK_MS = 15_000;
/** How long it is known who was told. */
const KEPT_MS = 7 * 86_400_000;

export class PushSender implements AsyncDisposable {
  readonly #options: PushOptions;
  readonly #stop = new AbortController();
  readonly #telling = new Map<string, Promise<void>>();
  /** Tasks that somebody is told about: most runs are none, and cost nothing here. */
  readonly #told = new Set<string>();
  /** Those of which something may have to be told now. */
  readonly #wanted = new Set<string>();
  #wake: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: PushOptions) {
    this.#options = options;
  }

  start(): void {
    const { log } = this.#options.parts;
    this.#running = this.#run().catch((error: unknown) =>
      log.error({ err: error }, "followers of A2A tasks are no longer told"),
    );
  }

  /** Somebody is to be told about the task from now on. */
  add(task: string): void {
    this.#told.add(task);
    this.turn(task);
  }

  /** An agent's run may ask for something by way of the task that called it. */
  turn(run: string): void {
    const task = run.split("/", 1)[0] ?? run;
    if (!this.#told.has(task)) return;
    this.#wanted.add(task);
    this.#wake?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#running;
    await Promise.all(this.#telling.values());
  }

  async #run(): Promise<void> {
    const { book, parts } = this.#options;
    const { clock } = parts;
    const { signal } = this.#stop;
    book.forgetOver(clock.now() - KEPT_MS);
    // What was committed while nobody looked is told first.
    for (const task of book.open()) this.add(task);
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      for (const task of book.retries(clock.now())) this.#wanted.add(task);
      for (const task of this.#wanted) if (this.#begin(task)) this.#wanted.delete(task);
      const retry = (book.nextRetry() ?? Number.POSITIVE_INFINITY) - clock.now();
      const rest = new AbortController();
      const until = AbortSignal.any([signal, rest.signal]);
      await Promise.race([woken, clock.sleep(Math.max(1, Math.min(LOOK_MS, retry)), until)]);
      rest.abort();
    }
  }

  /** False: some of it has to wait until others are through. */
  #begin(task: string): boolean {
    const { book, parts } = this.#options;
    const isDue = ({ due, attempts }: PushConfig) =>
      due !== null && (attempts === 0 || due <= parts.clock.now());
    const all = book.ofTask(task);
    if (all.every(({ due }) => due === null)) this.#told.delete(task);
    const configs = all.filter(isDue);
    return configs.map((config) => this.#beginOne(config)).every(Boolean);
  }

  #beginOne(config: PushConfig): boolean {
    const key = JSON.stringify([config.task, config.id]);
    if (this.#telling.has(key) || this.#telling.size >= AT_ONCE) return false;
    const { log } = this.#options.parts;
    const told = this.#tell(config)
      .catch((error: unknown) => log.error({ task: config.task, err: error }, "a task could not be told of"))
      .finally(() => {
        this.#telling.delete(key);
        this.#wake?.();
      });
    this.#telling.set(key, told);
    return true;
  }

  async #tell(config: PushConfig): Promise<void> {
    const { book, parts } = this.#options;
    const { store, clock } = parts;
    const { task } = config;
    const record = await store.record(task);
    if (record === undefined) return book.forget(task);
    if (record.turn <= config.turn && record.status !== "running" && record.status !== "waiting")
      return book.over(config, clock.now());
    const place = placeOf(record);
    let run: Run = config.turn === 0 ? emptyRun : await runAt(store, task, config.turn);
    let { sent, told } = config;
    for (;;) {
      const rows = await store.rows(task, { from: run.turn + 1, to: Number.MAX_SAFE_INTEGER, limit: PAGE });
      if (rows.length === 0) break;
      for (const row of rows) {
        const after = applyTurn(run, row);
        const turn = { record, place, row, before: run, after };
        const updates =
          run.turn === 0 ? [await this.#beginning(record, after)] : await updatesOf(parts, turn);
        for (const update of updates.slice(sent)) {
          if (!(await this.#sent(config, update))) return;
          sent++;
          const status = toldBy(update);
          if (status !== undefined) told = sha256Of(status);
          book.arrived(config, { turn: run.turn, sent, told });
        }
        run = after;
        sent = 0;
      }
      book.arrived(config, { turn: run.turn, sent, told });
    }
    if (run.final !== null) return book.over(config, clock.now());
    // An agent may ask for something else without a turn of its caller.
    const view = await statusView(parts, { record, run }, place);
    const now = sha256Of(statusText(view));
    if (told !== null && now !== told && !(await this.#sent(config, statusUpdate(place, view)))) return;
    book.arrived(config, { turn: run.turn, sent, told: now });
  }

  /** Who is told from the first turn on hears of the task before its updates. */
  async #beginning(record: RunRecord, run: Run): Promise<StreamResponse> {
    const { parts } = this.#options;
    const value = await taskView(parts, { record, run }, { historyLength: undefined });
    return { payload: { $case: "task", value } };
  }

  /** False: not now. Whoever was removed meanwhile is told nothing more. */
  async #sent(config: PushConfig, update: StreamResponse): Promise<boolean> {
    const { book, post } = this.#options;
    const { signal } = this.#stop;
    if (signal.aborted || book.find(config.task, config.id)?.at !== config.at) return false;
    const { scheme, credentials, token, url } = config;
    const headers = {
      "content-type": A2A_CONTENT_TYPE,
      "user-agent": "packloop",
      ...(scheme !== "" && { authorization: `${scheme} ${credentials}`.trim() }),
      ...(token !== "" && { "x-a2a-notification-token": token }),
    };
    const body = JSON.stringify(StreamResponse.toJSON(update));
    const posted = await post({ url, headers, body, timeoutMs: TIMEOUT_MS, signal });
    // Whether it arrived is unknown; the next process sends it again.
    if (signal.aborted) return false;
    if (posted.kind === "answered" && posted.status >= 200 && posted.status < 300) return true;
    this.#failed(config, posted);
    return false;
  }

  #failed({ task, id }: PushConfig, posted: Posted): void {
    const { book, pausesMs = PAUSES, parts } = this.#options;
    const { clock, log } = parts;
    const config = book.find(task, id);
    if (config === undefined) return;
    const outcome = posted.kind === "answered" ? String(posted.status) : posted.why;
    const gone = posted.kind === "answered" && posted.status === 410;
    const pause = pausesMs[config.attempts];
    if (gone || posted.kind === "refused" || pause === undefined) {
      log.warn({ task, config: id, outcome }, "a follower of an A2A task is told nothing more");
      return book.failed(config, { due: null, outcome });
    }
    const asked = posted.kind === "answered" ? (posted.retryAfterMs ?? 0) : 0;
    // Spread, so that those who failed together do not come back together.
    const due = clock.now() + Math.max(asked, Math.round(pause * (1 + Math.random() * 0.2)));
    return book.failed(config, { due, outcome });
  }
}
