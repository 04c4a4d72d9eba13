// Every fact of a turn against the books: I3 to I6 and the rules of semantics.md that a journal can show.

import { createHash } from "node:crypto";
import { canonical } from "../../src/base/json.ts";
import type {
  Answered,
  Ask,
  CallAsk,
  Entered,
  Fact,
  Finished,
  Limits,
  ModelReply,
  TurnRow,
} from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import type { Program, PromptSpec, StateSpec } from "../../src/core/program.ts";
import { singlePromptLimits, type VisitLimits, visitLimits } from "../../src/core/visit-limits.ts";
import { Books } from "./books.ts";
import { checkHeld, checkNote, checkPack, checkWaker, checkWakers } from "./call-check.ts";
import { claim } from "./claim.ts";
import { expectedReply, offered, stateOf } from "./expected.ts";
import { checkGrant, checkModelFits, checkStalled, usedFor } from "./spending-check.ts";

/** Checks the turn and enters it in the books. */
export function checkTurn(books: Books, program: Program, row: TurnRow, input: Input): void {
  const expected = expectedReply(books, program, input);
  claim(expected === "facts", `a turn was made of an input that should be ${expected}`);
  new TurnCheck(books, program, row, input).run();
}

/** The books of a fork: those of its origin at the cut, then its own first turn. */
export function checkFork(
  prefix: readonly TurnRow[],
  { before, after }: { readonly before: Program; readonly after: Program },
  row: TurnRow,
  edit: Input,
): Books {
  const books = new Books();
  for (const one of prefix) {
    books.advance(one);
    for (const fact of one.facts) books.enter(fact, argsOf);
  }
  const [forked] = row.facts;
  claim(forked?.type === "forked", "a fork does not say that it is one");
  claim(forked.pack !== undefined || before === after, "S3: another pack is not said");
  if (forked.pack !== undefined) checkPack(books, { before, after }, forked.pack);
  new TurnCheck(books, after, row, edit).run();
  return books;
}

class TurnCheck {
  readonly #books: Books;
  readonly #program: Program;
  readonly #row: TurnRow;
  readonly #input: Input;
  /** Steps of agents that are no longer waited for and must be stopped (S43). */
  readonly #stops = new Set<string>();
  #owesReply = false;
  #modelStep = 0;

  constructor(books: Books, program: Program, row: TurnRow, input: Input) {
    this.#books = books;
    this.#program = program;
    this.#row = row;
    this.#input = input;
  }

