// The runs of agents under the run that called them, in everything that shows runs.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type RunFolder, runFolder } from "../cli/run-folder.ts";
import { files, start } from "./tree-pack.ts";

/** A run that waits because the agent of its agent asks somebody. */
function waiting(): { readonly folder: RunFolder; readonly run: string } {
  const folder = runFolder(files);
  const { summary, code } = folder.summary(start);
  expect(code).toBe(10);
  return { folder, run: summary.run };
}

/** The same, decided and driven to its end. */
function ended(): { readonly folder: RunFolder; readonly run: string } {
  const made = waiting();
  made.folder.cli(["send", `${made.run}/2/3`, "Approved", "--by", "ann"]);
  expect(made.folder.summary(["resume", made.run])).toMatchObject({ code: 0 });
  return made;
}

const listed = (folder: RunFolder, ...flags: string[]) => {
  const ran = folder.cli(["ls", ...flags, "--json"]);
  const lines = JSON.parse(ran.stdout) as readonly { readonly run: string; readonly parent: string | null }[];
  return lines.map(({ run }) => run);
};

describe("while an agent's agent asks somebody", () => {
  test("`run` ends with the question of the run below and the command that answers it", () => {
    using folder = runFolder(files);
    const { stdout, stderr, code } = folder.cli(start);
    const run = /^(\S+) waiting in lead$/m.exec(stdout)?.[1] ?? "";
    expect(code).toBe(10);
    expect(stdout).toContain(`\n  ${run}/2  auditor  waiting in look\n`);
    expect(stdout).toContain(`\n    ${run}/2/3  guard  waiting in gate\n`);
    expect(stdout).toContain(`packloop send ${run}/2/3 Approved --by NAME`);
    expect(stdout).not.toContain("packloop answer");
    // Visits of agents are told with the way to their run.
    expect(stderr).toMatch(/^ {2}\/2 {2}✓ look +1 +Again /m);
    expect(stderr).toMatch(/^ {2}\/2\/3 {2}… gate +1 +waits$/m);
    expect(stderr).toMatch(/^ {2}… lead +1 +waits$/m);
  });

  test("`ls` lists the tree, callers first, and `@` is the run that was started", () => {
    const { folder, run } = waiting();
    using _folder = folder;
    expect(listed(folder)).toEqual([run, `${run}/2`, `${run}/2/3`]);
    expect(listed(folder, "--limit", "2")).toEqual([run, `${run}/2`]);
    const lines = folder.cli(["ls"]).stdout.split("\n");
    expect(lines.slice(0, 3).map((line) => /^ */.exec(line)?.[0].length)).toEqual([0, 2, 4]);
    expect(JSON.parse(folder.cli(["show", "@", "--json"]).stdout)).toMatchObject({ run });
  });

  test("the inbox has one question, with the runs that wait for its answer", () => {
    const { folder, run } = waiting();
    using _folder = folder;
    const items = JSON.parse(folder.cli(["inbox", "--json"]).stdout) as readonly unknown[];
    expect(items).toMatchObject([
      { run: `${run}/2/3`, kind: "event", events: ["Approved"], parents: [run, `${run}/2`] },
    ]);
    const text = folder.cli(["inbox"]).stdout;
    expect(text).toContain(`for ${run} → ${run}/2 → ${run}/2/3`);
    expect(text).toContain(`packloop send ${run}/2/3 Approved`);
  });

  test("an answer to the lowest run makes its callers go on, also by a process that drives nothing", () => {
    const { folder, run } = waiting();
    using _folder = folder;
    folder.cli(["send", `${run}/2/3`, "Approved", "--by", "ann"]);
    expect(listed(folder, "--status", "running")).toEqual([run, `${run}/2`, `${run}/2/3`]);
    expect(folder.summary(["resume", "@"])).toMatchObject({ code: 0, summary: { status: "completed" } });
  });
});

