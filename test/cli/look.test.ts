// `packloop step`, `inbox`, `replay`, `verify`: looking at runs without touching them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { type Folder, folderOfRuns } from "./sample-runs.ts";

let folder: Folder;
let waiting: string;
let completed: string;
beforeAll(() => {
  folder = folderOfRuns();
  waiting = folder.waiting();
  completed = folder.completed();
});
afterAll(() => folder[Symbol.dispose]());

/** One line and the right code, whatever else is asked. */
function refused(args: readonly string[], code: number, message: string): void {
  const ran = folder.run(...args.map((arg) => arg.replace("RUN", completed)));
  expect(ran.stderr).toContain(message);
  expect(ran.code).toBe(code);
  expect(ran.stderr.trim().split("\n")).toHaveLength(1);
}

describe("step", () => {
  test("shows what a model was sent, with the artifacts of that moment, and what it answered", () => {
    const shown = folder.json<{
      kind: string;
      status: string;
      state: string;
      visit: number;
      request: { system: string; messages: unknown; tools: readonly { name: string }[] };
      answer: { outcome: { value: { calls: readonly { tool: string }[] } } };
    }>(0, "step", completed, "5", "--json");
    expect(shown).toMatchObject({ kind: "model", status: "answered", state: "work", visit: 2 });
    expect(shown.request.system).toBe("Do it. So far: first");
    expect(shown.request.tools.map(({ name }) => name)).toContain("measure");
    expect(shown.answer.outcome.value.calls.at(-1)?.tool).toBe("workflow__transition");
  });

  test("shows a tool's arguments and result", () => {
    const shown = folder.json<unknown>(0, "step", completed, "3", "--json");
    expect(shown).toMatchObject({
      kind: "tool",
      key: `${completed}/3`,
      ask: { tool: "measure", args: { what: "width" } },
      answer: { outcome: { ok: true, value: { width: 7 } } },
    });
  });

  test("shows only the part that is asked for", () => {
    expect(folder.run("step", completed, "4", "--prompt").stdout).toBe("Do it. So far: \n");
    expect(folder.run("step", completed, "4", "--messages").stdout).toContain('"width": 7');
    expect(folder.json<unknown>(0, "step", completed, "5", "--artifacts")).toEqual({
      report: { size: 1 },
      log: "first",
    });
    expect(folder.json<unknown>(0, "step", completed, "3", "--raw")).toMatchObject({
      request: { tool: "measure" },
    });
  });

  test.each([
    [["step", "RUN", "99"], 5, "has no step 99"],
    [["step", "RUN", "0"], 5, "has no step 0"],
    [["step", "RUN", "x"], 2, "`x` is not a step"],
    [["step", "RUN", "3", "--prompt"], 2, "step 3 is a tool ask; only a model is sent prompt"],
    [["step", "r_none", "1"], 5, "run `r_none` does not exist"],
    [["step", "RUN@1", "5"], 5, "has no step 5"],
  ])("%j is refused", refused);
});

describe("inbox", () => {
  test("lists what waits for a person, the oldest first, and nothing of finished runs", () => {
    const second = folder.waiting();
    const items = folder.json<
      readonly { run: string; kind: string; events: readonly string[]; expires_at: string }[]
    >(0, "inbox", "--json");
    expect(items.map(({ run }) => run)).toEqual([waiting, second]);
    expect(items[0]).toMatchObject({ kind: "event", state: "gate", events: ["Approved", "Rejected"] });
    expect(items[0]?.expires_at).toMatch(/^\d{4}-.*Z$/);
    expect(folder.run("inbox").stdout).toContain(`packloop send ${waiting} Approved`);
  });

  test("says so when nothing waits, and when there is no store", () => {
    using other = folderOfRuns();
    expect(other.run("inbox")).toMatchObject({ code: 5 });
    other.completed();
    expect(other.run("inbox").stdout).toBe("nothing waits for a person\n");
    expect(other.json<unknown>(0, "inbox", "--json")).toEqual([]);
  });
});

