// Performs open asks: calls the adapter, then submits the answer. It holds no rules and no state that
// matters: what must be done is the list of open asks, so losing all of this loses nothing.

import { hash } from "node:crypto";
import { must } from "../base/assert.ts";
import type { Ask, CallAsk, ModelAsk, Outcome, TurnRow } from "../core/facts.ts";
import { guardsOutput } from "../core/guard.ts";
import { HASH_LENGTH, type ModelRequest, modelRequest, requestText } from "../core/request.ts";
import { type OpenAsk, type Run, statusOf } from "../core/run.ts";
import { type AgentCall, Agents, childOf } from "./agents.ts";
import { backoffMs, type RetryPolicy } from "./backoff.ts";
import { CleanStream } from "./clean-stream.ts";
import type { Door } from "./door.ts";
import {
  type CallContext,
  type Clock,
  type Delta,
  Fault,
  type ModelPort,
  type Store,
  type ToolPort,
} from "./ports.ts";
import type { Redaction } from "./redaction.ts";

/** The world as one run sees it. */
export interface RunPorts {
  readonly model: ModelPort;
  readonly tools: ToolPort;
}

export interface DispatchOptions {
  readonly door: Door;
  readonly store: Store;
  readonly clock: Clock;
  readonly portsOf: (id: string, run: Run) => Promise<RunPorts>;
  readonly retry: RetryPolicy;
  /** How deep agents may call each other. */
  readonly depth?: number;
  /** Streamed text of a model's answer, as it comes. */
  readonly onDelta?: (delta: Delta) => void;
  /** What must not be shown. */
  readonly redaction?: Redaction | undefined;
  /** Something that no adapter may throw went wrong while performing a step. */
  readonly failed: (id: string, error: unknown) => void;
}

