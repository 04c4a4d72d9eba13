// Tells webhooks what happens. Two loops over what is durable: from the journal to what is to be delivered,
// and from there to the other side, again and again until it answers or all attempts are used up.

import type { Logger } from "pino";
import { applyTurn } from "../../core/apply.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import type { Clock, RunRecord, Store } from "../../engine/ports.ts";
import { eachRecord, runAt, turnsOf } from "../../host/stored-runs.ts";
import { type CloudEvent, cloudEvents } from "../cloud-event.ts";
import { signatureHeaders } from "./signature.ts";
import type { Delivery, Webhook, WebhookBook } from "./webhook-book.ts";

/** What the other side said, or why nothing was sent. */
export type Posted =
  | { readonly kind: "answered"; readonly status: number; readonly retryAfterMs?: number }
  /** Nothing may be sent there; waiting does not help. */
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Sends to addresses that others chose; guards against those that are not for them. */
export type Post = (request: PostRequest) => Promise<Posted>;

export interface SenderOptions {
  readonly book: WebhookBook;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly post: Post;
  /** Pauses before the second, third, … attempt. */
  readonly pausesMs?: readonly number[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The schedule of Standard Webhooks. */
export const PAUSES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Who says so has too much to do: nothing else is sent there before the next attempt either. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 504]);

const TIMEOUT_MS = 20 * SECOND;
/** Sent at once, over all webhooks. */
const AT_ONCE = 16;
/** How often it is looked whether something is due, at least. */
const LOOK_MS = 15 * SECOND;
/** Clocks of two processes may differ by so much. */
const MARGIN_MS = HOUR;
/** How long the log of deliveries goes back. */
const LOG_MS = 7 * 24 * HOUR;