describe("a run that called agents", () => {
  test("says in its summary which, from which visit, and what they spent", () => {
    const { folder, run } = ended();
    using _folder = folder;
    const shown = JSON.parse(folder.cli(["show", "@", "--json"]).stdout) as unknown;
    expect(shown).toMatchObject({
      parent: null,
      used: { visits: 3, model_calls: 5, tool_calls: 2 },
      used_by_agents: { visits: 5, model_calls: 6, tool_calls: 1 },
      children: [
        { run: `${run}/2`, step: 2, agent: "auditor", state: "lead", visit: 1 },
        { run: `${run}/5`, step: 5, agent: "clerk", state: "lead", visit: 2 },
      ],
    });
    const child = JSON.parse(folder.cli(["show", `${run}/2`, "--json"]).stdout) as unknown;
    expect(child).toMatchObject({ parent: { run, step: 2 }, children: [{ run: `${run}/2/3` }] });
    expect(folder.cli(["show", "@"]).stdout).toContain(
      `  ${run}/2  auditor  completed\n    ${run}/2/3  guard  completed\n  ${run}/5  clerk  completed\n`,
    );
    expect(folder.cli(["show", `${run}/2`]).stdout).toContain(`packloop show ${run} `);
    // As it was before the clerk was called.
    const before = JSON.parse(folder.cli(["show", "@@4", "--json"]).stdout) as { readonly children: unknown };
    expect(before.children).toMatchObject([{ run: `${run}/2` }]);
  });

  test("names their runs in the rows of its trace, in every format", () => {
    const { folder, run } = ended();
    using _folder = folder;
    expect(folder.trace().map(({ children }) => children)).toEqual([[`${run}/2`], [`${run}/5`], []]);
    const table = folder.cli(["trace", "@"]).stdout.split("\n");
    expect(table[0]).toMatch(/│ Agents$/);
    expect(table[2]).toContain(`${run}/2`);
    expect(folder.cli(["trace", "@", "--format", "md"]).stdout).toContain(`| ${run}/5 |`);
    const csv = folder.cli(["trace", "@", "--format", "csv"]).stdout.split("\r\n");
    expect(csv[0]).toMatch(/,children$/);
    expect(csv[1]).toMatch(new RegExp(`,${run}/2$`));
    // Who calls nobody has no such column.
    expect(folder.cli(["trace", `${run}/5`]).stdout).not.toContain("Agents");
  });

  test("leads from the step to the agent's run", () => {
    const { folder, run } = ended();
    using _folder = folder;
    expect(folder.cli(["step", "@", "2"]).stdout).toContain(`the agent's run: ${run}/2`);
    expect(JSON.parse(folder.cli(["step", "@", "2", "--json"]).stdout)).toMatchObject({ child: `${run}/2` });
    expect(JSON.parse(folder.cli(["step", "@", "1", "--json"]).stdout)).toMatchObject({ child: null });
  });

  test("is decided the same again, and so are its agents", () => {
    const { folder, run } = ended();
    using _folder = folder;
    for (const one of [run, `${run}/2`, `${run}/2/3`, `${run}/5`])
      expect(folder.cli(["replay", one]).code, one).toBe(0);
    expect(folder.cli(["verify", "--all"]).code).toBe(0);
  });
});

