// F1 and F2 from outside: strace kills the process on its way into a system call that changes the store or
// tells of a turn. Started again by the same command, the run must end as if nothing had happened.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith } from "../cli/run-cli.ts";
import { live } from "../cli/run-folder.ts";
import { atOrBefore, nameOf, noStrace, type Point, pointsOf, traced } from "./injection.ts";
import {
  type Case,
  examine,
  example,
  type Result,
  runArgs,
  type SeenTurn,
  turnsIn,
  undisturbed,
} from "./killed-runs.ts";
import { isSkipped, isWhole, sample, sweep, type Trial } from "./sweep.ts";

const FILE = "kill-calls";
const MINUTES = 60_000;
const codegen = example("codegen", "script.yaml", { requirements: "slugify titles" });
const others = [
  ["redirects", example("codegen", "script-give-up.yaml", { requirements: "slugify titles" })],
  ["people who decide", example("remediate", "script-rejected.yaml", { alert: "errors" })],
  ["artifacts that grow", example("triage", "script.yaml", { repository: "shop" })],
] as const;
const cases = [["a loop with tools", codegen] as const, ...(isWhole ? others : [])];

/** Pages are written again and again, so these are the ones that are sampled. */
const PAGES_MAX = 20;

describe.skipIf(isSkipped(FILE, noStrace()))("killed by a system call", () => {
  test.each(cases)("at each of them: %s", { timeout: 120 * MINUTES }, async (what, of) => {
    const whole = await undisturbed(of);
    const points = await pointsIn(of);
    const pages = points.filter(({ call }) => call === "pwrite64");
    const chosen = [...points.filter(({ call }) => call !== "pwrite64"), ...sample(pages, PAGES_MAX)];
    expect(chosen.length).toBeGreaterThan(60);
    await sweep(
      FILE,
      what,
      chosen.map((point) => trial(of, whole, point)),
    );
  });

  // The second process meets what the first left, the third what the second left.
  test.each(cases)("and so is whoever takes over: %s", { timeout: 60 * MINUTES }, async (what, of) => {
    const whole = await undisturbed(of);
    const points = (await pointsIn(of)).filter(({ call, nth }) =>
      call === "fsync" ? nth <= 12 : nth <= 8 || [13, 21, 34].includes(nth),
    );
    // The calls at the end of a run come once, so the second process gets past them.
    const repeated = points.filter(({ call }) => call === "fsync" || call === "pwrite64");
    await sweep(
      FILE,
      `${what}, taken over`,
      sample(repeated, 8).map((point) => {
        const { name, check } = trial(of, whole, point, 4);
        return { name: `${name}*4`, check };
      }),
    );
  });
});

async function pointsIn(of: Case): Promise<readonly Point[]> {
  using folder = folderWith({});
  const store = join(folder.path, "runs.db");
  const { code, calls } = await traced(runArgs(of, store), { store, stdout: true });
  expect(code).not.toBeNull();
  return pointsOf(calls, "SIGKILL");
}

/** So many processes die at the point, one after the other; the next is left alone. */
function trial(of: Case, whole: Result, point: Point, processes = 1): Trial {
  const reaches = async (point: Point) => {
    using folder = folderWith({});
    const store = join(folder.path, "runs.db");
    const seen: SeenTurn[] = [];
    let kills = 0;
    for (let started = 0; started < processes; started++) {
      const { signal, stdout } = await traced(runArgs(of, store), { store, point, stdout: true });
      seen.push(...turnsIn(stdout));
      if (signal !== "SIGKILL") break;
      kills++;
    }
    if (kills === 0) return false;
    expect(kills, "processes killed").toBeGreaterThanOrEqual(Math.min(processes, 2));
    const { code, text } = await live(runArgs(of, store), folder.path).ended;
    seen.push(...turnsIn(text));
    const verified = await live(["verify", "--all", "--store", store], folder.path).ended;
    expect(verified, verified.text).toMatchObject({ code: 0 });
    expect(await examine(store, code, seen)).toEqual(whole);
    return true;
  };
  return { name: nameOf(point), check: () => atOrBefore(point, reaches) };
}
