// Performs open asks: calls the adapter, then submits the answer. It holds no rules and no state that
// matters: what must be done is the list of open asks, so losing all of this loses nothing.

import { hash } from "node:crypto";
import { must } from "../base/assert.ts";
import type { Ask, CallAsk, ModelAsk, Outcome, RemoteWork, TurnRow } from "../core/facts.ts";
import { guardsOutput } from "../core/guard.ts";
import { HASH_LENGTH, type ModelRequest, modelRequest, requestText } from "../core/request.ts";
import type { OpenAsk, Run } from "../core/run.ts";
import { type AgentCall, Agents, childOf } from "./agents.ts";
import { attempts } from "./attempts.ts";
import type { RetryPolicy } from "./backoff.ts";
import { CleanStream } from "./clean-stream.ts";
import type { Door } from "./door.ts";
import type { CallWatch, EngineObserver, PlannedCall } from "./observer.ts";
import {
  type CallContext,
  type Clock,
  type Delta,
  type ModelPort,
  type SharedRuns,
  type Store,
  stepClosed,
  type ToolPort,
} from "./ports.ts";
import type { Redaction } from "./redaction.ts";
import type { Slots } from "./slots.ts";

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
  /** Only what runs owe each other is done, and what ended runs owe the world. */
  readonly idle?: boolean;
  /** Streamed text of a model's answer, as it comes. */
  readonly onDelta?: (delta: Delta) => void;
  /** What must not be shown. */
  readonly redaction?: Redaction | undefined;
  readonly observer?: EngineObserver | undefined;
  /** Where several processes drive runs: which are ours. */
  readonly shared?: SharedRuns | undefined;
  /** How many asks of a kind are performed at the same time; no limit for kinds that are not named. */
  readonly slots?: Slots | undefined;
  /** Something that no adapter may throw went wrong while performing a step. */
  readonly failed: (id: string, error: unknown) => void;
}

