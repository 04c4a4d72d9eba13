// One decision in progress: each recorded fact is folded at once, so the next rule sees it.

import { must } from "../base/assert.ts";
import type { Json } from "../base/json.ts";
import { type Draft, draftOf, passTime, take } from "./apply.ts";
import { writeArtifact } from "./artifact-write.ts";
import type {
  Ask,
  CallAsk,
  Cause,
  EndCause,
  Fact,
  FinalStatus,
  Outcome,
  Reason,
  WriteSource,
} from "./facts.ts";
import { type Flow, type FlowState, flowOf, NONE, resolveEntry } from "./flow.ts";
import { unfitModelCall } from "./grant.ts";
import { partOf } from "./part-fold.ts";
import type { Program, PromptSpec, StateSpec } from "./program.ts";
import { askerOf, isWallTimer, type OpenAsk, type Run, statusOf } from "./run.ts";
import { artifactsOf } from "./summary.ts";

const flows = new WeakMap<Program, Flow>();

export class Turn {
  readonly facts: Fact[] = [];
  readonly program: Program;
  readonly #draft: Draft;

  constructor(program: Program, run: Run, at: number) {
    this.program = program;
    this.#draft = draftOf(run);
    passTime(this.#draft, at);
  }

  /** The run with everything recorded so far. It changes with the next fact: keep its fields, not the run. */
  get run(): Run {
    return this.#draft;
  }

  record(fact: Fact): void {
    this.facts.push(fact);
    take(this.#draft, fact);
  }

  ask(ask: Ask): void {
    this.record({ type: "asked", step: this.run.step + 1, ask });
  }

  /** The present state, or null in a pack without a workflow. */
  get state(): StateSpec | null {
    const { workflow } = this.program;
    return workflow === null || this.run.state === null
      ? null
      : must(workflow.states[this.run.state], "the run's state exists");
  }

  get prompt(): PromptSpec {
    return must(this.program.prompts[this.run.prompt], "the run's prompt exists");
  }

  get events(): readonly string[] {
    return Object.keys(this.state?.events ?? {});
  }

  get isTerminal(): boolean {
    return this.state?.terminal ?? true;
  }

  /** S7, S10: redirects, then the budget, then the visit. */
  enter(target: string, cause: Cause, context: string): void {
    const flow = this.#flow();
    const hops: number[] = [];
    const counts = flow.states.map((state) => this.#visitsOf(state.name));
    const index = resolveEntry(
      flow,
      flow.states.findIndex((state) => state.name === target),
      counts,
      hops,
    );
    const names = hops.map((hop) => (flow.states[hop] as FlowState).name);
    if (index === NONE) return this.#exhaustedAt(flow.states[hops.at(-1) as number] as FlowState, cause);
    const { visits } = this.run.limits;
    if (visits !== null && this.run.used.visits >= visits)
      return this.exhaust("max_total_visits", visits, { cause });
    const { name } = flow.states[index] as FlowState;
    const spec = must(this.program.workflow?.states[name], "an entered state exists");
    this.record({
      type: "entered",
      state: name,
      visit: this.#visitsOf(name) + 1,
      prompt: spec.promptTask ?? "",
      cause: cause.kind === "event" && names.length > 0 ? { ...cause, hops: names } : cause,
      fresh: !spec.persistent,
      context,
    });
    return undefined;
  }

  /** S11–S13: asks a model unless a limit says no. */
  askModel(tools: boolean, part?: string): void {
    if (this.overTime()) return;
    const unfit = unfitModelCall(this.run);
    if (unfit?.isPromised === false) return this.exhaust(unfit.limit, unfit.max);
    if (unfit !== undefined) return this.#stall(tools, part);
    const key = askerOf(this.run, part);
    const nth = Object.hasOwn(this.run.asksByState, key) ? (this.run.asksByState[key] as number) : 0;
    if (part === undefined) return this.ask({ kind: "model", round: this.run.round + 1, nth, tools });
    const { round } = must(partOf(this.run.composing, part), "a part that asks has begun");
    return this.ask({ kind: "model", round: round + 1, nth, tools, part });
  }

  /** What is granted to agents may come back: until then the question waits. */
  #stall(tools: boolean, part: string | undefined): void {
    if (this.run.stalled?.some((one) => one.part === part) === true) return;
    this.record({ type: "noted", what: "stalled", tools, ...(part !== undefined && { part }) });
  }

  /** Questions that waited for what agents bring back: what fits is asked, what never will ends the run. */
  askStalled(): void {
    for (const { tools, part } of this.run.stalled ?? [])
      if (this.run.final === null) this.askModel(tools, part);
  }

  /** S12: true when the run's time is over, which ends it. */
  overTime(): boolean {
    const { limits, now, startedAt, used, wallClock } = this.run;
    if (limits.wallMs === null || this.run.final !== null) return this.run.final !== null;
    const spent = wallClock === "active" ? used.activeMs : now - startedAt;
    if (spent < limits.wallMs) return false;
    this.exhaust("max_wall_time_sec", limits.wallMs / 1000);
    return true;
  }

  /** S15: names the limit, its value and the state. */
  exhaust(limit: string, value: number, at: { state?: string; cause?: Cause } = {}): void {
    const state = at.state ?? this.run.state;
    const reason: Reason = { code: limit, limit, value, ...(state !== null && { state }) };
    this.finish("budget_exhausted", reason, at.cause);
  }

  finish(status: FinalStatus, reason: Reason | null, cause?: EndCause): void {
    const { parent, open, lastText } = this.run;
    this.record({ type: "finished", status, reason, text: lastText, ...(cause !== undefined && { cause }) });
    for (const [step, one] of Object.entries(open)) {
      const { ask } = one;
      if (ask.kind === "agent") this.ask({ kind: "stop", child: step });
      // The end closes everything, and this one is still owed.
      else if (ask.kind === "stop") this.ask(ask);
      else this.stopRemote(step, one);
    }
    if (parent !== null) this.ask({ kind: "reply", to: parent, outcome: this.#reply(status, reason) });
  }

  write(artifact: string, value: Json, source: WriteSource): string | undefined {
    const write = writeArtifact(this.program, this.state, { artifact, value, source });
    if (!write.ok) return write.message;
    this.record(write.fact);
    return undefined;
  }

  /** Closes what is open and will not be waited for any more; late answers are ignored by `decide`. */
  abandon(which: (open: OpenAsk) => boolean): void {
    for (const [step, open] of Object.entries(this.run.open)) {
      if (!which(open)) continue;
      const outcome: Outcome = { ok: false, code: "abandoned", message: "no longer needed" };
      this.record({ type: "answered", step: Number(step), outcome });
      if (open.ask.kind === "agent") this.stopAgent(step, open.ask);
      else this.stopRemote(step, open);
    }
  }

  /** S43: an agent whose call was closed works for nobody; what it has spent is known when it has stopped. */
  stopAgent(step: string, { grant }: CallAsk): void {
    this.ask({ kind: "stop", child: step, ...(grant !== undefined && { grant }) });
  }

  /** What a tool has going elsewhere for this call works for nobody from now on. */
  stopRemote(step: string, { ask, later }: OpenAsk): void {
    if (ask.kind !== "tool" || later?.stoppable !== true) return;
    this.ask({ kind: "stop", child: step, remote: { tool: ask.tool, handle: later.handle ?? null } });
  }

  /** A timer that wakes a call goes with it. */
  dropWakers(): void {
    const { open } = this.run;
    this.abandon(({ ask }) => {
      return ask.kind === "timer" && ask.wakes !== undefined && open[ask.wakes]?.later?.wakes !== true;
    });
  }

  /** The wall-time timer: always armed under `total`, only while running under `active` (S12). */
  armTimer(): void {
    const { limits, wallClock, now, startedAt, used, final } = this.run;
    if (limits.wallMs === null || final !== null) return;
    const armed = Object.values(this.run.open).some(isWallTimer);
    const wanted = wallClock === "total" || statusOf(this.run) === "running";
    if (armed && !wanted) this.abandon(isWallTimer);
    if (armed || !wanted) return;
    const due = wallClock === "total" ? startedAt + limits.wallMs : now + limits.wallMs - used.activeMs;
    this.ask({ kind: "timer", due });
  }

  #exhaustedAt(state: FlowState, cause: Cause): void {
    this.exhaust("max_visits", state.visitsMax, { state: state.name, cause });
  }

  #reply(status: FinalStatus, reason: Reason | null): Outcome {
    if (status === "completed") {
      const value = { status, response: this.run.lastText, artifacts: artifactsOf(this.run) };
      return { ok: true, value };
    }
    return {
      ok: false,
      code: reason?.code ?? status,
      message: reason?.message ?? `the agent's run ended ${status}`,
    };
  }

  #visitsOf(name: string): number {
    return Object.hasOwn(this.run.visits, name) ? (this.run.visits[name] as number) : 0;
  }

  #flow(): Flow {
    let flow = flows.get(this.program);
    if (flow === undefined) {
      flow = flowOf(this.program);
      flows.set(this.program, flow);
    }
    return flow;
  }
}