describe("replay", () => {
  test("decides every turn the same from what was recorded", () => {
    const replayed = folder.json<unknown>(0, "replay", completed, "--json");
    expect(replayed).toMatchObject({ same: true, turns: 7, first_difference: null });
    expect(folder.run("replay", `${completed}@3`).stdout).toContain("all 3 turns");
  });

  test("replays a cancelled run, a rejected gate and a fork with every kind of edit", () => {
    const details = ["--context", "no", "--artifact", 'report="text"', "--dedupe-key", "k", "--json"];
    const sent = folder.json<{ state: string }>(0, "send", waiting, "Rejected", "--by", "bob", ...details);
    expect(sent.state).toBe("work");
    const edits = ["--set", 'artifact.report="a text"', "--set", "artifact.log=x", "--var", "task=that"];
    const made = folder.json<{ run: string }>(
      0,
      "fork",
      `${completed}@2`,
      ...edits,
      "--answer",
      "3=4",
      "--event",
      "Ready",
      "--json",
    );
    expect(folder.run("cancel", made.run, "--by", "carol").code).toBe(12);
    expect(folder.run("replay", waiting).stdout).toContain("are decided the same");
    expect(folder.run("replay", made.run).stdout).toContain("are decided the same");
  });

  test("names the turn and the fact where today's rules decide otherwise", async () => {
    // The same journal beside a program that allows one visit less stands for rules that have changed.
    const changed = join(folder.path, "changed.db");
    const exported = folder.run("export", completed).stdout;
    const header = exported.split("\n", 1)[0] ?? "";
    expect(header).toContain('"maxVisits":3');
    const { pack, program, source } = JSON.parse(header.replace('"maxVisits":3', '"maxVisits":1')) as {
      readonly pack: { readonly digest: string };
      readonly program: JsonObject;
      readonly source: string;
    };
    {
      await using store = await openSqliteStore(changed);
      await store.putProgram(pack.digest, program, source);
    }
    writeFileSync(join(folder.path, "run.jsonl"), exported);
    expect(folder.run("import", "run.jsonl", "--store", changed).code).toBe(0);
    const ran = folder.run("replay", completed, "--store", changed, "--json");
    expect(ran.code).toBe(1);
    const { first_difference: first } = JSON.parse(ran.stdout) as { first_difference: unknown };
    expect(first).toMatchObject({
      turn: 4,
      recorded: { type: "entered", state: "work" },
      decided: { type: "entered", state: "gate" },
    });
    expect(folder.run("replay", completed, "--store", changed).stdout).toContain("differs at turn 4, fact ");
  });

  test.each([
    [["replay", "r_none"], 5, "run `r_none` does not exist"],
    [["replay", "RUN@99"], 5, "has no turn 99"],
  ])("%j is refused", refused);
});

describe("verify", () => {
  test("finds a sound store sound", () => {
    expect(folder.run("verify", completed).stdout).toBe(`${completed} sound\n`);
    const { runs } = folder.json<{ runs: readonly { problems: unknown[] }[] }>(
      0,
      "verify",
      "--all",
      "--json",
    );
    expect(runs.length).toBeGreaterThan(2);
    expect(runs.every(({ problems }) => problems.length === 0)).toBe(true);
  });

  test("names the damaged turn and leaves with 1, and reading it is refused with one line", () => {
    const damaged = join(folder.path, "damaged.db");
    for (const run of [waiting, completed]) {
      writeFileSync(join(folder.path, "run.jsonl"), folder.run("export", run).stdout);
      expect(folder.run("import", "run.jsonl", "--store", damaged).code).toBe(0);
    }
    const db = new DatabaseSync(damaged);
    for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all())
      db.exec(`DROP TRIGGER "${String(name)}"`);
    db.exec("UPDATE turn SET at = at + 1 WHERE id = (SELECT min(id) + 1 FROM turn)");
    db.close();
    const ran = folder.run("verify", "--all", "--store", damaged);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("turn 2 of run");
    expect(ran.stdout.match(/ sound\n/g)?.length).toBeGreaterThan(0);
    const shown = folder.run("show", waiting, "--store", damaged);
    expect(shown.code).toBe(2);
    expect(shown.stderr).toContain("is damaged");
    expect(shown.stderr).not.toContain("packloop itself failed");
  });

  test.each([
    [["verify"], 2, "name a run, or give --all"],
    [["verify", "RUN", "--all"], 2, "name a run, or give --all"],
    [["verify", "RUN@3"], 2, "names a turn"],
    [["verify", "r_none"], 5, "run `r_none` does not exist"],
    [["verify", "--all", "--store", "pack.yaml"], 2, "is not a packloop store"],
  ])("%j is refused", refused);
});
