// `packloop export`, `import`, `rm`, `gc`: where runs go.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { packloop } from "./run-cli.ts";
import { type Folder, folderOfRuns, lastLine, type Summary, withHeader } from "./sample-runs.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

const names = (folder: Folder, ...args: string[]): readonly string[] =>
  folder.json<readonly Summary[]>(0, "ls", "--json", ...args).map(({ run }) => run);

describe("export and import", () => {
  test("a run arrives in another store as it was, goes on there, and is taken once", () => {
    using folder = folderOfRuns();
    const run = folder.waiting();
    expect(folder.run("export", run, "--out", "run.jsonl").stderr).toContain("turns in run.jsonl");
    const text = readFileSync(join(folder.path, "run.jsonl"), "utf8");
    expect(text.split("\n")).toHaveLength(1 + 5 + 1);
    expect(JSON.parse(text.split("\n")[0] ?? "")).toMatchObject({ kind: "packloop.run/1", run, turns: 5 });
    expect(text, "no path and no binding travels with a run").not.toContain(folder.path);
    expect(folder.json<unknown>(0, "import", "run.jsonl", "--store", "b.db", "--json")).toEqual({
      run,
      turns: 5,
      taken: 5,
    });
    expect(folder.run("import", "run.jsonl", "--store", "b.db").stdout).toBe(`${run} is here already\n`);
    expect(folder.run("export", run, "--store", "b.db").stdout).toBe(text);
    const piped = packloop(["import", "-", "--store", "c.db"], { cwd: folder.path, input: text });
    expect(piped.stdout).toBe(`${run}: 5 turns taken\n`);
    expect(folder.run("verify", run, "--store", "b.db").code).toBe(0);
    const sent = lastLine(folder.run("send", run, "Approved", "--follow", "--json", "--store", "b.db"));
    expect(sent.status).toBe("completed");
  });

  test("a file that has no room for all of it is refused, and nothing of it is left", () => {
    using folder = folderOfRuns();
    const file = join(folder.path, "run.test.json");
    writeFileSync(file, "of before");
    const long = `task=${"x".repeat(100_000)}`;
    folder.run("run", "pack.yaml", "--script", "script.yaml", "--var", long);
    const args = [process.execPath, bin, "export", "@", "--test", "--out", file];
    const { status, stderr } = spawnSync("sh", ["-c", 'ulimit -f 90; exec "$0" "$@"', ...args], {
      cwd: folder.path,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining("cannot write `")]);
    expect(readFileSync(file, "utf8")).toBe("of before");
    expect(existsSync(`${file}.partial`)).toBe(false);
  });

  test("a later export of the same run brings the turns that are missing", () => {
    using folder = folderOfRuns();
    const run = folder.waiting();
    folder.run("export", run, "--out", "early.jsonl");
    folder.run("import", "early.jsonl", "--store", "b.db");
    folder.run("send", run, "Approved", "--follow");
    folder.run("export", run, "--out", "late.jsonl");
    expect(folder.json<unknown>(0, "import", "late.jsonl", "--store", "b.db", "--json")).toMatchObject({
      taken: 2,
    });
    expect(folder.run("import", "early.jsonl", "--store", "b.db").code).toBe(0);
    expect(folder.run("verify", run, "--store", "b.db").code).toBe(0);
  });

  test("a run that went another way there is refused and left alone", () => {
    using folder = folderOfRuns();
    const run = folder.waiting();
    folder.run("export", run, "--out", "early.jsonl");
    folder.run("import", "early.jsonl", "--store", "b.db");
    folder.run("send", run, "Rejected", "--store", "b.db");
    folder.run("send", run, "Approved");
    folder.run("export", run, "--out", "late.jsonl");
    const there = folder.run("export", run, "--store", "b.db").stdout;
    const ran = folder.run("import", "late.jsonl", "--store", "b.db");
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("they differ at turn 6");
    expect(folder.run("export", run, "--store", "b.db").stdout).toBe(there);
  });

  test("a fork, which has a past that is not its own, arrives sound", () => {
    using folder = folderOfRuns();
    const made = folder.json<Summary>(0, "fork", `${folder.completed()}@3`, "--json");
    folder.run("export", made.run, "--out", "fork.jsonl");
    expect(folder.run("import", "fork.jsonl", "--store", "b.db").code).toBe(0);
    expect(folder.run("verify", made.run, "--store", "b.db").stdout).toBe(`${made.run} sound\n`);
  });

  test("a file that was cut or changed is refused, and nothing of it is taken", () => {
    using folder = folderOfRuns();
    const text = folder.run("export", folder.waiting()).stdout;
    const cases: readonly (readonly [string, string])[] = [
      [text.slice(0, -1), "it was cut"],
      [text.slice(0, text.lastIndexOf("{")), "it was cut"],
      [text.replace('"width"', '"depth"'), "does not fit its hash"],
      [text.replace('"file":"pack.yaml"', '"file":"evil.yaml"'), "does not fit its hash"],
      [
        withHeader(text, (header) => header.replace("packloop.run/1", "packloop.run/9")),
        "does not begin with a header",
      ],
      [
        withHeader(text.replace('"step":1', '"step":7'), (header) => header.replace('"file":', '"File":')),
        "turn 1 cannot be folded",
      ],
      ["", "does not begin with a header"],
      ["id: s\n", "does not begin with a header"],
    ];
    for (const [content, message] of cases) {
      writeFileSync(join(folder.path, "bad.jsonl"), content);
      const ran = folder.run("import", "bad.jsonl", "--store", "b.db");
      expect(ran.stderr).toContain(message);
      expect(ran.code).toBe(2);
    }
    expect(existsSync(join(folder.path, "b.db"))).toBe(false);
  });

  test.each([
    [["import", "none.jsonl"], 2, "cannot open `none.jsonl`"],
    [["export", "r_none"], 5, "there are no runs here"],
    [["export", "@", "--store", "pack.yaml"], 2, "is not a packloop store"],
  ])("%j is refused", (args, code, message) => {
    using folder = folderOfRuns();
    const ran = folder.run(...args);
    expect(ran.stderr).toContain(message);
    expect(ran.code).toBe(code);
  });
});

