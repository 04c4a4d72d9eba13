// A second, independent account of a run, kept from the raw facts alone. It shares no code with the fold, so
// a mistake there shows as a difference.

import type { Json } from "../../src/base/json.ts";
import type {
  Ask,
  Fact,
  FinalStatus,
  ModelReply,
  Spent,
  Started,
  TurnRow,
  Usage,
} from "../../src/core/facts.ts";

export interface OpenEntry {
  readonly ask: Ask;
  hold: "in_doubt" | "deferred" | null;
  sent: boolean;
  /** Wakes by a timer of its own. */
  wakes: boolean;
  /** Has asked a person, now or before it was called again. */
  asked: boolean;
  /** The next call only looks how it stands. */
  looks: boolean;
  handle: Json | undefined;
  input: Json | undefined;
}

/** What one visit has spent since it began or somebody last spoke to it. */
export interface Spell {
  modelCalls: number;
  toolCalls: number;
  spokenTo: boolean;
}

const NOTHING: Spent = {
  visits: 0,
  toolCalls: 0,
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
};

type Note = Extract<Fact, { type: "noted" }>;

const performed: ReadonlySet<string> = new Set(["model", "tool", "agent"]);
const calls: ReadonlySet<string> = new Set(["tool", "agent", "approval"]);

export class Books {
  turn = 0;
  at = 0;
  startedAt = 0;
  activeMs = 0;
  started: Started | null = null;
  forked = false;
  /** Who holds it, if anybody does. */
  heldBy: string | undefined;
  final: FinalStatus | null = null;
  state: string | null = null;
  prompt = "";
  readonly open = new Map<number, OpenEntry>();
  step = 0;
  readonly visits = new Map<string, number>();
  readonly used = { ...NOTHING };
  /** What its agents have said they came to, and how much of it its origin had heard before the fork. */
  agents: Spent = NOTHING;
  inherited: Spent = NOTHING;
  /** Who waits to ask a model until agents bring something back: parts, or the visit itself. */
  readonly stalled = new Set<string | undefined>();
  lastUsage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  spell: Spell = { modelCalls: 0, toolCalls: 0, spokenTo: false };
  scheduled = false;
  readonly dedupe = new Set<string>();
  /** Calls that left, by the model's name for them. */
  readonly asked = new Set<string>();
  /** Everything that was ever asked. */
  readonly asks = new Map<number, Ask>();
  /** Calls noted as sent under this run's name. */
  readonly sent = new Set<number>();
  /** Calls that went on to look how they stand, which may be done as often as one likes. */
  readonly lookers = new Set<number>();
  /** How often a call was let go again: by a person, or because it had been deferred. */
  readonly again = new Map<number, number>();
  /** Arguments a person let pass, by call. */
  readonly approved = new Map<string, string>();
  entered = 0;

  get running(): boolean {
    return this.heldBy === undefined && this.hasWork;
  }

