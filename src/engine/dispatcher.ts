// Performs open asks: calls the adapter, then submits the answer. It holds no rules and no state that
// matters: what must be done is the list of open asks, so losing all of this loses nothing.

import { hash } from "node:crypto";
import type { Ask, CallAsk, ModelAsk, Outcome, RemoteWork, Spent, TurnRow } from "../core/facts.ts";
import { guardsOutput } from "../core/guard.ts";
import { keyPause } from "../core/missing-key.ts";
import { replyOutcome } from "../core/model-reply.ts";
import { promptNameOf, promptOf } from "../core/part-site.ts";
import { HASH_LENGTH, type ModelRequest, modelRequest, requestText } from "../core/request.ts";
import { emptyRun, type OpenAsk, type Run, treeUse } from "../core/run.ts";
import { type AgentCall, Agents, childOf } from "./agents.ts";
import { attempts } from "./attempts.ts";
import { shownStream } from "./clean-stream.ts";
import { isOwed, isStopping, owesReply } from "./debts.ts";
import type { DispatchOptions } from "./dispatch-options.ts";
import { HeldRuns, isHeldBack } from "./held-runs.ts";
import { leaves } from "./lease.ts";
import type { CallWatch, PlannedCall } from "./observer.ts";
import { type CallContext, stepClosed, type ToolPort } from "./ports.ts";