interface Active {
  readonly kind: Ask["kind"];
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** A run that is being taken up, as of the last turn committed here. */
interface Recovery {
  readonly id: string;
  run: Run;
}

export class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #agents: Agents;
  /** What callers were told about their agents by this process. */
  readonly #told = new Map<string, "running" | "waiting">();
  /** What is under way, by `run/step`. */
  readonly #active = new Map<string, Active>();
  readonly #idle = new Set<() => void>();
  readonly #recoveries = new Map<Recovery, Promise<void>>();
  #stopped = false;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#agents = new Agents(options);
  }

  /** A turn was committed: asks it opened are performed, calls whose ask it closed are aborted. */
  committed(id: string, row: TurnRow, run: Run): void {
    for (const recovery of this.#recoveries.keys()) if (recovery.id === id) recovery.run = run;
    for (const fact of row.facts) {
      if (fact.type === "asked") {
        const open = run.open[fact.step];
        if (open !== undefined) this.#perform(id, fact.step, open, run);
      } else if (fact.type === "noted" && (fact.what === "retried" || fact.what === "resumed")) {
        const open = run.open[fact.step];
        if (open !== undefined) this.#perform(id, fact.step, open, run);
      } else if (fact.type === "answered") {
        this.#active.get(`${id}/${fact.step}`)?.abort.abort(closed);
        this.#active.get(`${id}/${fact.step}!`)?.abort.abort(closed);
      } else if (fact.type === "finished") {
        this.#abortAll(id);
        this.#told.delete(id);
      }
    }
    this.#tellParent(id, run);
  }

  /**
   * Takes up a run after a crash: unsafe calls that have left are put in doubt, the rest is asked again.
   */
  async recover(id: string, run: Run): Promise<void> {
    const recovery = { id, run };
    const done = this.#recover(recovery);
    this.#recoveries.set(recovery, done);
    await done.finally(() => this.#recoveries.delete(recovery));
  }

  /** Others may speak to the run meanwhile, so every step is looked at anew after each wait. */
  async #recover(recovery: Recovery): Promise<void> {
    const { id, run } = recovery;
    const { door, clock, portsOf } = this.#options;
    const { tools } = await portsOf(id, run);
    for (const step of Object.keys(run.open).map(Number)) {
      const { ask, sent, later } = recovery.run.open[step] ?? {};
      const mayHaveLeft =
        ask?.kind === "tool" &&
        sent === true &&
        later?.looks !== true &&
        !(await this.#isSafe(run, ask.tool, tools));
      const open = recovery.run.open[step];
      if (this.#stopped) return;
      if (open?.ask.kind === "agent" && open.hold === "deferred") await this.#recoverChild(childOf(id, step));
      if (open === undefined || open.hold !== null || this.#active.has(`${id}/${step}`)) continue;
      if (open.ask.kind === "timer" && open.ask.due <= clock.now()) {
        // Before anybody asks how the run stands: its time ran out while nobody drove it.
        await this.#answer(id, step, open, recovery.run, new AbortController().signal);
      } else if (mayHaveLeft) {
        await door.submit(id, { type: "hold", at: clock.now(), step, hold: "in_doubt" });
      } else this.#perform(id, step, open, recovery.run);
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
    await Promise.allSettled(this.#recoveries.values());
  }

  #perform(id: string, step: number, open: OpenAsk, run: Run): void {
    const kind = open.ask.kind;
    if (this.#stopped || open.hold !== null || kind === "event" || kind === "message" || kind === "approval")
      return;
    // A timer is not work: nobody waits for it to end.
    const key = `${id}/${step}${kind === "timer" ? "!" : ""}`;
    if (this.#active.has(key)) return;
    const abort = new AbortController();
    const done = this.#answer(id, step, open, run, abort.signal)
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

  /** The end of a run closes whatever was open. */
  #abortAll(id: string): void {
    for (const [key, { abort }] of this.#active) {
      // Ids of runs may hold a slash themselves.
      if (key.startsWith(id) && key.lastIndexOf("/") === id.length) abort.abort(closed);
    }
  }

  async #answer(id: string, step: number, open: OpenAsk, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock } = this.#options;
    const { ask } = open;
    if (ask.kind === "timer") {
      await clock.sleep(Math.max(0, ask.due - clock.now()), signal);
      if (!signal.aborted)
        await door.submit(id, { type: "answer", at: clock.now(), step, outcome: { ok: true, value: null } });
    } else if (ask.kind === "model") await this.#model(id, step, ask, run, signal);
    else if (ask.kind === "tool") await this.#tool(id, step, { ...open, ask }, run, signal);
    else if (ask.kind === "agent") await this.#agent({ id, step, ask, run });
    else if (ask.kind === "reply") {
      await this.#agents.reply(ask.to, ask.outcome);
      await this.#settle(id, step);
    } else if (ask.kind === "stop") {
      await this.#agents.stop(id, ask.child);
      await this.#settle(id, step);
    }
  }

  /** What a run owes others is paid, and that is all its answer says. */
  async #settle(id: string, step: number): Promise<void> {
    const { door, clock } = this.#options;
    await door.submit(id, { type: "answer", at: clock.now(), step, outcome: { ok: true, value: null } });
  }

  /** The call stays open until its child has ended; here the child is started, or taken up again. */
  async #agent(call: AgentCall): Promise<void> {
    const { door, clock } = this.#options;
    const { id, step, ask } = call;
    const outcome = await this.#agents.start(call);
    if (outcome === undefined) return this.#recoverChild(childOf(id, step));
    await door.submit(id, { type: "answer", at: clock.now(), step, outcome, tool: ask.tool });
  }

  async #recoverChild(child: string): Promise<void> {
    const run = await this.#options.door.latest(child);
    if (run === undefined || this.#stopped) return;
    await this.recover(child, run);
    // A process that died may not have told the caller.
    this.#tellParent(child, run);
  }

  /** S43: whoever called an agent that waits for a person waits with it. */
  #tellParent(id: string, run: Run): void {
    const { parent } = run;
    if (parent === null || run.final !== null || this.#stopped) return;
    const status = statusOf(run) === "waiting" ? "waiting" : "running";
    if (this.#told.get(id) === status) return;
    this.#told.set(id, status);
    this.#agents.tell(parent, status).catch((error: unknown) => this.#options.failed(id, error));
  }

  async #model(id: string, step: number, ask: ModelAsk, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock, portsOf } = this.#options;
    const { model } = await portsOf(id, run);
    const program = await door.program(run.digest);
    const request = modelRequest(program, run, ask);
    const context = this.#context(id, step, run, ask.nth, signal);
    const whole = guardsOutput(must(program.prompts[run.prompt], "the run's prompt exists"));
    const outcome = await this.#attempts(signal, "safe", async (attempt): Promise<Outcome> => {
      const stream = whole ? undefined : this.#stream(id, step, attempt);
      const delta = stream && ((text: string) => stream.add(text));
      const reply = await model.call(request, { ...context, attempt, ...(delta !== undefined && { delta }) });
      stream?.end();
      return { ok: true, value: reply as never };
    });
    if (outcome === undefined) return;
    await door.submit(id, { type: "answer", at: clock.now(), step, outcome, hash: hashOf(request) });
  }

  /** Where somebody watches, what they see of an answer as it comes. */
  #stream(run: string, step: number, attempt: number): Pick<CleanStream, "add" | "end"> | undefined {
    const { onDelta, redaction } = this.#options;
    if (onDelta === undefined) return undefined;
    const show = (text: string) => onDelta({ run, step, attempt, text });
    return redaction === undefined ? { add: show, end: () => {} } : new CleanStream(redaction, show);
  }

  async #tool(
    id: string,
    step: number,
    { ask, sent, later }: OpenAsk & { readonly ask: CallAsk },
    run: Run,
    signal: AbortSignal,
  ): Promise<void> {
    const { door, clock, portsOf } = this.#options;
    const { tools } = await portsOf(id, run);
    // S46: only what is noted as sent can be in doubt. Safe calls need no note, and most calls are safe.
    const safe = await this.#isSafe(run, ask.tool, tools);
    if (sent !== true && !safe) {
      const noted = await door.submit(id, { type: "sent", at: clock.now(), step });
      if (noted.kind !== "done" || noted.run.open[step] === undefined || signal.aborted) return;
    }
    const { handle, input } = later ?? {};
    const context: CallContext = {
      ...this.#context(id, step, run, ask.nth, signal),
      ...(handle !== undefined && { handle }),
      ...(input !== undefined && { input }),
    };
    const repeats = safe || later?.looks === true ? "safe" : "unsafe";
    const answer = await this.#attempts(signal, repeats, (attempt) =>
      tools.call(ask.tool, ask.args, { ...context, attempt }),
    );
    if (answer === undefined) return;
    const at = clock.now();
    if (answer === "unknown") await door.submit(id, { type: "hold", at, step, hold: "in_doubt" });
    else if ("deferred" in answer) {
      const { deferred: _deferred, ...rest } = answer;
      await door.submit(id, { type: "hold", at, step, hold: "deferred", ...rest });
    } else await door.submit(id, { type: "answer", at, step, outcome: answer, tool: ask.tool });
  }

  /** S46: by what the pack says of the tool, or by its binding. */
  async #isSafe(run: Run, tool: string, tools: ToolPort): Promise<boolean> {
    if (tools.isSafe(tool)) return true;
    const program = await this.#options.door.program(run.digest);
    const known = Object.hasOwn(program.tools, tool) ? program.tools[tool] : undefined;
    return known?.actionScope["effect"] === "read";
  }

  #context(id: string, step: number, run: Run, nth: number, signal: AbortSignal): CallContext {
    const state = run.state ?? run.prompt;
    return { run: id, step, key: `${id}/${step}`, attempt: 1, signal, state, prompt: run.prompt, nth };
  }

  /**
   * S47: faults of the way there are tried again with growing pauses, then become an error outcome. Where an
   * unsafe call may have been carried out, that is all that can be said (S46).
   */
  async #attempts<T, R extends "safe" | "unsafe">(
    signal: AbortSignal,
    repeats: R,
    call: (attempt: number) => Promise<T>,
  ): Promise<T | Failed | (R extends "unsafe" ? "unknown" : never) | undefined> {
    const { retry, clock } = this.#options;
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) return undefined;
      try {
        const outcome = await call(attempt);
        return signal.aborted ? undefined : outcome;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof Fault)) return { ok: false, code: "tool_error", message: messageOf(error) };
        if (error.retry === "unknown" && repeats === "unsafe") return "unknown" as never;
        if (error.retry === "never" || attempt >= retry.attempts)
          return { ok: false, code: error.code, message: error.message };
        await clock.sleep(backoffMs(retry, attempt, error.afterMs), signal);
      }
    }
  }
}

/** Why a call is given up. Made once: an error for every step costs more than deciding the step. */
const closed = new DOMException("the step was closed", "AbortError");

type Failed = Extract<Outcome, { readonly ok: false }>;

/** As `requestHash` of core, by the faster library. */
const hashOf = (request: ModelRequest): string =>
  hash("sha256", requestText(request), "hex").slice(0, HASH_LENGTH);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
