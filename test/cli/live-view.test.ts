// The live view byte by byte: what is written at 80 and at 120 columns, without colour and with it, and what
// stays on the screen. Turns are decided by the core, at times of the test's own.

import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import { LiveView } from "../../src/cli/runs/live-view.ts";
import { plainLine, usageLine } from "../../src/cli/runs/progress.ts";
import { VisitLog } from "../../src/cli/runs/visit-log.ts";
import { decide } from "../../src/core/decide.ts";
import type { TurnRow } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import { emptyRun, type Run } from "../../src/core/run.ts";
import { program } from "../core/scenario.ts";
import { Terminal } from "./terminal.ts";

const pack = `id: fix
name: Fix
version: 2.1.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Work., tools: [fs.write] }
  q: { id: q, name: Q, version: 1.0.0, system_template: Close. }
tools:
  fs.write: { name: write, description: Writes., parameters: { type: object, properties: {} } }
workflow:
  version: 2
  entry: plan
  engine: { budget: { max_total_visits: 5, max_tool_calls: 200, max_wall_time_sec: 600 }, budget_ext: { max_cost_usd: 2 } }
  states:
    plan: { prompt_task: p, on_event: { PlanReady: implement } }
    implement:
      prompt_task: p
      max_visits: 2
      on_max_visits: review
      artifacts: { commit_sha: { type: text/plain } }
      on_event: { Again: implement, CodeReady: review }
    review: { prompt_task: q, orchestration: external, on_event: { Approved: done } }
    done: { prompt_task: q, terminal: true }
`;

const START = 1_800_000_000_000;

interface Calls {
  readonly tool: string;
  readonly args: Json;
}

/** A run that is played by hand beside its view. */
class Watched {
  readonly view: LiveView;
  readonly writes: string[] = [];
  readonly rows: { readonly row: TurnRow; readonly run: Run }[] = [];
  readonly program = program(pack);
  run = emptyRun;
  at = START;
  columns: number;
  #isBegun = false;

  constructor(options: { readonly columns: number; readonly color?: boolean }) {
    this.columns = options.columns;
    this.view = new LiveView({
      write: (text) => this.writes.push(text),
      columns: () => this.columns,
      color: options.color === true,
      now: () => this.at,
    });
    this.say({ type: "start", at: START, digest: "d", mode: "autonomous", variables: {}, input: "" });
  }

  say(input: Input): this {
    const before = this.run;
    const decision = decide(this.program, before, input);
    if (decision.kind !== "facts") throw new Error(JSON.stringify(decision));
    this.run = decision.run;
    const row = { turn: this.run.turn, at: input.at, v: 1, facts: decision.facts };
    this.rows.push({ row, run: this.run });
    if (!this.#isBegun) {
      this.#isBegun = true;
      const about = { id: "r_01j8", program: this.program, run: this.run, before, since: START };
      this.view.begin(about);
    }
    this.view.turn("r_01j8", row, this.run);
    return this;
  }

  /** After so many seconds the open step is answered, as a model would. */
  model(seconds: number, calls: readonly Calls[], costUsd = 0): this {
    this.at += seconds * 1000;
    const value = {
      text: "",
      calls: calls.map((call, i) => ({ id: `c${this.run.step}-${i}`, ...call })),
      usage: { inputTokens: 0, outputTokens: 0, costUsd },
    };
    return this.#answer(value);
  }

  event(seconds: number, event: string, artifacts: Readonly<Record<string, string>> = {}, costUsd = 0): this {
    const sets = Object.entries(artifacts).map(([name, value]) => ({
      tool: "workflow__set_artifact",
      args: { name, value },
    }));
    return this.model(seconds, [...sets, { tool: "workflow__transition", args: { event } }], costUsd);
  }

  tool(seconds: number): this {
    this.at += seconds * 1000;
    return this.#answer({ done: true });
  }

  tick(): this {
    this.view.tick();
    return this;
  }

  #answer(value: Json): this {
    const step = Number(
      Object.keys(this.run.open).find((one) => this.run.open[Number(one)]?.ask.kind !== "timer"),
    );
    return this.say({ type: "answer", at: this.at, step, outcome: { ok: true, value } });
  }

  screen(): Terminal {
    return new Terminal({ columns: this.columns }).write(this.writes.join(""));
  }
}

