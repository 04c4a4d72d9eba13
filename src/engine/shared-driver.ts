// Drives runs of a store that several processes share: says that this process lives, takes up runs that
// have nobody, looks at its own when others have moved them, and lets go of those that others have taken.
// Being told only makes it look sooner; what it does follows from what it finds.

import { type Clock, Fault, type SharedRuns } from "./ports.ts";

/** What it does with runs. */
interface Driven {
  resume(run: string): Promise<unknown>;
  drop(run: string): void;
  heard(run: string | undefined): void;
  isBusy(run: string): boolean;
}

export interface SharedDriverOptions {
  readonly engine: Driven;
  readonly shared: SharedRuns;
  readonly clock: Clock;
  /** Runs at most that it takes up; 0 for a process that drives only what it starts itself. */
  readonly runs: number;
  /** The store could not be asked; it will be again. */
  readonly failed: (error: unknown) => void;
}

/** Signs of life, well below the time after which others give up on us. */
const BEAT_MS = 1_000;

/** How long what it is at may keep a process that stops. */
const STOP_MS = 2_000;

/** However often it is told, it looks no more often than this. */
const LOOK_MS = 20;

export class SharedDriver {
  readonly #options: SharedDriverOptions;
  readonly #stop = new AbortController();
  #wake: (() => void) | undefined;
  #toldOfOurs = false;
  #rests = false;
  /** Runs that stood still because the store could not be reached. */
  readonly #again = new Set<string>();
  #started: Promise<void> | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(options: SharedDriverOptions) {
    this.#options = options;
  }

  /** Once; resolves when it is known to live. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    const { shared, engine } = this.#options;
    if (this.#stop.signal.aborted) return;
    await shared.beat();
    const deaf = shared.listen((run) => {
      engine.heard(run);
      this.#toldOfOurs ||= run === undefined || shared.isOurs(run);
      this.#wake?.();
    });
    this.#done = this.#drive().finally(deaf);
  }

  /**
   * Takes up nothing more and hands on what has nothing under way. What has is the engine's to finish: until
   * then others must hear that we live, or they would take it for dead.
   */
  rest(): void {
    this.#rests = true;
    this.#toldOfOurs = true;
    this.#wake?.();
  }

  /** A store that is away is not waited for. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const over = new AbortController();
    const done = (this.#started ?? Promise.resolve()).catch(() => undefined).then(() => this.#done);
    await Promise.race([done, this.#options.clock.sleep(STOP_MS, over.signal)]);
    over.abort();
  }

  /** Of a run of ours something was not done because the store was away: it is, once the store is back. */
  missed(run: string): void {
    this.#again.add(run);
  }

  async #drive(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    for (let beatAt = Number.NEGATIVE_INFINITY; !signal.aborted; ) {
      const now = clock.now();
      const isDue = now - beatAt >= BEAT_MS || this.#toldOfOurs;
      if (isDue) beatAt = now;
      this.#toldOfOurs = false;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      try {
        if (isDue) await this.#beat();
        await this.#claim();
      } catch (error) {
        // Who has stopped may have closed the store.
        if (!signal.aborted) this.#options.failed(error);
      }
      await clock.sleep(LOOK_MS, signal);
      const rest = new AbortController();
      const quiet = clock.sleep(
        Math.max(0, beatAt + BEAT_MS - clock.now()),
        AbortSignal.any([rest.signal, signal]),
      );
      await Promise.race([woken, quiet]);
      rest.abort();
    }
  }

  async #beat(): Promise<void> {
    const { shared, engine } = this.#options;
    const { moved, lost } = await shared.beat();
    for (const run of lost) engine.drop(run);
    if (this.#rests) return this.#handOn();
    const again = [...this.#again].filter((run) => shared.isOurs(run));
    this.#again.clear();
    for (const run of new Set([...moved, ...again])) this.#resume(run);
  }

  async #claim(): Promise<void> {
    const { shared, runs, clock } = this.#options;
    if (runs === 0 || this.#rests || this.#stop.signal.aborted) return;
    for (const run of await shared.claim(runs - shared.held, clock.now())) this.#resume(run);
  }

  async #handOn(): Promise<void> {
    const { shared, engine } = this.#options;
    const quiet = [...shared.ours].filter((run) => !engine.isBusy(run));
    await shared.letGo(quiet);
    for (const run of quiet) engine.drop(run);
  }

  /** Not waited for: a run whose tools must be connected first holds up no other. */
  #resume(run: string): void {
    this.#options.engine.resume(run).catch((error: unknown) => {
      if (isAway(error)) this.missed(run);
      this.#options.failed(error);
    });
  }
}

/** The store cannot be reached, or could not; it may be back by now. */
export const isAway = (error: unknown): boolean =>
  error instanceof Fault && error.code === "store-unavailable" && error.retry === "later";
