// Stores as strangers meet them: paths where no store can be, damaged runs, runs that come and go with the
// programs they need.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { live, runFolder } from "./run-folder.ts";
import { folderOfRuns, type Summary, pack as samplePack } from "./sample-runs.ts";
import { files, start, states } from "./work-pack.ts";

describe("a path where no store can be", () => {
  const paths: readonly (readonly [path: string, message: string])[] = [
    ["", "is empty"],
    ["folder", "`folder` is a folder (name a file in it)"],
    ["new/", "`new/` is a folder (name a file in it)"],
    ["pack.yaml/runs.db", "`pack.yaml` is not a folder"],
    ["dangling", "`dangling` is a link that leads nowhere"],
    ...(process.platform === "linux"
      ? ([
          ["pipe", "`pipe` is not an ordinary file"],
          ["/dev/null", "`/dev/null` is not an ordinary file"],
          ["/proc/packloop/runs.db", "is in a file system of the kernel"],
          ["/proc/self/runs.db", "is in a file system of the kernel"],
          ["/sys/runs.db", "is in a file system of the kernel"],
        ] as const)
      : []),
  ];

  test.each(paths)("`%s` is refused at once and in one line", (path, message) => {
    using folder = runFolder(files);
    mkdirSync(join(folder.path, "folder"));
    symlinkSync("nowhere", join(folder.path, "dangling"));
    spawnSync("mkfifo", [join(folder.path, "pipe")]);
    const before = readdirSync(folder.path);
    for (const args of [start, ["ls"], ["resume", "@"]]) {
      const ran = folder.cli([...args, "--store", path]);
      expect(ran.stderr).toContain(message);
      expect(ran.stderr).toMatch(/^error: [^\n]*\n$/);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
    }
    expect(readdirSync(folder.path)).toEqual(before);
  });

  test("names that mean something to SQLite are only names here", () => {
    using folder = runFolder(files);
    expect(folder.summary([...start, "--store", ":memory:"]).code).toBe(0);
    expect(folder.cli(["ls", "--store", ":memory:"]).stdout).toContain("completed");
  });

  test("a link to a store is locked with it", async () => {
    using folder = runFolder({ ...files, "script.yaml": states("{ event: Again, delay_ms: 60000 }") });
    folder.cli([...start, "--detach"]);
    symlinkSync(join(".packloop", "runs.db"), join(folder.path, "link.db"));
    const holder = live(["resume", "@", "--json"], folder.path);
    // Nothing is printed while the model thinks; the owner's note says that the store is held.
    while (!existsSync(`${folder.store}-owner`)) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(folder.cli(["cancel", "@", "--store", "link.db"]).code).toBe(6);
    holder.kill("SIGTERM");
    expect((await holder.ended).code).toBe(143);
  });

  test("a file that is no store gets no companions", () => {
    using folder = runFolder({ ...files, "notes.db": "these are my notes\n" });
    const other = new DatabaseSync(join(folder.path, "other.db"));
    other.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x)");
    other.close();
    const before = readdirSync(folder.path);
    for (const name of ["notes.db", "other.db"])
      expect(folder.cli([...start, "--store", name]).stderr).toContain("is not a packloop store");
    expect(readdirSync(folder.path)).toEqual(before);
  });

  test("a start that is refused makes no store", () => {
    using folder = runFolder(files);
    expect(folder.cli(["run", "pack.yaml", "--script", "script.yaml"]).code).toBe(2);
    expect(folder.cli(["chat", "--resume", "@"]).code).toBe(5);
    expect(existsSync(join(folder.path, ".packloop"))).toBe(false);
  });
});

describe("a damaged run among sound ones", () => {
  /** Three runs; what the middle one was created with is changed behind the store's back. */
  function damaged() {
    const folder = folderOfRuns();
    const runs = [folder.completed(), folder.completed(), folder.waiting()] as const;
    const db = new DatabaseSync(join(folder.path, ".packloop", "runs.db"));
    db.exec(`DROP TRIGGER run_is_not_changed; UPDATE run SET setup = '{}' WHERE name = '${runs[1]}'`);
    db.close();
    return { folder, runs };
  }

  test("verify --all names it, goes on to the others, and exits 1", () => {
    const { folder, runs } = damaged();
    using _folder = folder;
    const all = folder.json<{ runs: { run: string; problems: string[] }[] }>(1, "verify", "--all", "--json");
    expect(all.runs.map(({ run, problems }) => [run, problems.length])).toEqual([
      [runs[2], 0],
      [runs[1], 1],
      [runs[0], 0],
    ]);
    expect(all.runs[1]?.problems[0]).toContain("does not fit its sum");
    expect(folder.run("verify", runs[1]).code).toBe(1);
    expect(folder.run("verify", runs[0]).code).toBe(0);
  });

  test("ls and gc see the others and say which one is damaged; inbox does not meet it", () => {
    const { folder, runs } = damaged();
    using _folder = folder;
    for (const args of [["ls"], ["gc", "--keep", "0d", "--dry-run"]]) {
      const ran = folder.run(...args);
      expect(ran.code).toBe(1);
      expect(ran.stdout).toContain(runs[0]);
      expect(ran.stderr).toBe(`error: run \`${runs[1]}\` is damaged (see packloop verify ${runs[1]})\n`);
    }
    expect(folder.run("ls", "--status", "completed", "--pack", "other").stdout).toBe("no runs\n");
    expect(folder.run("inbox")).toMatchObject({ code: 0, stdout: expect.stringContaining(runs[2]) });
  });

  test("it can be removed, and then all is well", () => {
    const { folder, runs } = damaged();
    using _folder = folder;
    expect(folder.run("rm", runs[1], "--yes").code).toBe(0);
    expect(folder.run("verify", "--all").code).toBe(0);
    expect(folder.run("ls").code).toBe(0);
  });
});

describe("runs and the programs they need", () => {
  test("a fork onto another pack, imported, keeps both programs when all else goes", () => {
    const edited = samplePack.replace("Say goodbye.", "Say farewell.");
    using folder = folderOfRuns({ "other.yaml": edited });
    const origin = folder.waiting();
    const fork = folder.json<Summary>(0, "fork", `${origin}@5`, "--pack", "other.yaml", "--json").run;
    folder.run("export", fork, "--out", "fork.jsonl");
    folder.run("import", "fork.jsonl", "--store", "b.db");
    folder.run("rm", origin, "--yes");
    for (const store of ["b.db", ".packloop/runs.db"]) {
      expect(folder.run("gc", "--keep", "0d", "--yes", "--store", store).code).toBe(0);
      expect(folder.run("verify", fork, "--store", store).code).toBe(0);
      expect(folder.run("replay", fork, "--store", store)).toMatchObject({ code: 0 });
      expect(folder.run("show", `${fork}@3`, "--store", store).code).toBe(0);
      expect(folder.run("step", fork, "1", "--prompt", "--store", store).code).toBe(0);
    }
  });
});
