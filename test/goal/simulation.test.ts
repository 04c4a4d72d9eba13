// Whatever a host does with results (twice, late, out of order, lost, of other steps), a run advances each step
// once and ends once.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { readRecord } from "../../src/goal/run-record.ts";
import { toolRequest } from "../../src/goal/tool-request.ts";
import { type Emitted, LoopHost, type Response } from "./loop-host.ts";
import { actTurn, doneTurn, firstTurn, planTurn } from "./scripted-turns.ts";

const SEEDS = 1000;

/** A small generator with a seed: the same chances every time. */
function chances(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return state % below;
  };
}

function turnsFor(chance: (below: number) => number): readonly Json[] {
  const turns: Json[] = [firstTurn()];
  const steps = chance(5);
  for (let step = 0; step < steps; step++) {
    if (chance(5) === 0) turns.push({ fault: "unavailable" });
    turns.push(chance(3) === 0 ? planTurn() : actTurn());
  }
  return [...turns, doneTurn()];
}

/** I1, I2: what must hold after every response. */
function check(host: LoopHost, response: Response, before: JsonObject | undefined): void {
  const run = host.run();
  const requests = (response.events ?? []).filter(({ type }) => type.startsWith("agentic.tool_request."));
  for (const { payload } of requests) {
    expect(run).toMatchObject({
      pending_step: payload["step"] as Json,
      pending_tool: payload["tool"] as Json,
    });
    expect(payload["step"]).toBe(run["step"]);
  }
  const isNew = run["pending_step"] !== null && run["pending_since"] !== before?.["pending_since"];
  if (isNew) expect(requests.length).toBe(1);
  const done = run["completed_steps"] as readonly number[];
  expect(done).toEqual(done.map((_, index) => index + 1));
  expect(Number(run["step"]) - Number(before?.["step"] ?? 0)).toBeLessThanOrEqual(1);
}

test(`S5, I1, I2: ${SEEDS} seeds of doubled, late, lost and foreign results end every run once`, async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const chance = chances(seed);
    const host = new LoopHost(turnsFor(chance), {
      max_steps: 1 + chance(6),
      max_attempts: 2,
      tool_deadline: "1m",
    });
    host.workspaceDir = undefined;
    const waiting: Emitted[] = [];
    const finals: Emitted[] = [];
    const take = (response: Response, before?: JsonObject) => {
      check(host, response, before);
      for (const event of response.events ?? [])
        (event.type.startsWith("agent.") ? finals : waiting).push(event);
    };
    take(await host.start());
    for (let hop = 0; hop < 60 && host.run()["status"] === "running"; hop++) {
      host.now += 1 + chance(70_000);
      const before = host.run();
      const at = waiting.length === 0 ? undefined : waiting[chance(waiting.length)];
      const luck = chance(6);
      if (at === undefined || luck === 0) take(await host.poll(), before);
      else if (luck === 1)
        take(
          await host.explicit(at, { status: "error", error: "x", attempt: at.payload["attempt"] as Json }),
          before,
        );
      else take(await host.answer(at, { content: `${seed}.${hop}` }), before);
      if (luck === 2) waiting.splice(waiting.indexOf(at as Emitted), 1);
    }
    // Whatever was lost, the sweep brings it to an end.
    for (let poll = 0; poll < 40 && host.run()["status"] === "running"; poll++) {
      host.now += 700_000;
      take(await host.poll(), host.run());
    }
    expect(finals.length, `seed ${seed}`).toBe(1);
    for (const late of waiting) take(await host.answer(late, { content: "late" }), host.run());
    expect(finals.length, `seed ${seed}`).toBe(1);
  }
}, 300_000);

test("C1: the request rebuilt from a stored run is the one that left, byte for byte", () => {
  const defaults = {
    now: 0,
    stepsMax: 9,
    reframesMax: 2,
    attemptsMax: 3,
    toolDeadlineMs: () => 1000,
    workspaceRef: "run",
  };
  const input = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(input, fc.array(fc.string()), (pending_input, pending_blanked) => {
      const stored = {
        status: "running",
        goal: "g",
        step: 2,
        pending_step: 2,
        pending_tool: "t",
        pending_since: "now",
      };
      const run = readRecord(
        { ...stored, pending_input: pending_input as JsonObject, pending_blanked },
        defaults,
      );
      const first = JSON.stringify(toolRequest("R", run));
      const backwards = (value: Json): Json =>
        Array.isArray(value)
          ? value.map(backwards)
          : typeof value === "object" && value !== null
            ? Object.fromEntries(
                Object.entries(value)
                  .reverse()
                  .map(([key, one]) => [key, backwards(one)]),
              )
            : value;
      const again = readRecord(backwards(JSON.parse(JSON.stringify(run)) as Json) as JsonObject, defaults);
      expect(JSON.stringify(toolRequest("R", again))).toBe(first);
    }),
    { numRuns: 300 },
  );
});
