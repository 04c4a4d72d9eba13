// The git tool on real repositories: commits that are found again, and nothing of the workspace that starts.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bindGit } from "../../../src/adapter/tool/git/bind-git.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { Fault } from "../../../src/engine/ports.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

/** Git as a person would use it, with the settings of nobody. */
const git = (bench: Bench, ...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
    cwd: bench.workspace,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: bench.folder, GIT_CONFIG_NOSYSTEM: "1" },
  }).trim();

const make = (files: Readonly<Record<string, string>>) =>
  Bench.make(files, { HOME: "/nonexistent", GIT_AUTHOR_NAME: "", GIT_AUTHOR_EMAIL: "" });

async function repository(files: Readonly<Record<string, string>>): Promise<Bench> {
  const bench = await make(files);
  git(bench, "init", "-q", "-b", "main");
  git(bench, "add", "-A");
  git(bench, "commit", "-q", "-m", "start");
  return bench;
}

const bind = (bench: Bench, options: JsonObject) =>
  bench.bind(bindGit, { name: "Pack Loop", email: "p@l", ...options });
const commit = (bench: Bench, message: string, step: number) =>
  bench.call(bind(bench, { op: "commit" }), { message }, { step });

describe("commit", () => {
  test("takes everything, says what changed and who it was", async () => {
    await using bench = await repository({ "a.txt": "one\ntwo\n", "gone.txt": "x\n" });
    await bench.put("a.txt", "one\n2\n3\n");
    await bench.put("new/b.txt", "b\n");
    await rm(bench.at("gone.txt"));
    const answer = valueOf(await commit(bench, "Change things\n\nBecause.", 4));
    expect(answer).toEqual({
      sha: git(bench, "rev-parse", "HEAD"),
      changed: true,
      files: 3,
      insertions: 3,
      deletions: 2,
    });
    expect(git(bench, "log", "-1", "--format=%an <%ae>|%cn|%B")).toBe(
      "Pack Loop <p@l>|Pack Loop|Change things\n\nBecause.\n\nPackloop-Run: r_1\nPackloop-Step: 4",
    );
    expect(git(bench, "status", "--porcelain")).toBe("");
  });

  test("made again after a crash is the same commit", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    await bench.put("a.txt", "two\n");
    const first = await commit(bench, "Two", 4);
    await bench.put("a.txt", "three\n");
    expect(await commit(bench, "Two", 4)).toEqual(first);
    expect(git(bench, "rev-list", "--count", "HEAD")).toBe("2");
    const second = await commit(bench, "Three", 5);
    expect(second).not.toEqual(first);
    expect(await commit(bench, "Two", 4)).toEqual(first);
  });

  test("of another run with the same step is another commit", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    const tool = bind(bench, { op: "commit" });
    await bench.put("a.txt", "two\n");
    const first = valueOf(await bench.call(tool, { message: "x" }, { step: 4 }));
    await bench.put("a.txt", "three\n");
    const other = valueOf(await bench.call(tool, { message: "x" }, { step: 4, run: "r_2" }));
    expect(other["sha"]).not.toBe(first["sha"]);
  });

  test("is not mistaken for one whose message only claims the trailers", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    await bench.put("a.txt", "two\n");
    const first = valueOf(await commit(bench, "x\n\nPackloop-Run: r_1\nPackloop-Step: 9", 4));
    await bench.put("a.txt", "three\n");
    expect(valueOf(await commit(bench, "y", 9))["sha"]).not.toBe(first["sha"]);
  });

  test("of nothing answers the commit that is there", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    const head = git(bench, "rev-parse", "HEAD");
    expect(valueOf(await commit(bench, "nothing", 4))).toEqual({
      sha: head,
      changed: false,
      files: 0,
      insertions: 0,
      deletions: 0,
    });
  });

  test("makes a repository where there is none, unless told not to", async () => {
    await using bench = await make({ "a.txt": "one\n" });
    const closed = bind(bench, { op: "commit", init: false });
    expect(codeOf(await bench.call(closed, { message: "x" }))).toBe("no_repository");
    expect(valueOf(await commit(bench, "first", 4))).toMatchObject({ changed: true, files: 1 });
    expect(git(bench, "rev-list", "--count", "HEAD")).toBe("1");
  });

  test("never climbs to a repository around the workspace", async () => {
    await using bench = await make({ "a.txt": "one\n" });
    execFileSync("git", ["init", "-q", bench.folder]);
    expect(codeOf(await bench.call(bind(bench, { op: "status" }), {}))).toBe("no_repository");
  });

  test("leaves out what packloop keeps, also when it is ignored", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    await bench.put(".packloop/runs.db", "secret");
    await bench.put("src/.packloop-0123.tmp", "half");
    await bench.put("src/b.txt", "b");
    await commit(bench, "x", 4);
    expect(git(bench, "ls-files")).toBe("a.txt\nsrc/b.txt");
    await bench.put(".gitignore", ".packloop\n");
    expect(valueOf(await commit(bench, "y", 5))).toMatchObject({ files: 1 });
  });

  test("works in a worktree of another repository", async () => {
    await using bench = await make({});
    const origin = join(bench.folder, "origin");
    execFileSync("git", ["init", "-q", "-b", "main", origin]);
    const ada = ["-c", "user.name=A", "-c", "user.email=a@b"];
    execFileSync("git", [...ada, "commit", "-q", "--allow-empty", "-m", "x"], { cwd: origin });
    await rm(bench.workspace, { recursive: true });
    execFileSync("git", ["worktree", "add", "-q", "-b", "loop", bench.workspace], { cwd: origin });
    await bench.put("a.txt", "one\n");
    const { sha } = valueOf(await commit(bench, "in the worktree", 4));
    expect(execFileSync("git", ["rev-parse", "loop"], { cwd: origin, encoding: "utf8" }).trim()).toBe(sha);
  });

  test("waits for another git, and not for one that died", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    await bench.put("a.txt", "two\n");
    const lock = bench.at(".git/index.lock");
    await writeFile(lock, "");
    const failed = commit(bench, "x", 4);
    await expect(failed).rejects.toBeInstanceOf(Fault);
    await expect(failed).rejects.toMatchObject({ code: "locked", retry: "later" });
    const old = new Date(Date.now() - 3_600_000);
    await utimes(lock, old, old);
    expect(valueOf(await commit(bench, "x", 4))).toMatchObject({ changed: true });
  });
});

