// `packloop init`: what it says, what it makes, and what it leaves alone.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTerminal, onTerminal } from "./on-terminal.ts";
import { folderWith, packloop } from "./run-cli.ts";

const NAMES = ["worker", "codegen", "explore", "remediate", "research", "draft", "audit", "etl"];

interface Made {
  readonly template: string;
  readonly folder: string;
  readonly files: readonly string[];
  readonly next: readonly string[];
  readonly warnings: readonly string[];
}

function made(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Made {
  const ran = packloop(["init", ...args, "--json"], { cwd, env });
  expect(ran.code, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Made;
}

const git = (folder: string, ...args: readonly string[]): string =>
  spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" }).stdout.trim();

describe("the list of templates", () => {
  test("is shown where no template is named and nobody can be asked", () => {
    using folder = folderWith({});
    const ran = packloop(["init"], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    for (const name of NAMES) expect(ran.stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, "m"));
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("is data with --json", () => {
    const list = JSON.parse(packloop(["init", "--list", "--json"]).stdout) as readonly { name: string }[];
    expect(list.map(({ name }) => name)).toEqual(NAMES);
  });

  test.skipIf(!hasTerminal)("is a question on a terminal", async () => {
    using folder = folderWith({});
    const terminal = onTerminal(["init"], { cwd: folder.path, columns: 100 });
    await terminal.until((screen) => screen.includes("number or name"));
    terminal.keys("1\r");
    const { code } = await terminal.ended;
    expect(code).toBe(0);
    expect(readdirSync(folder.path)).toEqual(["worker"]);
  });
});

describe("a template that is made", () => {
  test("goes to a folder of its name, and the next commands are printed", () => {
    using folder = folderWith({});
    const ran = packloop(["init", "worker"], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    const commands = ran.stdout.split("\n").flatMap((line) => (line.startsWith("  ") ? [line.trim()] : []));
    expect(commands).toEqual([
      "cd worker",
      "packloop check --bound",
      "packloop run --script script.yaml",
      "packloop trace @",
      "packloop test",
      "packloop run --model anthropic/claude-sonnet-5",
    ]);
    expect(readdirSync(join(folder.path, "worker"))).toEqual(
      expect.arrayContaining([
        "README.md",
        "packloop.yaml",
        "script.yaml",
        "worker.pack.yaml",
        "worker.test.yaml",
      ]),
    );
  });

  test("can go here, or to a folder whose name a shell would take apart", () => {
    using folder = folderWith({});
    expect(made(["worker", "."], folder.path).next[0]).toBe("packloop check --bound");
    expect(existsSync(join(folder.path, "worker.pack.yaml"))).toBe(true);
    expect(made(["worker", "it's here"], folder.path).next[0]).toBe(String.raw`cd 'it'\''s here'`);
  });

  test("lists every file it made", () => {
    using folder = folderWith({});
    const { files, folder: target } = made(["explore", "data"], folder.path);
    expect(files).toContain("data/shop.db");
    for (const file of files) expect(existsSync(join(target, file)), file).toBe(true);
  });

  test("is the first one with --yes", () => {
    using folder = folderWith({});
    expect(made(["--yes"], folder.path).template).toBe(NAMES[0]);
  });

  test("has the one line for a real model, commented", () => {
    using folder = folderWith({});
    for (const name of NAMES) {
      made([name], folder.path);
      const settings = readFileSync(join(folder.path, name, "packloop.yaml"), "utf8");
      expect(settings).toMatch(/^# model: anthropic\/claude-sonnet-5$/m);
    }
  });
});

describe("files in the way", () => {
  test("are named, and nothing is written", () => {
    using folder = folderWith({ "README.md": "mine", "script.yaml": "mine too" });
    const ran = packloop(["init", "worker", "."], { cwd: folder.path });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("`README.md`, `script.yaml` would be overwritten");
    expect(readdirSync(folder.path).toSorted()).toEqual(["README.md", "script.yaml"]);
    expect(readFileSync(join(folder.path, "README.md"), "utf8")).toBe("mine");
  });

  test("are overwritten with --force, others stay", () => {
    using folder = folderWith({ "README.md": "mine", "notes.txt": "keep" });
    made(["worker", ".", "--force"], folder.path);
    expect(readFileSync(join(folder.path, "README.md"), "utf8")).toContain("worker");
    expect(readFileSync(join(folder.path, "notes.txt"), "utf8")).toBe("keep");
  });

  test("that are links are replaced, and what they lead to stays", () => {
    using folder = folderWith({ "elsewhere.md": "mine" });
    mkdirSync(join(folder.path, "w"));
    symlinkSync("../elsewhere.md", join(folder.path, "w", "README.md"));
    expect(packloop(["init", "worker", "w"], { cwd: folder.path }).code).toBe(2);
    made(["worker", "w", "--force"], folder.path);
    expect(readFileSync(join(folder.path, "elsewhere.md"), "utf8")).toBe("mine");
  });

  test("include the folder itself when it is a file", () => {
    using folder = folderWith({ worker: "a file" });
    const ran = packloop(["init", "worker"], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 2, stderr: "error: `worker` is a file (name a folder)\n" });
  });
});

test("a name that is no template is answered with the one that was meant", () => {
  const ran = packloop(["init", "explor"]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toBe("error: `explor` is not a template (did you mean `explore`?)\n");
});

describe("the sample repository", () => {
  test("has one commit by a fixed identity, whatever the person's settings are", () => {
    using folder = folderWith({ ".gitconfig": "[user]\n\tname = Ada\n[commit]\n\tgpgSign = true\n" });
    const settings = readFileSync(join(folder.path, ".gitconfig"), "utf8");
    const env = { HOME: folder.path, GIT_DIR: join(folder.path, "other.git"), GIT_AUTHOR_NAME: "Ada" };
    const { warnings } = made(["codegen"], folder.path, env);
    expect(warnings).toEqual([]);
    const project = join(folder.path, "codegen", "project");
    expect(git(project, "log", "--format=%an <%ae> %cn %s")).toBe(
      "packloop <packloop@localhost> packloop The project as it is",
    );
    expect(git(project, "status", "--porcelain")).toBe("");
    expect(git(project, "branch", "--show-current")).toBe("main");
    expect(readFileSync(join(folder.path, ".gitconfig"), "utf8")).toBe(settings);
    expect(existsSync(join(folder.path, "other.git"))).toBe(false);
  });

  test("keeps its history with --force", () => {
    using folder = folderWith({});
    made(["codegen"], folder.path);
    const project = join(folder.path, "codegen", "project");
    const before = git(project, "rev-parse", "HEAD");
    writeFileSync(join(project, "src", "duration.js"), "");
    made(["codegen", "--force"], folder.path);
    expect(git(project, "rev-parse", "HEAD")).toBe(before);
    expect(git(project, "status", "--porcelain")).toBe("");
  });

  test("is left out with a clear line where there is no git", () => {
    using folder = folderWith({});
    const ran = packloop(["init", "codegen"], { cwd: folder.path, env: { PATH: folder.path } });
    expect(ran.code).toBe(0);
    expect(ran.stderr).toBe(
      "warning: `codegen/project` is not a git repository yet: " +
        "git was not found (install it; the loop commits with it)\n",
    );
    expect(existsSync(join(folder.path, "codegen", "project", "package.json"))).toBe(true);
  });
});
