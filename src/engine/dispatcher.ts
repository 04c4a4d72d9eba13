// Performs open asks: calls the adapter, then submits the answer. It holds no rules and no state that
// matters: what must be done is the list of open asks, so losing all of this loses nothing.

import type { Ask, CallAsk, ModelAsk, Outcome, TurnRow } from "../core/facts.ts";
import { modelRequest } from "../core/request.ts";
import type { OpenAsk, Run } from "../core/run.ts";
import { backoffMs, type RetryPolicy } from "./backoff.ts";
import type { Door } from "./door.ts";
import { type CallContext, type Clock, Fault, type ModelPort, type ToolPort } from "./ports.ts";

/** The world as one run sees it. */
export interface RunPorts {
  readonly model: ModelPort;
  readonly tools: ToolPort;
}

export interface DispatchOptions {
  readonly door: Door;
  readonly clock: Clock;
  readonly portsOf: (id: string, run: Run) => Promise<RunPorts>;
  readonly retry: RetryPolicy;
  /** Something that no adapter may throw went wrong while performing a step. */
  readonly failed: (id: string, error: unknown) => void;
}

interface Active {
  readonly kind: Ask["kind"];
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  /** What is under way, by `run/step`. */
  readonly #active = new Map<string, Active>();
  readonly #idle = new Set<() => void>();
  #stopped = false;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** A turn was committed: asks it opened are performed, calls whose ask it closed are aborted. */
  committed(id: string, row: TurnRow, run: Run): void {
    for (const fact of row.facts) {
      if (fact.type === "asked") {
        const open = run.open[fact.step];
        if (open !== undefined) this.#perform(id, fact.step, open, run);
      } else if (fact.type === "noted" && fact.what === "retried") {
        const open = run.open[fact.step];
        if (open !== undefined) this.#perform(id, fact.step, open, run);
      } else if (fact.type === "answered" || fact.type === "finished") {
        this.#abortClosed(id, run);
      }
    }
  }

