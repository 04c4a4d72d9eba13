// People and other senders: they answer right, wrong, twice, late, with the wrong hash or to the wrong step.

import type { ApprovalAsk } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import type { OpenAsk, Run } from "../../src/core/run.ts";
import type { Dice } from "./dice.ts";
import { offered } from "./expected.ts";
import type { World } from "./world.ts";

export interface Sight {
  readonly program: Program;
  readonly run: Run;
  readonly at: number;
}

type Open = readonly [step: number, open: OpenAsk];

export class People {
  readonly #dice: Dice;
  readonly #world: World;
  #keys = 0;

  constructor(dice: Dice, world: World) {
    this.#dice = dice;
    this.#world = world;
  }

  /** What somebody says to this run now, sensible or not. */
  say(sight: Sight): Input {
    const { run, at } = sight;
    const kind = this.#kind(run);
    switch (kind) {
      case "event":
        return this.#event(sight);
      case "message":
        return { type: "message", at, text: "well?", by: "ann" };
      case "cancel":
        return { type: "cancel", at, by: "ann", reason: "" };
      case "pause":
        return { type: "pause", at, by: "ann", ...(this.#dice.chance(0.5) && { reason: "lunch" }) };
      case "unpause":
        return { type: "unpause", at, by: "bob" };
      case "start":
        return { type: "start", at, digest: run.digest, mode: "autonomous", variables: {}, input: "again" };
      case "hold":
        return { type: "hold", at, step: this.#step(run), hold: "in_doubt" };
      case "sent":
        return { type: "sent", at, step: this.#step(run) };
      case "approve":
        return this.#approve(
          sight,
          this.#stepOf(run, ([, { ask }]) => ask.kind === "approval"),
        );
      case "reject":
        return {
          type: "reject",
          at,
          step: this.#stepOf(run, ([, { ask }]) => ask.kind === "approval"),
          by: "bob",
          reason: "",
        };
      case "retry":
      case "abort":
        return { type: kind, at, step: this.#stepOf(run, ([, { hold }]) => hold !== null), by: "bob" };
      case "timer":
        return {
          type: "answer",
          at,
          step: this.#stepOf(run, ([, { ask }]) => ask.kind === "timer"),
          outcome: { ok: true, value: null },
        };
      case "answer":
        return this.#answer(sight);
    }
  }

  /** Mostly what the run could take, now and then anything. */
  #kind(run: Run) {
    const open = Object.values(run.open);
    const likely = (when: boolean, weight: number) => (when ? weight : weight / 12);
    const approval = open.some(({ ask }) => ask.kind === "approval");
    const held = open.some(({ hold }) => hold !== null);
    const listens = open.some(({ ask }) => ask.kind === "event" || ask.kind === "message");
    return this.#dice.weighted({
      event: 30,
      message: likely(listens, approval || held ? 60 : 20),
      approve: likely(approval, 50),
      reject: likely(approval, 10),
      retry: likely(held, 30),
      abort: likely(held, 2),
      answer: likely(held, 30) + 4,
      hold: likely(
        open.some(({ ask }) => ask.kind === "tool"),
        8,
      ),
      sent: 0.3,
      timer: likely(
        open.some(({ ask }) => ask.kind === "timer"),
        3,
      ),
      pause: run.held === undefined ? 3 : 1,
      unpause: run.held === undefined ? 0.5 : 30,
      cancel: open.some(({ ask }) => ask.kind === "stop")
        ? 12
        : open.some(({ sent }) => sent === true)
          ? 3
          : 0.5,
      start: 1,
    });
  }

  /** What moves a waiting run on; undefined when nobody outside is asked for anything. */
  help({ program, run, at }: Sight): Input | undefined {
    const letGo: Input | undefined = run.held && { type: "unpause", at, by: "ann" };
    if (letGo !== undefined && this.#dice.chance(0.7)) return letGo;
    for (const [step, { ask, hold, later }] of entries(run)) {
      if (ask.kind === "approval") return this.#decideOn({ program, run, at }, step, ask);
      if (hold === null || (hold === "deferred" && later?.wakes === true && this.#dice.chance(0.5))) continue;
      if (hold === "in_doubt" && this.#dice.chance(0.5)) return { type: "retry", at, step, by: "ann" };
      return { type: "answer", at, step, outcome: { ok: true, value: "by hand" }, by: "ann" };
    }
    for (const [, { ask }] of entries(run)) {
      if (ask.kind === "message") return { type: "message", at, text: "go on", by: "ann" };
      if (ask.kind === "event") return { type: "event", at, name: this.#dice.pick(ask.allow), by: "ann" };
    }
    return letGo;
  }

  /** Approves what can be called here; what cannot, in a fork onto another pack, is rejected in the end. */
  #decideOn({ program, run, at }: Sight, step: number, { tool, sha256, part }: ApprovalAsk): Input {
    if (offered(program, run, part).includes(tool) || this.#dice.chance(0.5))
      return { type: "approve", at, step, by: "ann", sha256 };
    return { type: "reject", at, step, by: "ann", reason: "not here" };
  }

  #event({ program, run, at }: Sight): Input {
    const dice = this.#dice;
    const state = run.state === null ? undefined : program.workflow?.states[run.state];
    const events = Object.keys(state?.events ?? {});
    const name = events.length === 0 || dice.chance(0.15) ? "Nope" : dice.pick(events);
    const artifacts = [...Object.keys(program.workflow?.artifacts ?? {}), "nope"];
    return {
      type: "event",
      at,
      name,
      by: dice.pick(["ann", "bob"]),
      ...(dice.chance(0.4) && {
        dedupeKey: dice.chance(0.5) ? `k${dice.below(5)}` : `k${100 + this.#keys++}`,
      }),
      ...(dice.chance(0.3) && { context: "because" }),
      ...(dice.chance(0.25) && { artifacts: { [dice.pick(artifacts)]: this.#world.value() } }),
    };
  }

  #approve({ run, at }: Sight, step: number): Input {
    const dice = this.#dice;
    const ask = run.open[step]?.ask;
    const right = ask?.kind === "approval" ? ask.sha256 : "0000";
    return {
      type: "approve",
      at,
      step,
      by: "ann",
      ...(dice.chance(0.7) && { sha256: dice.chance(0.2) ? "0000" : right }),
      ...(dice.chance(0.25) && { edit: { q: dice.chance(0.4) ? 7 : `edited ${dice.below(9)}` } }),
    };
  }

  /** Somebody brings an outcome: late, for a held step, for a step that is not there, of another tool. */
  #answer({ run, at }: Sight): Input {
    const dice = this.#dice;
    const step = dice.chance(0.5) ? this.#stepOf(run, ([, { hold }]) => hold !== null) : this.#step(run);
    const open = run.open[step]?.ask;
    // A model's answer has a form of its own, which only the model's adapter writes.
    const outcome =
      open?.kind === "model" || dice.chance(0.15)
        ? { ok: false as const, code: "gone", message: "by hand" }
        : { ok: true as const, value: this.#world.value() };
    const named = open?.kind === "tool" || open?.kind === "agent" ? open.tool : "look";
    return {
      type: "answer",
      at,
      step: open?.kind === "model" && dice.chance(0.9) ? run.step + 3 : step,
      outcome,
      by: "ann",
      ...(dice.chance(0.5) && { tool: dice.chance(0.4) ? "other" : named }),
    };
  }

  /** Mostly a step that fits, else any. */
  #stepOf(run: Run, fits: (open: Open) => boolean): number {
    const fitting = entries(run).filter(fits);
    return fitting.length > 0 && this.#dice.chance(0.9) ? this.#dice.pick(fitting)[0] : this.#step(run);
  }

  #step(run: Run): number {
    const dice = this.#dice;
    const open = entries(run);
    if (open.length > 0 && dice.chance(0.6)) return dice.pick(open)[0];
    return dice.between(0, run.step + 2);
  }
}

const entries = (run: Run): readonly Open[] =>
  Object.entries(run.open).map(([step, open]) => [Number(step), open] as const);
