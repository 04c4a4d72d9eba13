// The first five minutes of a newcomer, command by command, with the package as it is published: unpacked from its
// tarball beside nothing else, an empty home folder, no keys. Without a build the sources are used instead.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import type { TraceRow } from "../../src/core/trace.ts";
import { folderWith, type Ran } from "./run-cli.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

class Newcomer {
  readonly #bin: string;
  readonly #home: string;
  folder: string;

  constructor(path: string) {
    this.#bin = join(installed(path), "bin", "packloop");
    this.#home = join(path, "home");
    this.folder = join(path, "work");
    mkdirSync(this.#home);
    mkdirSync(this.folder);
  }

  get #surroundings() {
    const env = { PATH: process.env["PATH"] ?? "", HOME: this.#home, NO_COLOR: "1" };
    return { cwd: this.folder, env };
  }

  types(line: string): Ran {
    const [, ...words] = line.split(" ");
    const ran = spawnSync(process.execPath, [this.#bin, ...words], {
      ...this.#surroundings,
      encoding: "utf8",
    });
    if (ran.status !== 0) throw new Error(`${line} ended with ${ran.status}:\n${ran.stderr}`);
    return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
  }

  reads<T>(line: string): T {
    return JSON.parse(this.types(line).stdout) as T;
  }

  starts(line: string): ChildProcess {
    const [, ...words] = line.split(" ");
    return spawn(process.execPath, [this.#bin, ...words], {
      ...this.#surroundings,
      stdio: ["ignore", "pipe", "ignore"],
    });
  }

  get homeFiles(): readonly string[] {
    return readdirSync(this.#home);
  }
}

/** The folder of the package. */
function installed(path: string): string {
  if (!existsSync(join(root, "dist", "cli.js"))) return root;
  const env = { ...process.env, npm_config_cache: join(path, "cache"), npm_config_update_notifier: "false" };
  const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", path];
  const packed = spawnSync("npm", args, { cwd: root, env, encoding: "utf8" });
  expect(packed.status, packed.stderr).toBe(0);
  const file = join(path, packed.stdout.trim());
  expect(spawnSync("tar", ["-xzf", file, "-C", path]).status).toBe(0);
  return join(path, "package");
}

const timeless = (rows: readonly TraceRow[], commits: readonly string[]): Json =>
  rows.map(({ from, event, to, visit, artifacts }) => ({
    ...{ from, event, to, visit },
    artifacts: { ...artifacts, commit_sha: commits.indexOf(String(artifacts["commit_sha"])) },
  }));

test("from init to a fork, without a key", { timeout: 120_000 }, async () => {
  using folder = folderWith({});
  const newcomer = new Newcomer(folder.path);

  // 1: the commands to type next are printed.
  const { stdout } = newcomer.types("packloop init codegen demo");
  const next = stdout.split("\n").flatMap((line) => (line.startsWith("  ") ? [line.trim()] : []));
  expect(next[0]).toBe("cd demo");
  newcomer.folder = join(newcomer.folder, "demo");
  const commits = (): readonly string[] =>
    spawnSync("git", ["-C", join(newcomer.folder, "project"), "log", "--reverse", "--format=%H"], {
      encoding: "utf8",
    })
      .stdout.trim()
      .split("\n")
      .slice(1);

  // 2 to 4: exactly as printed.
  const [, check = "", run = "", trace = "", tests = ""] = next;
  expect(newcomer.types(check).stdout).toMatch(/bounded by guards {3}exact/);
  expect(newcomer.types(run).stdout).toContain("completed");
  expect(newcomer.types(trace).stdout).toContain("→ implement (2) │ TestsFailed");
  expect(newcomer.types(tests).stdout).toContain("0 failed");
  const first = newcomer.reads<readonly TraceRow[]>("packloop trace @ --format json");
  expect(first.at(-1)?.artifacts["test_report"]).toMatchObject({ passed: 5, failed: 0 });
  expect(commits()).toHaveLength(2);

  // 5: killed in the third visit, and resumed.
  const killed = newcomer.starts(`${run} --json`);
  await hears(killed, /"type":"entered","state":"test"/);
  killed.kill("SIGKILL");
  await once(killed, "close");
  newcomer.types("packloop resume @");
  const resumed = newcomer.reads<readonly TraceRow[]>("packloop trace @ --format json");
  expect(commits()).toHaveLength(4);
  expect(timeless(resumed, commits().slice(2))).toEqual(timeless(first, commits().slice(0, 2)));

  // 6: another plan from the middle; the original stays as it is.
  const [{ run: original = "" } = {}] = newcomer.reads<readonly Partial<Summary>[]>("packloop ls --json");
  writeFileSync(join(newcomer.folder, "plan2.md"), "1. Accept parts of a unit first.\n");
  newcomer.types(`packloop fork ${original}@4 --set artifact.plan=@plan2.md`);
  newcomer.types("packloop resume @");
  expect(newcomer.reads<readonly TraceRow[]>(`packloop trace ${original} --format json`)).toEqual(resumed);
  expect(newcomer.types(`packloop diff ${original} @`).stdout).toMatch(/ differ\nfirst in \w+#1: /);
  expect(newcomer.types("packloop verify --all").stdout).not.toBe("");
  expect(newcomer.homeFiles).toEqual([]);
});

/** Resolves when the process has printed something like that. */
function hears(child: ChildProcess, pattern: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (pattern.test(text)) resolve();
    });
    child.once("close", () => reject(new Error(`it ended without saying ${String(pattern)}:\n${text}`)));
  });
}