export type { RunPorts } from "./dispatch-options.ts";

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
  readonly #held = new HeldRuns();
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
    this.#held.see(id, run);
    for (const fact of row.facts) {
      if (fact.type === "asked") {
        const open = run.open[fact.step];
        if (open !== undefined) this.#perform(id, fact.step, open, run);
      } else if (fact.type === "noted" && (fact.what === "retried" || fact.what === "resumed")) {
        const open = run.open[fact.step];
        if (open !== undefined) this.#perform(id, fact.step, open, run);
      } else if (fact.type === "noted" && fact.what === "unheld") {
        this.#letGo(id, run);
      } else if (fact.type === "answered") {
        this.#active.get(`${id}/${fact.step}`)?.abort.abort(stepClosed);
        this.#active.get(`${id}/${fact.step}!`)?.abort.abort(stepClosed);
        if (run.final !== null) this.#replyNow(id, run);
      } else if (fact.type === "finished") {
        this.#abortAll(id);
        this.#agents.forget(id);
      }
    }
    if (!this.#stopped) this.#agents.news(id, run, row);
  }

  #letGo(id: string, run: Run): void {
    this.#agents.forgetAgents(id, run);
    if (this.#options.idle !== true && !this.#stopped)
      this.recover(id, run).catch((error: unknown) => this.#options.failed(id, error));
  }

  /**
   * Takes up a run after a crash: unsafe calls that have left are put in doubt, the rest is asked again.
   */
  async recover(id: string, run: Run, then?: (run: Run) => void): Promise<void> {
    if (!this.#isOurs(id)) return then?.(run);
    this.#held.see(id, run);
    const recovery = { id, run };
    const done = this.#watchedRecovery(recovery).then(() => then?.(recovery.run));
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
    if (await this.#agents.followed(id, run)) return;
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
    this.#held.close();
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
    if (isHeldBack(run, open.ask) || (kind === "reply" && isStopping(run))) return;
    if (this.#active.has(key) || (this.#options.idle === true ? !isOwing : !this.#isOurs(id))) return;
    const abort = new AbortController();
    const answer = () => this.#answer(id, step, open, run, abort.signal);
    const { slots } = this.#options;
    const done = (slots === undefined ? answer() : slots.within(kind, abort.signal, answer))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.#options.failed(id, error);
      })
      .finally(() => {
        if (this.#active.get(key)?.abort === abort) this.#active.delete(key);
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

  isBusy(id: string): boolean {
    for (const [key, { run }] of this.#active) if (run === id && !key.endsWith("!")) return true;
    return false;
  }

  /** Another process has taken the run: what is under way is left to it, in no way if the run is back. */
  drop(id: string): void {
    this.#abortAll(id, undefined);
    for (const [key, { run }] of this.#active) if (run === id) this.#active.delete(key);
    this.#agents.forget(id);
  }

  #isOurs(id: string): boolean {
    return this.#options.shared?.isOurs(id) ?? true;
  }

  async #answer(id: string, step: number, open: OpenAsk, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock } = this.#options;
    const { ask } = open;
    if (ask.kind === "timer") {
      // A sleep may end a moment early, and clocks are put right.
      while (!signal.aborted && clock.now() < ask.due) await clock.sleep(ask.due - clock.now(), signal);
      if (!signal.aborted)
        await door.submit(id, { type: "answer", at: clock.now(), step, outcome: { ok: true, value: null } });
    } else if (ask.kind === "model") await this.#model(id, step, ask, run, signal);
    else if (ask.kind === "tool") await this.#tool(id, step, { ...open, ask }, run, signal);
    else if (ask.kind === "agent") await this.#agent({ id, step, ask, run });
    else if (ask.kind === "reply") {
      await this.#agents.reply(ask.to, ask.outcome, run);
      await this.#settle(id, step);
    } else if (ask.kind === "stop") {
      if (ask.remote === undefined) return this.#stopChild(id, step, ask.child);
      await this.#stopRemote({ id, step, run }, ask.remote, signal);
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
    const context = { ...this.#context(id, step, run, { nth: 0 }, signal), handle };
    const terms = { ...this.#options, signal, repeats: "safe" as const };
    await attempts(terms, async (attempt) => tools.stop?.(tool, { ...context, ...attempt }));
  }

  /**
   * What a stopped agent has spent it says itself, when its own agents have said theirs. One that never was,
   * or has paid what it owes, says nothing any more.
   */
  async #stopChild(id: string, step: number, of: string): Promise<void> {
    const child = childOf(id, of);
    // Were it being started meanwhile, nobody would ever count what it spends.
    await this.#active.get(child)?.done;
    const run = await this.#agents.stopped(id, of);
    // A process that died may have stopped it and not paid.
    if (run !== undefined && owesReply(run)) await this.#options.shared?.claimOne(child);
    if (run !== undefined) this.takeOver(child, run);
    if (run === undefined || !owesReply(run)) await this.#settle(id, step, treeUse(run ?? emptyRun));
  }

  /** Its caller hears what a run came to once all that was called by it has stopped. */
  #replyNow(id: string, run: Run): void {
    for (const [step, open] of Object.entries(run.open))
      if (open.ask.kind === "reply") this.#perform(id, Number(step), open, run);
  }

  /** What a run owes others is paid, and that is all its answer says. */
  async #settle(id: string, step: number, spent?: Spent): Promise<void> {
    const { door, clock } = this.#options;
    const outcome: Outcome = { ok: true, value: null };
    await door.submit(id, { type: "answer", at: clock.now(), step, outcome, ...(spent && { spent }) });
  }

  /** The call stays open until its child has ended; here the child is started, or taken up again. */
  async #agent(call: AgentCall): Promise<void> {
    const { door, clock } = this.#options;
    const { id, step, ask } = call;
    const outcome = await this.#agents.start(call);
    if (outcome === undefined) return this.#recoverChild(childOf(id, step));
    const bill = ask.grant === undefined ? {} : { spent: treeUse(emptyRun) };
    await door.submit(id, { type: "answer", at: clock.now(), step, outcome, tool: ask.tool, ...bill });
  }

  async #recoverChild(child: string): Promise<void> {
    await this.#options.shared?.claimOne(child);
    const run = await this.#options.door.latest(child);
    if (run === undefined || this.#stopped) return;
    // A process that died may not have told the caller. The agent may have moved on meanwhile.
    await this.recover(child, run, (now) => void (this.#stopped || this.#agents.news(child, now)));
  }

  async #model(id: string, step: number, ask: ModelAsk, run: Run, signal: AbortSignal): Promise<void> {
    const { door, clock, portsOf } = this.#options;
    const { model } = await portsOf(id, run);
    const program = await door.program(run.digest);
    const request = modelRequest(program, run, ask);
    const context = this.#context(id, step, run, ask, signal);
    const whole = guardsOutput(promptOf(program, run, ask.part));
    const watch = this.#watch({ id, step, ask, run, request });
    const call = { signal, watch, leaves: this.#leaves(context, ask.kind) };
    const terms = { ...this.#options, ...call, repeats: "safe" as const };
    const outcome = await attempts(terms, async (attempt): Promise<Outcome> => {
      const stream = whole ? undefined : shownStream(this.#options, { run: id, step, ...attempt });
      const delta = stream && ((text: string) => stream.add(text));
      const reply = await model.call(request, { ...context, ...attempt, ...(delta && { delta }) });
      stream?.end();
      return replyOutcome(reply);
    });
    if (outcome === undefined) return;
    const answer = { type: "answer", at: clock.now(), step, outcome, hash: hashOf(request) } as const;
    await door.submit(id, keyPause(outcome, answer.at) ?? answer);
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
      if (signal.aborted) return;
      const noted = await door.submit(id, { type: "sent", at: clock.now(), step });
      if (noted.kind !== "done" || noted.run.open[step] === undefined || signal.aborted) return;
    }
    const { handle, input } = later ?? {};
    const context: CallContext = {
      ...this.#context(id, step, run, ask, signal),
      ...(handle !== undefined && { handle }),
      ...(input !== undefined && { input }),
    };
    const watch = this.#watch({ id, step, ask, run });
    const terms = { signal, repeats, watch, leaves: this.#leaves(context, ask.kind) } as const;
    const answer = await attempts({ ...this.#options, ...terms }, (attempt) =>
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

  #leaves(call: CallContext, kind: Ask["kind"]): () => Promise<boolean> {
    const terms = { slots: this.#options.slots, lease: leaves(this.#options, call) };
    return this.#held.leaves({ id: call.run, kind, signal: call.signal }, terms);
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

  #context(id: string, step: number, run: Run, asked: Asked, signal: AbortSignal): CallContext {
    const { nth, part } = asked;
    const place = { state: run.state ?? run.prompt, prompt: promptNameOf(run, part), nth };
    const key = `${id}/${step}`;
    return { run: id, step, key, attempt: 1, signal, ...place, ...(part !== undefined && { part }) };
  }
}

type Asked = Pick<ModelAsk | CallAsk, "nth" | "part">;

/** How long news to others may keep a process that stops. */
const OWED_MS = 3000;

/** As `requestHash` of core, by the faster library. */
const hashOf = (request: ModelRequest): string =>
  hash("sha256", requestText(request), "hex").slice(0, HASH_LENGTH);