  /**
   * Takes up a run after a crash: unsafe calls that may have left are put in doubt, the rest is asked again.
   */
  async recover(id: string, run: Run): Promise<void> {
    const ports = await this.#options.portsOf(id, run);
    for (const [key, open] of Object.entries(run.open)) {
      const step = Number(key);
      const { ask, hold } = open;
      if (hold !== null || this.#active.has(`${id}/${step}`)) continue;
      if (ask.kind === "timer" && ask.due <= this.#options.clock.now()) {
        // Before anybody asks how the run stands: its time ran out while nobody drove it.
        await this.#answer(id, step, ask, run, new AbortController().signal);
      } else if (ask.kind === "tool" && ports.tools.knows(ask.tool) && !ports.tools.isSafe(ask.tool)) {
        await this.#options.door.submit(id, {
          type: "hold",
          at: this.#options.clock.now(),
          step,
          hold: "in_doubt",
        });
      } else this.#perform(id, step, open, run);
    }
  }

  /** A fork's copied asks: no call for them has left under the new run's name, so all are performed. */
  takeOver(id: string, run: Run): void {
    for (const [step, open] of Object.entries(run.open)) this.#perform(id, Number(step), open, run);
  }

  /** Resolves when nothing of this run, or of any, is under way; timers do not count. */
  async idle(): Promise<void> {
    while ([...this.#active.keys()].some((key) => !key.endsWith("!"))) {
      await new Promise<void>((resolve) => this.#idle.add(resolve));
    }
  }

  /**
   * Stops taking work. A model is asked again at no harm, so its call is aborted; tools get `graceMs` to be
   * recorded.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    const limit = new AbortController();
    for (const { abort, kind } of this.#active.values())
      if (kind === "timer" || kind === "model") abort.abort();
    const all = Promise.all([...this.#active.values()].map(({ done }) => done));
    await Promise.race([all, this.#options.clock.sleep(graceMs, limit.signal)]);
    limit.abort();
    for (const { abort } of this.#active.values()) abort.abort();
    await Promise.all([...this.#active.values()].map(({ done }) => done));
  }

  #perform(id: string, step: number, open: OpenAsk, run: Run): void {
    const kind = open.ask.kind;
    if (this.#stopped || open.hold !== null || kind === "event" || kind === "message" || kind === "approval")
      return;
    // A timer is not work: nobody waits for it to end.
    const key = `${id}/${step}${kind === "timer" ? "!" : ""}`;
    if (this.#active.has(key)) return;
    const abort = new AbortController();
    const done = this.#answer(id, step, open.ask, run, abort.signal)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.#options.failed(id, error);
      })
      .finally(() => {
        this.#active.delete(key);
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      });
    this.#active.set(key, { abort, done, kind });
  }

  #abortClosed(id: string, run: Run): void {
    for (const [key, { abort }] of this.#active) {
      if (!key.startsWith(`${id}/`)) continue;
      const step = Number(key.slice(id.length + 1).replace("!", ""));
      if (run.open[step] === undefined) abort.abort();
    }
  }

  async #answer(id: string, step: number, ask: Ask, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock } = this.#options;
    if (ask.kind === "timer") {
      await clock.sleep(Math.max(0, ask.due - clock.now()), signal);
      if (!signal.aborted)
        await door.submit(id, { type: "answer", at: clock.now(), step, outcome: { ok: true, value: null } });
    } else if (ask.kind === "model") await this.#model(id, step, ask, run, signal);
    else if (ask.kind === "tool") await this.#tool(id, step, ask, run, signal);
    else if (ask.kind === "agent") {
      const outcome = {
        ok: false as const,
        code: "unsupported",
        message: "agents are not run by this version",
      };
      await door.submit(id, { type: "answer", at: clock.now(), step, outcome, tool: ask.tool });
    }
  }

  async #model(id: string, step: number, ask: ModelAsk, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock, portsOf } = this.#options;
    const { model } = await portsOf(id, run);
    const request = modelRequest(await door.program(run.digest), run, ask);
    const context = this.#context(id, step, run, ask.nth, signal);
    const outcome = await this.#attempts(signal, async (attempt): Promise<Outcome> => {
      return { ok: true, value: (await model.call(request, { ...context, attempt })) as never };
    });
    if (outcome !== undefined) await door.submit(id, { type: "answer", at: clock.now(), step, outcome });
  }

  async #tool(id: string, step: number, ask: CallAsk, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock, portsOf } = this.#options;
    const { tools } = await portsOf(id, run);
    const context = this.#context(id, step, run, ask.nth, signal);
    const outcome = await this.#attempts(signal, async (attempt) => {
      const answer = await tools.call(ask.tool, ask.args, { ...context, attempt });
      return answer === "deferred" ? undefined : answer;
    });
    const at = clock.now();
    if (outcome === undefined && !signal.aborted)
      await door.submit(id, { type: "hold", at, step, hold: "deferred" });
    else if (outcome !== undefined)
      await door.submit(id, { type: "answer", at, step, outcome, tool: ask.tool });
  }

  #context(id: string, step: number, run: Run, nth: number, signal: AbortSignal): CallContext {
    const state = run.state ?? run.prompt;
    return { run: id, step, key: `${id}/${step}`, attempt: 1, signal, state, prompt: run.prompt, nth };
  }

  /** S47: faults of the way there are tried again with growing pauses, then become an error outcome. */
  async #attempts(
    signal: AbortSignal,
    call: (attempt: number) => Promise<Outcome | undefined>,
  ): Promise<Outcome | undefined> {
    const { retry, clock } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        const outcome = await call(attempt);
        return signal.aborted ? undefined : outcome;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof Fault)) return { ok: false, code: "tool_error", message: messageOf(error) };
        if (error.retry === "never" || attempt >= retry.attempts)
          return { ok: false, code: error.code, message: error.message };
        await clock.sleep(backoffMs(retry, attempt, error.afterMs), signal);
        if (signal.aborted) return undefined;
      }
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
