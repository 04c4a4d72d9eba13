// The model and the tools: obedient, wrong, confused or broken, as the dice say.

import type { Json } from "../../src/base/json.ts";
import type { ModelAsk, ModelReply, ToolCall } from "../../src/core/facts.ts";
import { promptOf } from "../../src/core/part-site.ts";
import type { Program, PromptSpec } from "../../src/core/program.ts";
import { SET_ARTIFACT, TRANSITION } from "../../src/core/reserved.ts";
import type { Run } from "../../src/core/run.ts";
import type { CallContext, Later, ToolAnswer } from "../../src/engine/ports.ts";
import type { Dice } from "./dice.ts";

/**
 * What becomes of a call: an answer, a fault that may pass, one that will not, one that leaves open what
 * happened, no answer for ever, or an error that no adapter should throw.
 */
export type Fate = "answers" | "later" | "never" | "unknown" | "hangs" | "breaks";

export class World {
  readonly #dice: Dice;
  #calls = 0;
  /** People are tired: models move on, tools work, so that every run comes to its end. */
  calm = false;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  fate(): Fate {
    const dice = this.#dice;
    if (this.calm || dice.chance(0.9)) return "answers";
    return dice.weighted({ later: 5, never: 1, unknown: 2, hangs: 2, breaks: 1 });
  }

  /** Whether a call goes on to its end although nobody waits any more. */
  isDeaf(): boolean {
    return this.#dice.chance(0.3);
  }

  latencyMs(): number {
    return this.calm ? 0 : this.#dice.below(2_500);
  }

  /** What a `Retry-After` says. */
  afterMs(): number | undefined {
    return this.#dice.chance(0.5) ? this.#dice.below(10_000) : undefined;
  }

  model(program: Program, run: Run, ask: ModelAsk): ModelReply {
    const dice = this.#dice;
    const state = run.state === null ? undefined : program.workflow?.states[run.state];
    const events = Object.keys(state?.events ?? {});
    const text = ask.part === undefined ? this.#text(events) : this.#partText(events);
    const reply = { text, calls: this.#replyCalls(program, run, ask, events) };
    const usage = {
      inputTokens: dice.between(0, 90),
      outputTokens: dice.between(0, 40),
      costUsd: dice.between(0, 8) / 16,
    };
    return { ...reply, usage };
  }

  /** What was put off once is often put off again. */
  tool(now: number, { handle, input }: Pick<CallContext, "handle" | "input">): ToolAnswer {
    const dice = this.#dice;
    const isLong = handle !== undefined || input !== undefined;
    if (!this.calm && dice.chance(isLong ? 0.5 : 0.2)) return this.#later(now, isLong);
    if (dice.chance(0.15)) return { ok: false, code: "tool_error", message: "it broke" };
    return { ok: true, value: this.value() };
  }

  /** Answered from outside, called again at a time, or when a person has said something. */
  #later(now: number, isLong: boolean): Later {
    const dice = this.#dice;
    const kind = dice.weighted({ bare: isLong ? 5 : 2, wakes: 4, asks: 3, both: 2 });
    // A time that is over already is a time.
    const until = now + dice.between(-1_000, dice.chance(0.3) ? 60_000 : 8_000);
    return {
      deferred: true,
      ...((kind === "wakes" || kind === "both") && { until }),
      ...(kind === "wakes" && dice.chance(0.6) && { looks: true as const }),
      ...((kind === "asks" || kind === "both") && { question: dice.pick<Json>(["which?", null, { of: 2 }]) }),
      ...(dice.chance(0.5) && { handle: dice.pick<Json>([`h${dice.below(99)}`, { page: 2 }, null]) }),
    };
  }

  value(): Json {
    const dice = this.#dice;
    return dice.pick<() => Json>([
      () => "a result",
      () => ({ a: dice.below(9), b: [dice.below(9)] }),
      () => ({ a: ["x", "y"] }),
      () => dice.below(100),
      () => null,
      () => '{"looks": "like JSON"}',
      () => "x".repeat(dice.chance(0.05) ? 70_000 : 70),
    ])();
  }

  #text(events: readonly string[]): string {
    const dice = this.#dice;
    if (events.length === 0 || dice.chance(0.6)) return dice.pick(["", "so be it", "thinking\nof it"]);
    const event = dice.pick(events);
    return dice.pick([
      event,
      `**${event}**`,
      `I think\nevent: ${event}.`,
      event.toLowerCase(),
      `no ${event} yet`,
    ]);
  }

  /** In a composition the last text may be the event. */
  #partText(events: readonly string[]): string {
    const dice = this.#dice;
    if (this.calm || dice.chance(0.4)) return JSON.stringify({ event: dice.pick([...events, "Nope"]) });
    return dice.pick(["", "[1, 2]", '```json\n{"a": 1}\n```', "so be it", '{"a": 2}', ...events]);
  }

  #replyCalls(program: Program, run: Run, ask: ModelAsk, events: readonly string[]): readonly ToolCall[] {
    const dice = this.#dice;
    const calls: ToolCall[] = [];
    const prompt = promptOf(program, run, ask.part);
    const add = (tool: string, args: Json) => calls.push({ id: `c${++this.#calls}`, tool, args });
    if (dice.chance(ask.tools ? 0.6 : 0.15)) {
      for (let left = dice.between(1, 3); left > 0; left--) add(...this.#packCall(prompt));
    }
    while (dice.chance(0.2)) add(SET_ARTIFACT, this.#artifactArgs(program));
    if (events.length > 0 && dice.chance(0.5)) add(TRANSITION, { event: dice.pick(events), context: "go" });
    if (dice.chance(0.06)) add(TRANSITION, dice.pick<Json>([{ event: "Nope" }, {}, null, { event: 7 }]));
    if (events.length > 0 && dice.chance(0.05)) add(TRANSITION, { event: dice.pick(events) });
    // A transition may stand before, among or behind the other calls.
    if (dice.chance(0.5)) calls.reverse();
    return calls;
  }

  #packCall(prompt: PromptSpec): [string, Json] {
    const dice = this.#dice;
    if (prompt.tools.length === 0 || dice.chance(0.1)) return [dice.pick(["rm", "look", "scout"]), {}];
    const tool = dice.pick(prompt.tools);
    return [tool, dice.pick<Json>([{}, { q: "x" }, { q: "y", n: 1 }, { q: 1 }])];
  }

  #artifactArgs(program: Program): Json {
    const dice = this.#dice;
    const names = [...Object.keys(program.workflow?.artifacts ?? {}), "nope"];
    return dice.pick<Json>([
      { name: dice.pick(names), value: this.value() },
      { name: dice.pick(names) },
      null,
    ]);
  }
}