describe("looking", () => {
  test("diff shows changes since a commit, and files git does not know", async () => {
    await using bench = await repository({ "a.txt": "one\n", "b.txt": "b\n" });
    await bench.put("a.txt", "two\n");
    await bench.put("new.txt", "n\n");
    const answer = valueOf(await bench.call(bind(bench, { op: "diff" }), {}));
    expect(answer["diff"]).toContain("-one\n+two\n");
    expect(answer["untracked"]).toEqual(["new.txt"]);
    await commit(bench, "x", 4);
    const between = valueOf(
      await bench.call(bind(bench, { op: "diff" }), { from: "HEAD~1", to: "HEAD", path: "new.txt" }),
    );
    expect(between["diff"]).toContain("+n");
    expect(between["diff"]).not.toContain("two");
  });

  test("show, log and status", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    const first = git(bench, "rev-parse", "HEAD");
    await bench.put("a.txt", "two\n");
    expect(valueOf(await bench.call(bind(bench, { op: "status" }), {}))).toEqual({
      sha: first,
      clean: false,
      changes: [{ path: "a.txt", change: "changed" }],
    });
    const { sha } = valueOf(await commit(bench, "Second", 4));
    const shown = valueOf(await bench.call(bind(bench, { op: "show" }), { sha: sha as string }));
    expect(shown).toMatchObject({ sha, author: "Pack Loop", date: "2030-01-01T00:00:00+00:00" });
    expect(shown["diff"]).toContain("-one\n+two");
    const before = valueOf(await bench.call(bind(bench, { op: "show" }), { rev: "HEAD~1", path: "a.txt" }));
    expect(before).toEqual({ sha: first, path: "a.txt", content: "one\n" });
    const log = valueOf(await bench.call(bind(bench, { op: "log" }), { limit: 1 }));
    expect(log["commits"]).toMatchObject([{ sha, subject: "Second" }]);
  });

  test("long output is cut and says by how much", async () => {
    await using bench = await repository({ "a.txt": "" });
    await bench.put("a.txt", "line\n".repeat(100_000));
    const answer = valueOf(await bench.call(bind(bench, { op: "diff" }), {}));
    expect(JSON.stringify(answer).length).toBeLessThan(300 * 1024);
    expect(answer["left_out"]).toMatch(/^\d+ bytes$/);
  });

  test.each(["--output=x", "-p", "HEAD..x", "$(touch x)", "HEAD:a.txt", "a b", "", "missing"])(
    "the commit `%s` is refused",
    async (rev) => {
      await using bench = await repository({ "a.txt": "one\n" });
      for (const op of ["show", "diff"]) {
        const answer = await bench.call(bind(bench, { op }), { rev });
        expect(codeOf(answer)).toMatch(/^(bad_arguments|not_found)$/);
      }
      expect(existsSync(bench.at("x"))).toBe(false);
    },
  );

  test("paths outside are refused", async () => {
    await using bench = await repository({ "a.txt": "one\n" });
    for (const path of ["../outside", "/etc/passwd", ".git/config"])
      expect(codeOf(await bench.call(bind(bench, { op: "show" }), { path }))).toMatch(
        /outside_workspace|protected/,
      );
  });
});