describe("rm", () => {
  test("removes what is named, after --yes, and forks of it stay", () => {
    using folder = folderOfRuns();
    const [one, two] = [folder.completed(), folder.waiting()];
    const made = folder.json<Summary>(0, "fork", `${one}@3`, "--json").run;
    const ran = folder.run("rm", one, two);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(
      `this removes 2 runs (\`${one}\`, \`${two}\`), 1 of them not finished; nothing was removed (give --yes to do it)`,
    );
    expect(folder.run("rm", one, "r_none", "--yes").code).toBe(5);
    expect(folder.run("rm", `${one}@2`, "--yes").code).toBe(2);
    expect(names(folder)).toEqual([made, two, one]);
    expect(folder.json<unknown>(0, "rm", one, one, two, "--yes", "--json")).toEqual({ removed: [one, two] });
    expect(names(folder)).toEqual([made]);
    expect(lastLine(folder.run("resume", made, "--json")).state).toBe("gate");
  });

  test("a store that another process writes to is left alone: exit 6", async () => {
    using folder = folderOfRuns();
    const run = folder.waiting();
    // A conversation holds the store for as long as its input is open.
    const holder = spawn(
      process.execPath,
      [bin, "chat", "pack.yaml", "--var", "task=it", "--script", "script.yaml"],
      {
        cwd: folder.path,
      },
    );
    try {
      await once(holder.stderr, "data");
      for (const args of [
        ["rm", run, "--yes"],
        ["gc", "--yes"],
        ["fork", `${run}@3`],
      ]) {
        const ran = folder.run(...args);
        expect(ran.stderr).toContain(`process ${holder.pid}`);
        expect(ran.code).toBe(6);
      }
      expect(folder.run("inbox").stdout).toContain(run);
    } finally {
      holder.stdin.end();
      await once(holder, "exit");
    }
  });
});

describe("gc", () => {
  test("removes finished runs older than --keep and no others", () => {
    using folder = folderOfRuns();
    const [finished, waits] = [folder.completed(), folder.waiting()];
    expect(folder.run("gc", "--keep", "1d", "--dry-run").stdout).toBe("nothing to remove\n");
    expect(folder.run("gc", "--keep", "0d", "--dry-run").stdout).toContain(finished);
    expect(folder.run("gc", "--keep", "0d").code).toBe(2);
    expect(folder.run("gc", "--keep", "1d", "--yes").stdout).toContain("removed 0 runs");
    expect(names(folder)).toEqual([waits, finished]);
    expect(folder.json<unknown>(0, "gc", "--keep", "0d", "--yes", "--json")).toMatchObject({
      removed: [finished],
    });
    expect(names(folder)).toEqual([waits]);
    expect(folder.run("verify", "--all").code).toBe(0);
    expect(folder.run("send", waits, "Approved", "--follow").code).toBe(0);
  });

  test.each(["30", "d", "-1d", "1y", ""])("`%s` is not a time", (keep) => {
    using folder = folderOfRuns();
    const ran = folder.run("gc", "--keep", keep);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("is not a time");
  });
});