interface Active {
  readonly run: string;
  readonly step: number;
  readonly kind: Ask["kind"];
  /** Given up without harm: whoever takes the run up does it again. */
  readonly repeats: boolean;
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
  /** What is under way, by `run/step`. */
  readonly #active = new Map<string, Active>();
  readonly #idle = new Set<() => void>();
  readonly #recoveries = new Map<Recovery, Promise<void>>();
  /** Nothing new is begun but what runs owe each other, and then not even that. */
  #stopped = false;
  #closed = false;

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
        this.#active.get(`${id}/${fact.step}`)?.abort.abort(stepClosed);
        this.#active.get(`${id}/${fact.step}!`)?.abort.abort(stepClosed);
      } else if (fact.type === "finished") {
        this.#abortAll(id);
        this.#agents.forget(id);
      }
    }
    if (!this.#stopped) this.#agents.news(id, run);
  }

  /**
   * Takes up a run after a crash: unsafe calls that have left are put in doubt, the rest is asked again.
   */
  async recover(id: string, run: Run): Promise<void> {
    if (!this.#isOurs(id)) return;
    const recovery = { id, run };
    const done = this.#watchedRecovery(recovery);
    this.#recoveries.set(recovery, done);
    await done.finally(() => this.#recoveries.delete(recovery));
  }

  async #watchedRecovery(recovery: Recovery): Promise<void> {
    const { observer, door, clock } = this.#options;
    if (observer === undefined) return this.#recover(recovery);
    const program = await door.program(recovery.run.digest);
    const resumed = observer.resuming({ ...recovery, program, at: clock.now() });
    await this.#recover(recovery);
    resumed();
  }

  /** Others may speak to the run meanwhile, so every step is looked at anew after each wait. */
  async #recover(recovery: Recovery): Promise<void> {
    const { id, run } = recovery;
    const { door, clock, portsOf } = this.#options;
    // Another process may have closed steps whose calls are under way here.
    this.#abortAll(id, stepClosed, run.open);
    if (run.parent !== null && (await this.#agents.isForsaken(run)))
      return this.#agents.stop(run.parent.run, run.parent.step);
    const { tools } = await portsOf(id, run);
    for (const step of Object.keys(run.open).map(Number)) {
      const { ask, sent } = recovery.run.open[step] ?? {};
      // Calls that only look how they stand are never noted.
      const mayHaveLeft =
        ask?.kind === "tool" && sent === true && !(await this.#isSafe(run, ask.tool, tools));
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
    await this.#agents.heard();
    while ([...this.#active.keys()].some((key) => !key.endsWith("!"))) {
      await new Promise<void>((resolve) => this.#idle.add(resolve));
      await this.#agents.heard();
    }
  }

  /**
   * Stops taking work. A model is asked again at no harm, so its call is aborted; tools get `graceMs` to be
   * recorded.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    const limit = new AbortController();
    for (const { abort, repeats } of this.#active.values()) if (repeats) abort.abort();
    const all = Promise.all([...this.#active.values()].map(({ done }) => done));
    await Promise.race([all, this.#options.clock.sleep(graceMs, limit.signal)]);
    await this.#paid(limit.signal);
    this.#closed = true;
    limit.abort();
    for (const { abort } of this.#active.values()) abort.abort();
    await Promise.all([...this.#active.values()].map(({ done }) => done));
    await Promise.allSettled(this.#recoveries.values());
  }

  /** News that others wait for, and what they lead to, get a moment more when a run has ended. */
  async #paid(signal: AbortSignal): Promise<void> {
    const owed = () => [...this.#active.values()].filter(({ kind }) => kind === "stop" || kind === "reply");
    if (owed().length === 0) return;
    const over = this.#options.clock.sleep(OWED_MS, signal).then(() => true);
    while (owed().length > 0) {
      const paid = Promise.all(owed().map(({ done }) => done)).then(() => false);
      if (await Promise.race([paid, over])) return;
    }
  }

  #perform(id: string, step: number, open: OpenAsk, run: Run): void {
    const kind = open.ask.kind;
    if (open.hold !== null || kind === "event" || kind === "message" || kind === "approval") return;
    // Nobody waits for these to end: a timer is not work, and the world may never hear of an end.
    const isAside = kind === "timer" || (open.ask.kind === "stop" && open.ask.remote !== undefined);
    const key = `${id}/${step}${isAside ? "!" : ""}`;
    const isOwing = isOwed(open.ask, run);
    if (this.#closed || (this.#stopped && !isOwing)) return;
    if (this.#active.has(key) || (this.#options.idle === true ? !isOwing : !this.#isOurs(id))) return;
    const abort = new AbortController();
    const answer = () => this.#answer(id, step, open, run, abort.signal);
    const { slots } = this.#options;
    const done = (slots === undefined ? answer() : slots.within(kind, abort.signal, answer))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.#options.failed(id, error);
      })
      .finally(() => {
        this.#active.delete(key);
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      });
    const repeats = kind === "timer" || kind === "model" || open.later?.looks === true;
    this.#active.set(key, { run: id, step, abort, done, kind, repeats });
  }

  /** The end of a run closes whatever was open; what still is goes on. */
  #abortAll(id: string, reason: DOMException | undefined = stepClosed, open: Run["open"] = {}): void {
    for (const { run, step, abort } of this.#active.values())
      if (run === id && open[step] === undefined) abort.abort(reason);
  }

  /** Another process has taken the run: what is under way here is left to it. */
  drop(id: string): void {
    this.#abortAll(id, undefined);
    this.#agents.forget(id);
  }

  #isOurs(id: string): boolean {
    return this.#options.shared?.isOurs(id) ?? true;
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
      await this.#agents.reply(ask.to, ask.outcome, run);
      await this.#settle(id, step);
    } else if (ask.kind === "stop") {
      if (ask.remote === undefined) await this.#stopChild(id, ask.child);
      else await this.#stopRemote({ id, step, run }, ask.remote, signal);
      if (!signal.aborted) await this.#settle(id, step);
    }
  }

  /** Tried like any call; what cannot be reached then ends by itself some day. */
  async #stopRemote(
    { id, step, run }: { readonly id: string; readonly step: number; readonly run: Run },
    { tool, handle }: RemoteWork,
    signal: AbortSignal,
  ): Promise<void> {
    const { tools } = await this.#options.portsOf(id, run);
    const context = { ...this.#context(id, step, run, 0, signal), handle };
    const terms = { ...this.#options, signal, repeats: "safe" as const };
    await attempts(terms, async (attempt) => tools.stop?.(tool, { ...context, ...attempt }));
  }

  /** One that had ended already may still owe the end to agents of its own. */
  async #stopChild(id: string, step: string): Promise<void> {
    await this.#agents.stop(id, step);
    const child = childOf(id, step);
    const run = await this.#options.door.latest(child);
    if (run !== undefined && run.final !== null) this.takeOver(child, run);
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
    await this.#options.shared?.claimOne(child);
    const run = await this.#options.door.latest(child);
    if (run === undefined || this.#stopped) return;
    await this.recover(child, run);
    // A process that died may not have told the caller.
    if (!this.#stopped) this.#agents.news(child, run);
  }

  async #model(id: string, step: number, ask: ModelAsk, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock, portsOf } = this.#options;
    const { model } = await portsOf(id, run);
    const program = await door.program(run.digest);
    const request = modelRequest(program, run, ask);
    const context = this.#context(id, step, run, ask.nth, signal);
    const whole = guardsOutput(must(program.prompts[run.prompt], "the run's prompt exists"));
    const watch = this.#watch({ id, step, ask, run, request });
    const terms = { ...this.#options, signal, repeats: "safe" as const, watch };
    const outcome = await attempts(terms, async (attempt): Promise<Outcome> => {
      const stream = whole ? undefined : this.#stream(id, step, attempt.attempt);
      const delta = stream && ((text: string) => stream.add(text));
      const reply = await model.call(request, { ...context, ...attempt, ...(delta && { delta }) });
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
    const isSafe = later?.looks === true || (await this.#isSafe(run, ask.tool, tools));
    const repeats = isSafe ? "safe" : "unsafe";
    if (sent !== true && !isSafe) {
      const noted = await door.submit(id, { type: "sent", at: clock.now(), step });
      if (noted.kind !== "done" || noted.run.open[step] === undefined || signal.aborted) return;
    }
    const { handle, input } = later ?? {};
    const context: CallContext = {
      ...this.#context(id, step, run, ask.nth, signal),
      ...(handle !== undefined && { handle }),
      ...(input !== undefined && { input }),
    };
    const watch = this.#watch({ id, step, ask, run });
    const answer = await attempts({ ...this.#options, signal, repeats, watch }, (attempt) =>
      tools.call(ask.tool, ask.args, { ...context, ...attempt }),
    );
    if (answer === undefined) return;
    const at = clock.now();
    if (answer === "unknown") await door.submit(id, { type: "hold", at, step, hold: "in_doubt" });
    else if ("deferred" in answer) {
      const { deferred: _deferred, ...rest } = answer;
      await door.submit(id, { type: "hold", at, step, hold: "deferred", ...rest });
    } else await door.submit(id, { type: "answer", at, step, outcome: answer, tool: ask.tool });
  }

  #watch(call: Omit<PlannedCall, "attempt" | "at">): (attempt: number) => CallWatch | undefined {
    const { observer, clock } = this.#options;
    return (attempt) => observer?.call({ ...call, attempt, at: clock.now() });
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
}

/** How long news to others may keep a process that stops. */
const OWED_MS = 3000;

/** From one run to another, without the world between them; what has ended owes the world an end, too. */
const isOwed = (ask: Ask, { final }: Run): boolean =>
  ask.kind === "reply" || (ask.kind === "stop" && (ask.remote === undefined || final !== null));

/** As `requestHash` of core, by the faster library. */
const hashOf = (request: ModelRequest): string =>
  hash("sha256", requestText(request), "hex").slice(0, HASH_LENGTH);