describe("nothing of the workspace starts", () => {
  const program = (bench: Bench) => bench.at("evil.sh");
  const marker = (bench: Bench) => join(bench.folder, "started");

  async function armed(settings: (program: string) => string, attributes = ""): Promise<Bench> {
    const bench = await repository({ "a.txt": "one\n", ".gitattributes": attributes });
    await writeFile(program(bench), `#!/bin/sh\ntouch ${marker(bench)}\ncat\n`);
    await chmod(program(bench), 0o755);
    const config = bench.at(".git/config");
    await writeFile(config, `${readFileSync(config, "utf8")}\n${settings(program(bench))}\n`);
    await bench.put("a.txt", "two\n");
    return bench;
  }

  async function everything(bench: Bench): Promise<void> {
    await commit(bench, "x", 4);
    for (const op of ["diff", "show", "log", "status"]) await bench.call(bind(bench, { op }), {});
  }

  test.each<[string, (program: string) => string, string]>([
    ["fsmonitor", (p) => `[core]\nfsmonitor = ${p}`, ""],
    ["hooks path", () => "[core]\nhooksPath = hooks", ""],
    ["pager", (p) => `[core]\npager = ${p}\n[pager]\nlog = ${p}\ndiff = ${p}`, ""],
    ["editor", (p) => `[core]\neditor = ${p}`, ""],
    ["signing", (p) => `[commit]\ngpgSign = true\n[gpg]\nprogram = ${p}\n[log]\nshowSignature = true`, ""],
    ["external diff", (p) => `[diff]\nexternal = ${p}`, ""],
    ["trailer", (p) => `[trailer "Packloop-Run"]\ncommand = ${p}\ncmd = ${p}`, ""],
    ["filter", (p) => `[filter "x"]\nclean = ${p}\nsmudge = ${p}`, "* filter=x\n"],
    ["process filter", (p) => `[filter "x"]\nprocess = ${p}\nrequired = true`, "* filter=x\n"],
    ["text conversion", (p) => `[diff "x"]\ntextconv = ${p}`, "* diff=x\n"],
    ["diff command", (p) => `[diff "x"]\ncommand = ${p}`, "* diff=x\n"],
    ["included settings", () => "[include]\npath = ../more.cfg", "* filter=x\n"],
  ])("%s", async (_, settings, attributes) => {
    await using bench = await armed(settings, attributes);
    await writeFile(bench.at("more.cfg"), `[filter "x"]\nclean = ${program(bench)}\n`);
    for (const folder of [".git/hooks", "hooks"]) {
      await mkdir(bench.at(folder), { recursive: true });
      for (const hook of [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "prepare-commit-msg",
        "post-index-change",
      ]) {
        await writeFile(bench.at(`${folder}/${hook}`), `#!/bin/sh\ntouch ${marker(bench)}\n`);
        await chmod(bench.at(`${folder}/${hook}`), 0o755);
      }
    }
    await everything(bench);
    expect(existsSync(marker(bench))).toBe(false);
  });

  test("the attack works on a git that is not careful", async () => {
    await using bench = await armed((path) => `[filter "x"]\nclean = ${path}`, "* filter=x\n");
    git(bench, "add", "-A");
    expect(existsSync(marker(bench))).toBe(true);
  });

  test("a repository that is another one in disguise is not used", async () => {
    await using bench = await make({ "a.txt": "one\n" });
    const other = join(bench.folder, "other");
    execFileSync("git", ["init", "-q", other]);
    const tries: readonly (() => Promise<void>)[] = [
      () => writeFile(bench.at(".git"), `gitdir: ${other}/.git\n`),
      () => symlink(`${other}/.git`, bench.at(".git")),
      () => writeFile(bench.at(".git"), "gitdir: missing\n"),
      () => writeFile(bench.at(".git"), "nonsense\n"),
      async () => {
        execFileSync("git", ["init", "-q", bench.workspace]);
        await writeFile(bench.at(".git/commondir"), `${other}/.git\n`);
      },
    ];
    for (const arrange of tries) {
      await rm(bench.at(".git"), { recursive: true, force: true });
      await arrange();
      expect(codeOf(await commit(bench, "x", 4))).toBe("unsafe_repository");
    }
    expect(existsSync(join(other, ".git", "refs", "heads", "main"))).toBe(false);
  });
});

test("options are checked", async () => {
  await using bench = await make({});
  expect(problemsOf(bindGit, { op: "push" }, bench.around)).toHaveLength(1);
  expect(problemsOf(bindGit, { op: "commit", name: 3 }, bench.around)).toEqual([
    "tools.t.name: `name` is a text",
  ]);
  expect(bind(bench, { op: "commit" })).toMatchObject({ tier: "write", safe: true });
  expect(bind(bench, { op: "diff" })).toMatchObject({ tier: "read", safe: true });
});