  /** There is something to do that the runtime does itself, once it may. */
  get hasWork(): boolean {
    if (this.final !== null) return false;
    // To stop an agent is waited for only where somebody needs what it brings back.
    if (this.stalled.size > 0 && this.openOf("stop").length > 0) return true;
    return this.#some(
      ({ ask, hold, wakes, asked }) =>
        performed.has(ask.kind) && (hold === null || (hold === "deferred" && wakes && !asked)),
    );
  }

  get openCalls(): boolean {
    return this.#some(({ ask }) => calls.has(ask.kind));
  }

  get status(): string {
    return this.final ?? (this.running ? "running" : "waiting");
  }

  openOf(...kinds: readonly Ask["kind"][]): readonly (readonly [number, OpenEntry])[] {
    return [...this.open].filter(([, { ask }]) => kinds.includes(ask.kind));
  }

  /** When the timers of the run's own time are due. */
  get wallTimers(): readonly number[] {
    return this.#timers((wakes) => wakes === undefined);
  }

  /** When the timers that wake a call are due. */
  wakersOf(step: number): readonly number[] {
    return this.#timers((wakes) => wakes === step);
  }

  visitsOf(state: string): number {
    return this.visits.get(state) ?? 0;
  }

  /** Wall time used, by the run's way of counting (S12). */
  get spentMs(): number {
    return this.started?.wallClock === "active" ? this.activeMs : this.at - this.startedAt;
  }

  get isOverTime(): boolean {
    const limit = this.started?.limits.wallMs ?? null;
    return limit !== null && this.spentMs >= limit;
  }

  /** Time passes up to the turn; what was running meanwhile was active. */
  advance(row: TurnRow): void {
    const [first] = row.facts;
    if (first?.type === "forked") return this.#fork(row, first);
    if (this.running) this.activeMs += row.at - this.at;
    this.at = row.at;
    this.turn = row.turn;
  }

  /** A copy goes on as its own run: later by the time nobody worked on it, and owing nothing to anybody. */
  #fork(row: TurnRow, { resetBudget, digest, pack }: Extract<Fact, { type: "forked" }>): void {
    const shift = row.at - this.at;
    this.at = row.at;
    this.turn = row.turn;
    this.forked = true;
    this.startedAt = resetBudget ? row.at : this.startedAt + shift;
    if (this.started !== null) this.started = { ...this.started, ...pack, digest, parent: null };
    this.inherited = this.agents;
    this.sent.clear();
    this.again.clear();
    for (const [step, entry] of this.open) {
      const { ask } = entry;
      if (ask.kind === "reply" || ask.kind === "stop") this.open.delete(step);
      else
        this.open.set(step, {
          ...entry,
          // The agent that is waited for is the origin's.
          hold: ask.kind === "agent" ? null : entry.hold,
          sent: false,
          ask: ask.kind === "timer" ? { ...ask, due: ask.due + shift } : ask,
        });
    }
    if (!resetBudget) return;
    this.activeMs = 0;
    Object.assign(this.used, NOTHING);
    this.agents = NOTHING;
    this.inherited = NOTHING;
  }

  enter(fact: Fact, canonicalArgs: (ask: Ask) => string): void {
    switch (fact.type) {
      case "started":
        this.started = fact;
        this.startedAt = this.at;
        this.prompt = fact.prompt;
        return;
      case "entered":
        this.state = fact.state;
        this.prompt = fact.prompt;
        this.visits.set(fact.state, this.visitsOf(fact.state) + 1);
        this.used.visits++;
        this.entered++;
        this.scheduled = false;
        this.stalled.clear();
        this.spell = { modelCalls: 0, toolCalls: 0, spokenTo: false };
        return;
      case "asked":
        return this.#ask(fact.step, fact.ask);
      case "answered":
        return this.#answer(fact, canonicalArgs);
      case "finished":
        this.final = fact.status;
        this.heldBy = undefined;
        this.stalled.clear();
        this.open.clear();
        return;
      case "noted":
        return this.#note(fact);
      default:
    }
  }

  #ask(step: number, ask: Ask): void {
    this.step = step;
    this.asks.set(step, ask);
    this.open.set(step, {
      ask,
      hold: null,
      sent: false,
      wakes: false,
      asked: false,
      looks: false,
      handle: undefined,
      input: undefined,
    });
    if (ask.kind === "model") {
      this.stalled.delete(ask.part);
      this.used.modelCalls++;
      this.spell.modelCalls++;
    } else if (ask.kind === "tool" || ask.kind === "agent") {
      this.used.toolCalls++;
      this.spell.toolCalls++;
      this.asked.add(ask.call);
    }
  }

  #answer(fact: Extract<Fact, { type: "answered" }>, canonicalArgs: (ask: Ask) => string): void {
    const ask = this.open.get(fact.step)?.ask;
    this.open.delete(fact.step);
    if (fact.spent !== undefined) this.agents = sumOf(this.agents, fact.spent);
    if (!fact.outcome.ok || ask === undefined) return;
    if (ask.kind === "approval" && fact.outcome.value === "approved")
      this.approved.set(ask.call, canonicalArgs(ask));
    if (ask.kind !== "model") return;
    const { usage } = fact.outcome.value as unknown as ModelReply;
    this.lastUsage = usage;
    this.used.inputTokens += usage.inputTokens;
    this.used.outputTokens += usage.outputTokens;
    this.used.costUsd += usage.costUsd;
  }

  #note(fact: Note): void {
    if (fact.what === "scheduled") this.scheduled = true;
    else if (fact.what === "stalled") this.stalled.add(fact.part);
    else if (fact.what === "dedupe") this.dedupe.add(fact.key);
    else if (fact.what === "held") this.heldBy = fact.by;
    else if (fact.what === "unheld") this.heldBy = undefined;
    else if (fact.what === "message") this.spell = { modelCalls: 0, toolCalls: 0, spokenTo: true };
    else if ("step" in fact) {
      const open = this.open.get(fact.step);
      if (open !== undefined) this.#call(open, fact);
    }
  }

  #call(open: OpenEntry, fact: Extract<Note, { step: number }>): void {
    switch (fact.what) {
      case "sent":
        open.sent = true;
        this.sent.add(fact.step);
        return;
      case "in_doubt":
        open.hold = "in_doubt";
        return;
      case "deferred":
        open.hold = "deferred";
        open.wakes = fact.wakes === true;
        open.asked = fact.question !== undefined;
        open.looks = fact.looks === true;
        if (open.looks) this.lookers.add(fact.step);
        open.handle = fact.handle;
        open.input = undefined;
        return;
      case "retried":
      case "resumed":
        open.hold = null;
        open.wakes = false;
        open.sent = false;
        if (fact.what === "resumed" && fact.input !== undefined) open.input = fact.input;
        this.again.set(fact.step, (this.again.get(fact.step) ?? 0) + 1);
    }
  }

  #timers(which: (wakes: number | undefined) => boolean): readonly number[] {
    return this.openOf("timer").flatMap(([, { ask }]) =>
      ask.kind === "timer" && which(ask.wakes) ? [ask.due] : [],
    );
  }

  #some(which: (open: OpenEntry) => boolean): boolean {
    for (const open of this.open.values()) if (which(open)) return true;
    return false;
  }
}

const sumOf = (a: Spent, b: Spent): Spent => ({
  visits: a.visits + b.visits,
  toolCalls: a.toolCalls + b.toolCalls,
  modelCalls: a.modelCalls + b.modelCalls,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  costUsd: a.costUsd + b.costUsd,
});
