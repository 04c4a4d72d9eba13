// Done is a claim, and `packloop goal` looks it up by the rule of the plugin: the ordinary engine, a scripted
// model that claims, and a workspace with one file in it.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readScript } from "../../src/adapter/script/read-script.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { Run } from "../../src/core/run.ts";
import { Engine } from "../../src/engine/engine.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { goalPack } from "../../src/goal/goal-pack.ts";
import { goalSetup } from "../../src/host/goal-claim.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { RunWorlds } from "../../src/host/run-worlds.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { MemoryDisk, memoryStore } from "../../src/store/memory.ts";

const folder = mkdtempSync(join(tmpdir(), "packloop-gate-"));
beforeAll(() => {
  mkdirSync(join(folder, "ws/artifacts/folder"), { recursive: true });
  writeFileSync(join(folder, "ws/artifacts/note.md"), "a note");
  writeFileSync(join(folder, "secret.md"), "not theirs");
  symlinkSync(join(folder, "secret.md"), join(folder, "ws/artifacts/link.md"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const criterion = (id: string, evidence: readonly string[], met = true): JsonObject => ({
  id,
  met,
  evidence,
});
const good = [criterion("C1", ["step:1"]), criterion("C2", ["artifacts/note.md"])];
const done = (criteria: readonly JsonObject[], artifacts: readonly string[] = []): JsonObject => ({
  artifacts: { report: { summary: "it is 7", criteria, artifacts } },
  event: "Done",
});
const frame = {
  restated: "find it",
  criteria: ["C1", "C2"].map((id) => ({ id, text: `${id} holds` })),
  assumptions: [],
  unknowns: [],
};
const plan = {
  todo: [{ id: "T1", task: "look", status: "doing", serves: "C1" }],
  next_focus: "look",
};

interface Pursuit {
  readonly reflect: readonly Json[];
  readonly look?: readonly Json[];
  readonly stepsMax?: number;
  /** By whoever began it, before anybody judged a claim. */
  readonly isLeft?: boolean;
}

async function pursue({ reflect, look = [{ ok: 7 }], stepsMax = 6, isLeft = false }: Pursuit) {
  const script = {
    states: {
      frame: [{ artifacts: { frame }, event: "Framed" }],
      plan: [{ artifacts: { plan }, event: "Planned" }],
      act: [{ calls: [{ tool: "look", args: {} }], event: "Acted" }],
      reflect,
    },
    tools: { look },
  };
  const text = JSON.stringify(goalPack({ tools: ["look"], stepsMax, reframesMax: 1 }));
  const pack = openPack(text, { file: "goal.pack.json" });
  if (!pack.ok) throw pack.toError();
  const { script: read, problems } = readScript(script);
  expect(problems).toEqual([]);
  const clock = systemClock();
  const env = () => undefined;
  const storePath = join(folder, "runs.db");
  const worlds = () => new RunWorlds({ clock, env, storePath, script: read, warn: () => undefined });
  const disk = new MemoryDisk();
  const { program, digest } = pack;
  const settings = { ...noSettings(folder), workspace: "ws" } as unknown as JsonObject;
  const open = (isJudging: boolean): Engine => {
    const [store, world] = [memoryStore(disk), worlds()];
    const peopleOf = (id: string, run: Run) => world.peopleOf(store, id, run);
    const portsOf = (id: string) => world.portsOf(store, id);
    return new Engine({ store, clock, closing: world, portsOf, ...(isJudging && { peopleOf }) });
  };
  {
    await using first = open(!isLeft);
    await first.start({
      ...{ id: "r", program, digest, source: text, setup: { ...goalSetup(stepsMax), settings } },
      input: { mode: "autonomous", variables: { goal: "find it" }, input: "find it" },
    });
    await first.settled("r");
  }
  await using engine = open(true);
  const { store } = engine;
  await engine.resume("r");
  const run = await engine.settled("r");
  const rows = await store.rows("r", { from: 1, to: run.turn, limit: 1000 });
  const refusals = rows.flatMap(({ facts }) =>
    facts.flatMap((fact) =>
      fact.type === "entered" && fact.cause.kind === "event" && fact.cause.event === "Refused"
        ? [fact.context]
        : [],
    ),
  );
  return { run, refusals };
}

const visitsOf = ({ visits }: Run, state: string): number => visits[state] ?? 0;

test("a claim with evidence that is there is granted at once", async () => {
  const { run, refusals } = await pursue({ reflect: [done(good, ["artifacts/note.md"])] });
  expect(run.final).toBe("completed");
  expect(refusals).toEqual([]);
  expect([visitsOf(run, "act"), visitsOf(run, "gate")]).toEqual([1, 1]);
});

const c2 = good[1] as JsonObject;
describe("a claim is sent back to planning, with the reason, when", () => {
  test.each<readonly [string, JsonObject, string]>([
    ["there is no report", { event: "Done" }, "there is no success report"],
    ["a criterion is left out", done([c2]), "criterion C1 is not in the report"],
    ["one is named twice", done([...good, c2]), "criterion C2 is in the report more than once"],
    ["one is not met", done([criterion("C1", ["step:1"], false), c2]), "criterion C1 is not met"],
    ["one has no evidence", done([criterion("C1", []), c2]), "criterion C1 has no evidence"],
    ["a step was never taken", done([criterion("C1", ["step:9"]), c2]), "criterion C1 has no evidence"],
    ["a file is not there", done([criterion("C1", ["artifacts/no.md"]), c2]), "criterion C1 has no evidence"],
    ["a file is a folder", done([criterion("C1", ["artifacts/folder"]), c2]), "criterion C1 has no evidence"],
    ["a link leads out", done([criterion("C1", ["artifacts/link.md"]), c2]), "criterion C1 has no evidence"],
    [
      "a path leads out",
      done([criterion("C1", ["artifacts/../../secret.md"]), c2]),
      "criterion C1 has no evidence",
    ],
    ["a stranger's criterion is met", done([...good, criterion("C3", ["step:1"])]), "C3 is not a criterion"],
    ["an artifact is not there", done(good, ["report.md"]), "artifact `report.md` is not in the workspace"],
  ])("%s", async (_name, claim, reason) => {
    const { run, refusals } = await pursue({ reflect: [claim, done(good)] });
    expect(run.final).toBe("completed");
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toContain(reason);
    expect([visitsOf(run, "plan"), visitsOf(run, "act"), visitsOf(run, "gate")]).toEqual([2, 2, 2]);
  });
});

test("a step that failed is no evidence, and the one after it is", async () => {
  const claim = (step: string) => done([criterion("C1", [step]), c2]);
  const { run, refusals } = await pursue({
    reflect: [claim("step:1"), claim("step:2")],
    look: [{ error: "broken" }, { ok: 7 }],
  });
  expect(run.final).toBe("completed");
  expect(refusals).toHaveLength(1);
});

test("a report speaks for the visit that wrote it: Done without a new one is refused", async () => {
  const early = done([criterion("C1", ["step:2"]), c2]);
  const { run, refusals } = await pursue({ reflect: [early, { event: "Done" }, done(good)] });
  expect(run.final).toBe("completed");
  expect(refusals[0]).toContain("criterion C1 has no evidence");
  expect(refusals[1]).toContain("there is no success report");
});

test("the third claim that is not borne out ends the run", async () => {
  const { run, refusals } = await pursue({ reflect: [{ event: "Done" }] });
  expect(run.final).toBe("failed");
  expect(run.reason).toMatchObject({ code: "completion_unsupported" });
  expect(refusals).toHaveLength(2);
});

test("a claim that is refused when no action is left is the end of the steps", async () => {
  const { run } = await pursue({ reflect: [{ event: "Done" }], stepsMax: 1 });
  expect(run.final).toBe("budget_exhausted");
  expect(run.reason).toMatchObject({ limit: "max_visits", state: "act" });
  expect(visitsOf(run, "plan")).toBe(1);
});

test("a run that was left at its gate is judged by whoever takes it up", async () => {
  const { run } = await pursue({ reflect: [done(good)], isLeft: true });
  expect(run.final).toBe("completed");
});