export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #changed = new Set<string>();
  readonly #sending = new Map<number, Promise<void>>();
  readonly #stop = new AbortController();
  #wake: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** What was committed while nobody looked is told first. */
  start(): void {
    this.#running = this.#run().catch((error: unknown) =>
      this.#options.log.error({ err: error }, "webhooks are no longer told"),
    );
  }

  turn(run: string): void {
    this.#changed.add(run);
    this.#wake?.();
  }

  /** A new webhook hears of what comes after it: of the runs that are there, from their next turn on. */
  async begin(webhook: Webhook): Promise<void> {
    const { book, store, clock } = this.#options;
    const open = eachRecord(store, { status: ["running", "waiting"] }, () => undefined);
    for await (const { run, turn } of open) book.tell(webhook.id, { run, turn, events: [], at: clock.now() });
  }

  /** Something is due now. */
  nudge(): void {
    this.#wake?.();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#running;
    await Promise.all(this.#sending.values());
  }

  async #run(): Promise<void> {
    const { book, clock } = this.#options;
    const { signal } = this.#stop;
    await this.#lookAtAll();
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const changed = [...this.#changed];
      this.#changed.clear();
      for (const run of changed) await this.#tellAll(run);
      this.#deliver();
      if (this.#changed.size > 0 || signal.aborted) continue;
      const next = book.nextDue() ?? Number.POSITIVE_INFINITY;
      const busy = this.#sending.size > 0;
      const wait = busy ? LOOK_MS : Math.min(LOOK_MS, Math.max(1, next - clock.now()));
      const rest = new AbortController();
      await Promise.race([woken, clock.sleep(wait, AbortSignal.any([signal, rest.signal]))]);
      rest.abort();
    }
  }

  /** Runs that moved since the last look of another process. */
  async #lookAtAll(): Promise<void> {
    const { book, store, clock, log } = this.#options;
    const began = clock.now();
    book.forget(began - LOG_MS);
    if (book.all().some(({ off }) => off === null)) {
      const since = book.looked - MARGIN_MS;
      const records = eachRecord(store, {}, (run) => log.error({ run }, "a run is damaged"));
      for await (const record of records) {
        if (this.#stop.signal.aborted) return;
        if (record.updatedAt >= since) await this.#tellAll(record.run);
      }
    }
    book.looked = began;
  }

  async #tellAll(run: string): Promise<void> {
    const { book, store, log } = this.#options;
    const webhooks = book.all().filter(({ off }) => off === null);
    if (webhooks.length === 0) return;
    try {
      const record = await store.record(run);
      if (record !== undefined) for (const webhook of webhooks) await this.#tell(webhook, record);
    } catch (error) {
      log.error({ run, err: error }, "webhooks could not be told of a run");
    }
  }

  async #tell(webhook: Webhook, record: RunRecord): Promise<void> {
    const { book, store, clock } = this.#options;
    const { run: id, turn: last } = record;
    const known = book.told(webhook.id, id) ?? (await this.#toldBefore(webhook, record));
    if (known >= last) return;
    let run: Run = known === 0 ? emptyRun : await runAt(store, id, known);
    const events: CloudEvent[] = [];
    for await (const row of turnsOf(store, id, { from: known + 1, to: last })) {
      const after = applyTurn(run, row);
      events.push(...cloudEvents(id, row, run, after));
      run = after;
    }
    const { types } = webhook;
    const wanted = types.length === 0 ? events : events.filter(({ type }) => types.includes(type));
    book.tell(webhook.id, { run: id, turn: last, events: wanted, at: clock.now() });
  }

  /** Who is unknown here began after the webhook, or was over before it. A fork begins with its copy. */
  async #toldBefore(webhook: Webhook, { run, turn }: RunRecord): Promise<number> {
    const { store } = this.#options;
    const { forkedFrom } = await runAt(store, run, turn);
    const copied = forkedFrom?.turn ?? 0;
    const [first] = await store.rows(run, { from: copied + 1, to: copied + 1, limit: 1 });
    return first !== undefined && first.at >= webhook.at ? copied : turn;
  }

  #deliver(): void {
    const { book, clock, log } = this.#options;
    for (const delivery of book.due(clock.now(), AT_ONCE + this.#sending.size)) {
      if (this.#sending.size >= AT_ONCE || this.#stop.signal.aborted) return;
      if (this.#sending.has(delivery.number)) continue;
      const sent = this.#send(delivery)
        .catch((error: unknown) => log.error({ err: error }, "a delivery could not be noted"))
        .finally(() => {
          this.#sending.delete(delivery.number);
          this.#wake?.();
        });
      this.#sending.set(delivery.number, sent);
    }
  }

  async #send(delivery: Delivery): Promise<void> {
    const { book, clock, post } = this.#options;
    const webhook = book.find(delivery.webhook);
    if (webhook === undefined || webhook.off !== null)
      return book.attempted(delivery.number, { due: null, outcome: webhook?.off ?? "removed" });
    const { event, body } = delivery;
    const headers = {
      "content-type": "application/cloudevents+json; charset=utf-8",
      "user-agent": "packloop",
      ...signatureHeaders({
        id: event,
        secrets: book.secretsOf(webhook, clock.now()),
        body,
        at: clock.now(),
      }),
      ...traceHeaders(body),
    };
    const { signal } = this.#stop;
    const posted = await post({ url: webhook.url, headers, body, timeoutMs: TIMEOUT_MS, signal });
    // Whether it arrived is unknown; the next process sends it again.
    if (!signal.aborted) this.#heard(webhook, delivery, posted);
  }

  #heard(webhook: Webhook, { number, attempts }: Delivery, posted: Posted): void {
    const { book, clock, log } = this.#options;
    const outcome = posted.kind === "answered" ? String(posted.status) : posted.why;
    const isTaken = posted.kind === "answered" && posted.status >= 200 && posted.status < 300;
    // Another delivery may have switched it off meanwhile.
    if (isTaken || book.find(webhook.id)?.off !== null) return book.attempted(number, { due: null, outcome });
    const gone = posted.kind === "answered" && posted.status === 410;
    const pause = (this.#options.pausesMs ?? PAUSES)[attempts];
    if (gone || posted.kind === "refused" || pause === undefined) {
      book.attempted(number, { due: null, outcome });
      const why = gone ? "it answered 410" : `it could not be reached: ${outcome}`;
      log.warn({ webhook: webhook.id, why }, "a webhook is switched off");
      return book.switchOff(webhook.id, why);
    }
    const asked = posted.kind === "answered" ? (posted.retryAfterMs ?? 0) : 0;
    // Spread, so that those who failed together do not come back together.
    const due = clock.now() + Math.max(asked, Math.round(pause * (1 + Math.random() * 0.2)));
    book.attempted(number, { due, outcome });
    if (posted.kind === "answered" && BUSY.has(posted.status)) book.slowDown(webhook.id, due);
    return undefined;
  }
}

/** As the event says it. */
function traceHeaders(body: string): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = JSON.parse(body) as Partial<CloudEvent>;
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}