/** To the second visit of `implement`, with a tool at work. */
function working(options: { readonly columns: number; readonly color?: boolean }): Watched {
  const write = [{ tool: "fs.write", args: {} }];
  const watched = new Watched(options).tick();
  watched.event(4.1, "PlanReady", {}, 0.9).tick();
  watched.model(10, write, 0.4).tick().tool(20).event(1, "Again", { commit_sha: "a1b2c3" }, 0.2).tick();
  watched.model(6, write, 0.15).at += 6_400;
  return watched.tick();
}

/** On to the end, over a redirect and a person. */
function finished(options: { readonly columns: number; readonly color?: boolean }): Watched {
  const watched = working(options);
  watched.tool(0.1).event(1, "Again").tick();
  watched.at += 60_000;
  watched.say({ type: "event", at: watched.at, name: "Approved", by: "alice" }).tick();
  watched.model(1, []);
  watched.view.end(watched.run);
  return watched;
}

const shown = (text: string): string => text.replaceAll("\x1b", "␛").replaceAll("\r", "␍");

describe("the live view at 80 columns, without colour", () => {
  test("shows the way, the visit under way, and what is used of each budget", () => {
    expect(working({ columns: 80 }).screen().lines()).toEqual([
      "r_01j8  fix 2.1.0  entry plan  bounded: 5 visits                          00:00",
      "  ✓ plan       1      PlanReady   0 calls     4.1 s",
      "  ✓ implement  1/2    Again       1 call     31.0 s   commit_sha a1b2c3",
      "  ▸ implement  2/2    round 1 · fs.write       12 s",
      "    visits 3/5 ▓▓░   calls 2/200 ▓░░   time 47/600 s ▓░░   cost $1.65/$2.00 ▓▓▓",
    ]);
  });

  test("ends with nothing left of what was redrawn, and with the cursor back", () => {
    const terminal = finished({ columns: 80 }).screen();
    expect(terminal.lines()).toEqual([
      "r_01j8  fix 2.1.0  entry plan  bounded: 5 visits                          00:00",
      "  ✓ plan       1      PlanReady   0 calls     4.1 s",
      "  ✓ implement  1/2    Again       1 call     31.0 s   commit_sha a1b2c3",
      "  ✓ implement  2/2    Again       1 call     13.5 s",
      "  ↪ review (implement reached 2)",
      "  ✓ review     1      Approved    0 calls    60.0 s",
      "  ✓ done       1      end         0 calls     1.0 s",
      "    visits 5/5 · tool calls 2/200 · model calls 6 · 01:49",
    ]);
    expect(terminal.cursorShows).toBe(true);
  });

  test("is written in these bytes", () => {
    const [first, second, , , , redirect, , last] = finished({ columns: 80 }).writes.map(shown);
    expect(first).toBe(
      [
        "␛[?25l␛[?7lr_01j8  fix 2.1.0  entry plan  bounded: 5 visits                          00:00␛[K",
        "  ▸ plan       1      round 1 · model           0 s␛[K",
        "    visits 1/5 ▓░░   calls 0/200 ░░░   time 0/600 s ░░░   cost $0.00/$2.00 ░░░␛[K␛[J␛[?7h",
      ].join("\n"),
    );
    expect(second).toBe(
      [
        "␛[?7l␍␛[1A  ✓ plan       1      PlanReady   0 calls     4.1 s␛[K",
        "  ▸ implement  1/2    round 1 · model           0 s␛[K",
        "    visits 2/5 ▓▓░   calls 0/200 ░░░   time 4/600 s ▓░░   cost $0.90/$2.00 ▓▓░␛[K␛[J␛[?7h",
      ].join("\n"),
    );
    expect(redirect).toBe(
      [
        "␛[?7l␍␛[1A  ✓ implement  2/2    Again       1 call     13.5 s␛[K",
        "  ↪ review (implement reached 2)␛[K",
        "  ▸ review     1      waits for Approved        0 s␛[K",
        "    visits 4/5 ▓▓▓   calls 2/200 ▓░░   time 48/600 s ▓░░   cost $1.65/$2.00 ▓▓▓␛[K␛[J␛[?7h",
      ].join("\n"),
    );
    expect(last).toBe(
      [
        "␍␛[1A␛[J  ✓ done       1      end         0 calls     1.0 s␛[K",
        "    visits 5/5 · tool calls 2/200 · model calls 6 · 01:49␛[K",
        "␛[?25h",
      ].join("\n"),
    );
  });
});

