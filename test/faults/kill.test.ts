// F1–F3: a real process is killed at every write of the journal and at random moments, and so is the one that
// takes over. What remains must be the run that nobody disturbed.
//
// FAULT_SEED chooses the random moments and FAULT_KILLS their number.

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { type Live } from "../cli/run-folder.ts";
import { atCommit, type Blow, driveKilled, example, together, undisturbed } from "./killed-runs.ts";

const codegen = example("codegen", "script.yaml", { requirements: "slugify titles" });
const cases = [
  ["a loop with tools", codegen],
  ["redirects", example("codegen", "script-give-up.yaml", { requirements: "slugify titles" })],
  ["people who decide", example("remediate", "script-rejected.yaml", { alert: "errors" })],
  ["artifacts that grow", example("triage", "script.yaml", { repository: "shop" })],
] as const;

const KILLS = Number(process.env["FAULT_KILLS"] ?? 30);
const SEED = Number(process.env["FAULT_SEED"] ?? 4711);
const WIDTH = 2;
const MINUTES = 60_000;

let total = 0;

describe("killed at every write of the journal", () => {
  test("before and after each commit, then taken up", { timeout: 5 * MINUTES }, async () => {
    const whole = await undisturbed(codegen);
    expect(whole.code).toBe(0);
    const points = Array.from({ length: whole.turns }, (_, index) => index + 1).flatMap((commit) => [
      atCommit(commit, "before"),
      atCommit(commit, "after"),
    ]);
    await together(
      points.map((blow) => async () => {
        const { result, kills } = await driveKilled(codegen, [blow][Symbol.iterator]());
        expect(kills, `${blow.env?.["PACKLOOP_CRASH_AT"]} kills`).toBe(1);
        expect(result).toEqual(whole);
        total += kills;
      }),
      WIDTH,
    );
  });

  // Each process makes one turn: the taker-over dies as well, and the one after it.
  test.each(cases)(
    "each process after one turn, all of them: %s",
    { timeout: 5 * MINUTES },
    async (_, of) => {
      const whole = await undisturbed(of);
      const [after, before] = await together(
        [
          () => driveKilled(of, always(atCommit(1, "after"))),
          () => driveKilled(of, always(atCommit(2, "before"))),
        ],
        WIDTH,
      );
      expect(after?.result).toEqual(whole);
      expect(before?.result).toEqual(whole);
      // After the last commit there is nothing left to do, so that process reports the end and lives.
      expect(after?.kills).toBe(whole.turns);
      expect(before?.kills).toBe(whole.turns - 1);
      total += (after?.kills ?? 0) + (before?.kills ?? 0);
    },
  );
});

describe("killed at random moments", () => {
  test(`${KILLS} times, seed ${SEED}`, { timeout: 10 * MINUTES }, async () => {
    const random = mulberry(SEED);
    const wholes = new Map(
      await together(
        cases.map(
          ([, of]) =>
            async () =>
              [of, await undisturbed(of)] as const,
        ),
        WIDTH,
      ),
    );
    let kills = 0;
    const worker = async () => {
      for (let chain = 0; kills < KILLS; chain++) {
        const [name, of] = cases[Math.floor(random() * cases.length)] ?? cases[0];
        const blows = chance(random, wholes.get(of)?.turns ?? 1);
        const ended = await driveKilled(of, blows);
        expect(ended.result, `${name}, seed ${SEED}`).toEqual(wholes.get(of));
        kills += ended.kills;
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, worker));
    total += kills;
  });
});

afterAll(() => {
  process.stdout.write(`faults: ${total} processes killed\n`);
});

function* always(blow: Blow): Generator<Blow> {
  for (;;) yield blow;
}

/** Somewhere in the middle: after so many turns and a moment more, or after a stretch of time. */
function* chance(random: () => number, turns: number): Generator<Blow> {
  for (let killed = 0; killed < 8; killed++) {
    const lines = Math.floor((random() * turns) / 3);
    const moreMs = random() * 4;
    const anyMs = 150 + random() * 250;
    yield { strike: random() < 0.75 ? afterLines(lines, moreMs) : afterTime(anyMs) };
  }
}

const afterLines = (lines: number, moreMs: number) => async (process: Live) => {
  await process.until((text) => text.split("\n").length > lines);
  await delay(moreMs);
  process.kill("SIGKILL");
};

const afterTime = (ms: number) => async (process: Live) => {
  await delay(ms);
  process.kill("SIGKILL");
};

function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