describe("a fork", () => {
  test("keeps agents that had answered, and calls those anew that had not", () => {
    const { folder, run } = ended();
    using _folder = folder;
    // Turn 6 has asked the clerk; the auditor had answered before.
    const { summary, code } = folder.summary(["fork", `${run}@6`, "--follow"]);
    expect({ code, status: summary.status }).toEqual({ code: 0, status: "completed" });
    expect(summary.children.map((child) => child.run)).toEqual([`${run}/2`, `${summary.run}/5`]);
    expect(summary.used_by_agents).toMatchObject({ model_calls: 6 });
    expect(listed(folder, "--limit", "2")).toEqual([summary.run, `${summary.run}/5`]);
    expect(folder.cli(["diff", run, summary.run]).stdout).toContain("are the same");
    expect(folder.cli(["replay", summary.run]).code).toBe(0);
  });

  test("of a run whose agent waits has an agent of its own that waits", () => {
    const { folder, run } = waiting();
    using _folder = folder;
    const { summary } = folder.summary(["fork", run, "--follow"]);
    expect(summary).toMatchObject({ status: "waiting", waiting_for: [{ run: `${summary.run}/2` }] });
    folder.cli(["send", `${summary.run}/2/3`, "Approved", "--by", "ann"]);
    expect(folder.summary(["resume", summary.run])).toMatchObject({ code: 0 });
    // The origin still waits.
    expect(folder.summary(["resume", run])).toMatchObject({ code: 10, summary: { status: "waiting" } });
  });
});

describe("files and removal", () => {
  test("an exported run brings its agents along, and is taken once", () => {
    const { folder, run } = ended();
    using _folder = folder;
    folder.cli(["export", "@", "--out", "run.jsonl"]);
    const other = { env: { PACKLOOP_STORE: join(folder.path, "other.db") } };
    const taken = folder.cli(["import", "run.jsonl", "--json"], other);
    expect(JSON.parse(taken.stdout)).toMatchObject({
      run,
      agents: [{ run: `${run}/2` }, { run: `${run}/2/3` }, { run: `${run}/5`, taken: 3 }],
    });
    expect(folder.cli(["ls"], other).stdout).toBe(folder.cli(["ls"]).stdout);
    expect(folder.cli(["verify", "--all"], other).code).toBe(0);
    expect(folder.cli(["import", "run.jsonl"], other).stdout).toContain(`${run}/5 is here already`);
  });

  test("a file that lacks an agent, or has a run too many, is not taken", () => {
    const { folder, run } = ended();
    using _folder = folder;
    const text = folder.cli(["export", "@"]).stdout;
    const last = text.indexOf(`"run":"${run}/5"`);
    const cases: readonly (readonly [string, string])[] = [
      [text.slice(0, text.lastIndexOf("\n", last) + 1), "it should hold 3 runs of agents and has 2"],
      [text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1), "it should have 3 turns"],
      [`${text}{}\n`, "something follows its last run"],
      [text.replaceAll(`"run":"${run}/5"`, '"run":"r_other"'), "it does not fit its hash"],
    ];
    for (const [bytes, why] of cases) {
      writeFileSync(join(folder.path, "bad.jsonl"), bytes);
      const ran = folder.cli(["import", "bad.jsonl", "--store", join(folder.path, "none.db")]);
      expect({ code: ran.code, said: ran.stderr.includes(why) }, ran.stderr).toEqual({ code: 2, said: true });
    }
    expect(() => readFileSync(join(folder.path, "none.db"))).toThrow("ENOENT");
  });

  test("`rm` takes the agents with the run", () => {
    const { folder, run } = ended();
    using _folder = folder;
    expect(folder.cli(["rm", run, "--yes", "--json"]).stdout).toContain(`${run}/2/3`);
    expect(listed(folder)).toEqual([]);
  });

  test("`gc` keeps what an agent did as long as the run it worked for", () => {
    const { folder, run } = waiting();
    using _folder = folder;
    // A second tree, all of it ended; of the first only the lowest run has.
    folder.cli(["send", `${run}/2/3`, "Approved", "--by", "ann"]);
    folder.cli(["cancel", `${run}/2/3`, "--by", "ann"]);
    const second = folder.summary(start).summary.run;
    folder.cli(["cancel", second, "--by", "ann"]);
    const { removed } = JSON.parse(folder.cli(["gc", "--keep", "0d", "--yes", "--json"]).stdout) as {
      readonly removed: readonly string[];
    };
    expect(removed.toSorted()).toEqual([second, `${second}/2`, `${second}/2/3`]);
    expect(listed(folder)).toEqual([run, `${run}/2`, `${run}/2/3`]);
  });
});