describe("the live view at 120 columns", () => {
  test("has room for longer bars", () => {
    expect(working({ columns: 120 }).screen().lines().at(-1)).toBe(
      "    visits 3/5 ▓▓▓▓▓▓░░░░   calls 2/200 ▓░░░░░░░░░   time 47/600 s ▓░░░░░░░░░   cost $1.65/$2.00 ▓▓▓▓▓▓▓▓▓░",
    );
  });

  test("is coloured so, and a budget is yellow from 80 % on", () => {
    expect(working({ columns: 120, color: true }).writes.map(shown).at(-1)).toBe(
      [
        "␛[?7l␍␛[1A␛[36m  ▸ ␛[0mimplement  2/2    round 1 · fs.write       12 s␛[K",
        "    visits 3/5 ▓▓▓▓▓▓░░░░   calls 2/200 ▓░░░░░░░░░   time 47/600 s ▓░░░░░░░░░   ␛[33mcost $1.65/$2.00 ▓▓▓▓▓▓▓▓▓░␛[0m␛[K␛[J␛[?7h",
      ].join("\n"),
    );
  });
});

describe("whatever happens, the screen stays in order", () => {
  test.each([10, 24, 40, 60, 79])("at %d columns every line is cut to the width", (columns) => {
    const watched = working({ columns });
    for (const line of watched.screen().lines()) expect([...line].length).toBeLessThan(columns);
    expect(watched.screen().lines()).toHaveLength(5);
  });

  test("a tick without news writes nothing, and one with much news writes once", () => {
    const watched = working({ columns: 80 });
    const before = watched.writes.length;
    watched.tick().tick();
    expect(watched.writes).toHaveLength(before);
    watched.tool(1).event(1, "Again").tick();
    expect(watched.writes).toHaveLength(before + 1);
  });

  test("wide characters are counted by the cells they take", () => {
    const watched = new Watched({ columns: 75 }).event(1, "PlanReady").tick();
    watched.event(1, "Again", { commit_sha: "漢字".repeat(20) }).tick();
    const line = watched.screen().lines().at(-3) ?? "";
    expect(line).toContain("commit_sha 漢");
    expect(line).toMatch(/…$/);
  });

  test("what a model writes cannot steer the terminal", () => {
    const watched = new Watched({ columns: 120 }).event(1, "PlanReady").tick();
    watched.event(1, "Again", { commit_sha: "a\x1b[2Jb\r\nc\u202ed\x07" }).tick();
    expect(watched.screen().lines().at(-3)).toContain("commit_sha a·[2Jb c·d·");
  });

  test("a terminal that became narrower has its broken lines taken away", () => {
    const watched = working({ columns: 120 });
    const written = watched.writes.length;
    watched.columns = 50;
    watched.view.rest();
    // Two lines of 51 and 101 cells stand in five rows there.
    expect(shown(watched.writes.slice(written).join(""))).toBe("␍␛[4A␛[J␛[?25h");
  });

  test("a run that is taken up shows the visit it is in the middle of", () => {
    const whole = working({ columns: 80 });
    const later = new Watched({ columns: 80 });
    later.writes.length = 0;
    const since = whole.at - 12_400;
    const { program: of, run, at } = whole;
    const view = new LiveView({
      write: (text) => later.writes.push(text),
      columns: () => 80,
      color: false,
      now: () => at,
    });
    view.begin({ id: "r_01j8", program: of, run, before: run, since });
    view.tick();
    expect(later.screen().lines()).toEqual([
      "r_01j8  fix 2.1.0  entry plan  bounded: 5 visits                          00:47",
      ...whole.screen().lines().slice(-2),
    ]);
  });
});

test("plain lines say the same, one per visit", () => {
  const log = new VisitLog();
  const watched = finished({ columns: 80 });
  const lines = watched.rows.flatMap(({ row, run }) => log.turn(row, run).map((news) => plainLine(news)));
  expect([...lines, usageLine(watched.run)]).toEqual([
    "  ✓ plan             1    PlanReady          0 calls   4.1 s",
    "  ✓ implement        1    Again              1 call    31.0 s",
    "  ✓ implement        2    Again              1 call    13.5 s",
    "  ↪ review (implement reached its limit)",
    "  … review           1    waits",
    "  ✓ review           1    Approved           0 calls   60.0 s",
    "  ✓ done             1    end                0 calls   1.0 s",
    "    visits 5/5 · tool calls 2/200 · model calls 6",
  ]);
});