  run(): void {
    const books = this.#books;
    claim(this.#row.turn === books.turn + 1, "I3: turns have gaps");
    claim(this.#row.at >= books.at, "time goes back");
    claim(this.#row.facts.length > 0, "a turn without facts");
    books.advance(this.#row);
    for (const fact of this.#row.facts) {
      this.#fact(fact);
      books.enter(fact, argsOf);
    }
    claim(this.#stops.size === 0, `S43: agents ${[...this.#stops].join()} were left running`);
    claim(!this.#owesReply, "S43: the parent hears nothing");
    this.#afterwards();
  }

  #fact(fact: Fact): void {
    switch (fact.type) {
      case "started":
        return this.#started(fact.limits);
      case "entered":
        return this.#entered(fact);
      case "asked":
        claim(fact.step === this.#books.step + 1, "I3: steps have gaps");
        return this.#asked(fact.ask);
      case "answered":
        return this.#answered(fact);
      case "finished":
        return this.#finished(fact);
      case "wrote": {
        const { source } = fact;
        if (source.kind === "model") claim(source.step === this.#modelStep, "a write names another step");
        if (source.kind === "tool")
          claim(
            this.#input.type === "answer" && source.step === this.#input.step,
            "a write names another step",
          );
        return;
      }
      case "noted":
        if (fact.what === "dedupe") claim(!this.#books.dedupe.has(fact.key), "S30: one key was taken twice");
        if ("step" in fact) checkNote(this.#books, fact, this.#input);
        if (fact.what === "held" || fact.what === "unheld") checkHeld(this.#books, fact, this.#input);
        return;
      default:
    }
  }

  /** S13: the pack's limits, tightened by the caller. */
  #started(limits: Limits): void {
    const budget = this.#program.workflow?.budget;
    const given = this.#input.type === "start" ? (this.#input.limits ?? {}) : {};
    const wall = budget?.wallTimeSec ?? null;
    claim(limits.visits === (given.visits ?? budget?.visitsMax ?? null), "the visit budget is dropped");
    claim(
      limits.toolCalls === (given.toolCalls ?? budget?.toolCallsMax ?? null),
      "the call budget is dropped",
    );
    claim(limits.modelCalls === (given.modelCalls ?? budget?.modelCallsMax ?? null), "a budget is dropped");
    claim(limits.wallMs === (given.wallMs ?? (wall === null ? null : wall * 1000)), "the time is dropped");
  }

  #entered(fact: Entered): void {
    const books = this.#books;
    const { cause } = fact;
    claim(books.final === null, "I4: a finished run moves");
    const { visits } = this.#limits;
    claim(visits === null || books.used.visits < visits, "I5: more visits than the budget allows");
    const left = [...books.open.values()].filter(({ ask }) => !["timer", "stop"].includes(ask.kind));
    claim(left.length === 0, `an ask is left open when the run moves: ${left[0]?.ask.kind}`);
    claim(!books.isOverTime, "S12: the run moves on after its time");
    const target =
      cause.kind === "entry" ? this.#entry() : stateOf(books, this.#program)?.events[cause.event];
    if (cause.kind === "event") claim(cause.from === books.state, "a transition from another state");
    const { end, hops } = redirected(books, this.#program, target ?? "");
    claim(fact.state === end, `S7: entered ${fact.state}, the rules say ${end ?? "the end"}`);
    claim(fact.visit === books.visitsOf(fact.state) + 1, "S6: a visit is miscounted");
    const said = cause.kind === "event" ? (cause.hops ?? []) : hops;
    claim(said.join() === hops.join(), `S7: hops ${said.join()} instead of ${hops.join()}`);
    const outside = cause.kind === "event" && cause.by !== undefined;
    claim(outside === (this.#input.type === "event"), "who moved the run is wrong");
  }

  #entry(): string | undefined {
    const { workflow } = this.#program;
    return (this.#input.type === "start" ? this.#input.state : undefined) ?? workflow?.entry;
  }

  #asked(ask: Ask): void {
    const books = this.#books;
    if (books.final !== null) {
      claim(ask.kind === "reply" || ask.kind === "stop", `I4: a finished run asks ${ask.kind}`);
    }
    switch (ask.kind) {
      case "model":
        return this.#askedModel(ask.part);
      case "tool":
      case "agent":
        return this.#askedCall(ask);
      case "approval": {
        claim(books.started?.gated.includes(ask.tool) ?? false, "S31: approval of a tool that is not gated");
        const sha256 = createHash("sha256").update(canonical(ask.args)).digest("hex");
        claim(ask.sha256 === sha256, "S31: the hash is of something else");
        return;
      }
      case "event": {
        const events = Object.keys(stateOf(books, this.#program)?.events ?? {});
        claim(ask.allow.join() === events.join(), "the run waits for events it does not have");
        claim(books.openOf("event").length === 0, "the run waits twice for an event");
        return;
      }
      case "timer":
        return this.#askedTimer(ask);
      case "stop":
        this.#stops.delete(ask.child);
        return;
      case "reply":
        claim(this.#owesReply, "S52: a reply that nobody waits for");
        this.#owesReply = false;
        return;
      default:
    }
  }

  #askedModel(part: string | undefined): void {
    const books = this.#books;
    const { spell } = books;
    // Parts of a composition may work side by side.
    const own = books.openOf("model", "tool", "agent", "approval").filter(([, { ask }]) => {
      return part === undefined || ("part" in ask && ask.part === part);
    });
    claim(own.length === 0, "a model is asked amid other work");
    claim(!books.scheduled, "S18: a model is asked although the run moves on");
    claim(!books.isOverTime, "S12: a model is asked after the run's time");
    checkModelFits(books, this.#limits);
    const { modelCalls } = this.#spellLimits();
    claim(spell.modelCalls < modelCalls, `I5: more than ${modelCalls} model calls in one visit`);
  }

  #askedCall(ask: CallAsk): void {
    const books = this.#books;
    const { call, tool, args, part } = ask;
    checkGrant(books, this.#limits, ask);
    const { toolCalls } = this.#limits;
    claim(toolCalls === null || books.used.toolCalls < toolCalls, "I5: too many tool calls");
    const most = this.#spellLimits().toolCalls;
    claim(books.spell.toolCalls < most, `I5: more than ${most} tool calls in one visit`);
    claim(!books.asked.has(call), "G5: a call is asked again");
    claim(!books.isOverTime, "S12: a tool is asked after the run's time");
    claim(offered(this.#program, this.#books, part).includes(tool), "S48: a tool that was not offered");
    if (books.started?.gated.includes(tool))
      claim(books.approved.get(call) === canonical(args), "S31: what runs is not what was approved");
  }

  #askedTimer({ due, wakes }: Extract<Ask, { kind: "timer" }>): void {
    if (wakes !== undefined) return checkWaker(this.#books, { due, wakes }, this.#input);
    claim(this.#books.wallTimers.length === 0, "two timers");
    claim(due === this.#due(), `S12: the timer is due at ${due}, not ${this.#due()}`);
  }

  /** When the run's time is over, if it goes on as it does now. */
  #due(): number {
    const { started, at, activeMs, startedAt } = this.#books;
    const wallMs = this.#limits.wallMs ?? Number.NaN;
    return started?.wallClock === "active" ? at + wallMs - activeMs : startedAt + wallMs;
  }

  #answered(fact: Answered): void {
    const open = this.#books.open.get(fact.step);
    claim(open !== undefined, "I3: an answer to a step that is not open");
    const { ask } = open;
    const input = this.#input;
    if (ask.kind === "model") this.#modelStep = fact.step;
    if (!fact.outcome.ok && fact.outcome.code === "abandoned") {
      const isWork = ["model", "tool", "agent", "approval"].includes(ask.kind);
      claim(!isWork || input.type === "event", `S18: ${ask.kind} is dropped by ${input.type}`);
      if (ask.kind === "agent") this.#stops.add(String(fact.step));
      return;
    }
    const named = input.type === "answer" || input.type === "approve" || input.type === "reject";
    const isOfStop = input.type === "answer" && ask.kind === "stop" && ask.child === String(input.step);
    claim(named && (input.step === fact.step || isOfStop), "an answer that nobody gave");
    const isInput = open.asked && open.hold === "deferred" && fact.outcome.ok;
    claim(!isInput, "the answer to a question is taken for a result");
  }

  #finished(fact: Finished): void {
    const books = this.#books;
    claim(books.final === null, "I4: finished twice");
    for (const [step] of books.openOf("agent")) this.#stops.add(String(step));
    for (const [, { ask }] of books.openOf("stop")) if (ask.kind === "stop") this.#stops.add(ask.child);
    this.#owesReply = books.started?.parent !== null;
    const state = stateOf(books, this.#program);
    switch (fact.status) {
      case "completed":
        claim(state?.terminal ?? true, "S8: completed in a state that is not terminal");
        claim(!books.isOverTime, "S12: completed after the run's time");
        return;
      case "cancelled":
        claim(this.#input.type === "cancel" || isGivenUp(this.#input), "cancelled by nobody");
        return;
      case "failed":
        claim(
          this.#input.type === "abort" || this.#input.type === "answer" || isComposing(state),
          "failed without a cause",
        );
        return;
      case "budget_exhausted":
        claim(this.#isExhausted(fact), `S15: ${fact.reason?.limit ?? "no limit"} was not reached`);
    }
  }

  #isExhausted({ reason }: Finished): boolean {
    const { used, lastUsage, forked } = this.#books;
    const limits = this.#limits;
    const calls = 1 + this.#books.openOf("model").length;
    // A fork may find itself beyond the limits of another pack.
    const isReached = (count: number, limit: number | null) =>
      limit !== null && (forked ? count >= limit : count === limit);
    const isDearer = (kind: "inputTokens" | "outputTokens" | "costUsd") =>
      usedFor(this.#books, kind) + calls * lastUsage[kind] > (limits[kind] ?? Infinity);
    switch (reason?.limit) {
      case "max_visits": {
        const max = this.#program.workflow?.states[reason.state ?? ""]?.maxVisits ?? null;
        return max === reason.value && this.#books.visitsOf(reason.state ?? "") === max;
      }
      case "max_total_visits":
        return isReached(used.visits, limits.visits);
      case "max_tool_calls": {
        const { outcome } = this.#input as Extract<Input, { type: "answer" }>;
        const reply = outcome?.ok ? (outcome.value as unknown as Partial<ModelReply> | null) : undefined;
        const pack = reply?.calls?.filter(({ tool }) => !tool.startsWith("workflow__")) ?? [];
        // A step of a composition calls its tool without a model.
        const more = isComposing(stateOf(this.#books, this.#program)) ? 1 : 0;
        const promised = this.#books.openOf("approval").length;
        return used.toolCalls + promised + Math.max(pack.length, more) > (limits.toolCalls ?? Infinity);
      }
      case "max_wall_time_sec":
        return this.#books.isOverTime;
      case "max_model_calls":
        return isReached(usedFor(this.#books, "modelCalls"), limits.modelCalls);
      case "max_input_tokens":
        return isDearer("inputTokens");
      case "max_output_tokens":
        return isDearer("outputTokens");
      case "max_cost_usd":
        return isDearer("costUsd");
      default:
        return false;
    }
  }

  #afterwards(): void {
    const books = this.#books;
    if (books.final !== null) {
      const odd = [...books.open.values()].find(({ ask }) => ask.kind !== "reply" && ask.kind !== "stop");
      claim(odd === undefined, `I4: a finished run has ${odd?.ask.kind} open`);
      return;
    }
    const waits = [...books.open.values()].some(({ ask }) => !["timer", "reply", "stop"].includes(ask.kind));
    claim(waits || books.hasWork, "I6: the run waits for nothing");
    checkStalled(books, this.#limits);
    const input = this.#input;
    if (input.type === "event" && input.dedupeKey !== undefined)
      claim(books.dedupe.has(input.dedupeKey), "S30: the key of an event is not remembered");
    checkWakers(books);
    const acts = ["answer", "event", "approve", "reject", "message", "sent", "pause", "unpause"].includes(
      input.type,
    );
    claim(!acts || !books.isOverTime || this.#isOwed(), "S12: the run goes on after its time");
    const timed = this.#limits.wallMs !== null && (books.started?.wallClock === "total" || books.running);
    const timers = books.wallTimers;
    claim(timers.length === (timed ? 1 : 0), `S12: ${timers.length} timers while ${books.status}`);
    claim(!timed || timers[0] === this.#due(), `S12: the timer is due at ${timers[0]}, not ${this.#due()}`);
  }

  /** The runtime's own bookkeeping is recorded at any time. */
  #isOwed(): boolean {
    return this.#row.facts.length === 1 && this.#row.facts[0]?.type === "answered";
  }

  get #limits(): Limits {
    const { started } = this.#books;
    claim(started !== null, "a turn before the start");
    return started.limits;
  }

  get #prompt(): PromptSpec {
    const prompt = this.#program.prompts[this.#books.prompt];
    claim(prompt !== undefined, "no prompt");
    return prompt;
  }

  /** What one visit may spend; a message into an external state brings one model's turn (S27). */
  #spellLimits(): VisitLimits {
    const { state, spell } = this.#books;
    if (state === null) return singlePromptLimits(this.#prompt);
    const spec = this.#program.workflow?.states[state] as StateSpec;
    if (spec.orchestration !== "external") return visitLimits(this.#program, state);
    if (!spell.spokenTo) return { modelCalls: 0, toolCalls: 0 };
    return { modelCalls: this.#prompt.roundsMax + 1, toolCalls: this.#prompt.callsPerTurnMax };
  }
}

const isGivenUp = (input: Input): boolean => input.type === "start" && input.cancelled !== undefined;

const isComposing = (state: StateSpec | undefined): boolean => state?.orchestration === "composition";

const argsOf = (ask: Ask): string => (ask.kind === "approval" ? canonical(ask.args) : "");

/** S7, as plainly as it can be said. */
function redirected(books: Books, program: Program, target: string) {
  const hops: string[] = [];
  let end: string | undefined = target;
  while (end !== undefined) {
    const spec: StateSpec | undefined = program.workflow?.states[end];
    if (books.visitsOf(end) < (spec?.maxVisits ?? Infinity)) break;
    hops.push(end);
    const next: string | null = spec?.onMaxVisits ?? null;
    end = next === null || hops.includes(next) ? undefined : next;
  }
  return { end, hops };
}
