// Attempts to make `proc` run something it was not configured for, or reach outside the workspace: each is
// refused before anything starts.

import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bindProc } from "../../../src/adapter/tool/proc/bind-proc.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, problemsOf, SECRET, valueOf } from "./fs-bench.ts";

// Any start of it leaves a mark; with an argument it also shows that file.
const MARKING = `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
writeFileSync("started", "");
for (const path of process.argv.slice(2)) if (existsSync(path)) process.stdout.write(readFileSync(path, "utf8"));
`;

let bench: Bench;

beforeAll(async () => {
  const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };
  bench = await Bench.make(
    { "ok.mjs": MARKING, "show.mjs": MARKING, "kept.txt": "kept", ".git/config": SECRET },
    env,
  );
  await symlink(join(bench.folder, "outside", "secret.txt"), bench.at("link-file"));
  await symlink(join(bench.folder, "outside"), bench.at("link-folder"));
});

afterAll(() => bench[Symbol.asyncDispose]());

const code = "require('fs').writeFileSync('started','')";
const listed: readonly JsonObject[] = [
  { command: "node ok.mjs; touch started" },
  { command: "node ok.mjs && touch started" },
  { command: "node ok.mjs | tee started" },
  { command: "node ok.mjs > started" },
  { command: "node ok.mjs $(touch started)" },
  { command: "node ok.mjs `touch started`" },
  { command: 'node ok.mjs "$(touch started)"' },
  { command: "node ok.mjs\ntouch started" },
  { command: "node ok.mjs & touch started" },
  { command: "node ok.mjs <(touch started)" },
  { command: "node ok.mjs $HOME" },
  { command: "node ok.mjs *" },
  { command: "touch started" },
  { command: ["touch", "started"] },
  { argv: ["sh", "-c", "touch started"] },
  { argv: ["bash", "-lc", "node ok.mjs"] },
  { argv: ["env", "node", "ok.mjs"] },
  { argv: ["./node", "ok.mjs"] },
  { argv: [process.execPath, "ok.mjs"] },
  { argv: ["NODE", "ok.mjs"] },
  { argv: ["node", "./ok.mjs"] },
  { argv: ["node", "ok.mjsx"] },
  { argv: ["node ok.mjs"] },
  { argv: ["node"] },
  { argv: [] },
  { argv: ["node", "-e", code] },
  { argv: ["node", "ok.mjs", "-e", code] },
  { argv: ["node", "ok.mjs", `--eval=${code}`] },
  { argv: ["node", "ok.mjs", "--import=./ok.mjs"] },
  { argv: ["node", "ok.mjs", "-"] },
  { argv: ["node", "ok.mjs", "../outside/secret.txt"] },
  { argv: ["node", "ok.mjs", "/etc/passwd"] },
  { argv: ["node", "ok.mjs", "~/.ssh/id_rsa"] },
  { argv: ["node", "ok.mjs", "link-file"] },
  { argv: ["node", "ok.mjs", "link-folder/secret.txt"] },
  { argv: ["node", "ok.mjs", "link-folder/not-there"] },
  { argv: ["node", "ok.mjs", "file=../outside/secret.txt"] },
  { argv: ["node", "ok.mjs", "@/etc/passwd"] },
  { argv: ["node", "ok.mjs", "file:///etc/passwd"] },
  { argv: ["node", "ok.mjs", ".git/config"] },
  { argv: ["node", "ok.mjs", "kept.txt\0/../../outside"] },
  { argv: ["node", "ok.mjs", "kept.txt\n-e"] },
  { argv: ["node", "ok.mjs", "\u202ekept.txt"] },
  { argv: ["node", "ok.mjs", ["kept.txt"]] },
  { argv: ["node", "ok.mjs", { toString: "x" }] },
  { argv: { 0: "node", 1: "ok.mjs", length: 2 } },
  { argv: ["node", "ok.mjs"], args: ["-e", code] },
  { command: "node", args: ["-e", code] },
  { command: "node", args: "ok.mjs" },
  { command: "node 'ok.mjs" },
  { argv: ["node", "ok.mjs", ...Array.from({ length: 2000 }, () => "x")] },
  { argv: ["node", "ok.mjs", "x".repeat(200_000)] },
  {},
];

const filled: readonly Json[] = [
  "-e",
  "--eval=1",
  "--import=./ok.mjs",
  "-",
  "../outside/secret.txt",
  "kept.txt/../../outside/secret.txt",
  "OUTSIDE/secret.txt",
  "link-file",
  "link-folder/secret.txt",
  "~",
  ".git/config",
  ".GIT/config",
  "kept.txt\0",
  "..\\outside\\secret.txt",
  "C:\\x",
  ["kept.txt", "-e"],
  [["kept.txt"]],
  { path: "kept.txt" },
  null,
];

const refusals = /^(not_allowed|bad_arguments|too_large)$/;

describe("a command of the model", () => {
  test.each(listed.map((args) => [args]))("%j is refused", async (args) => {
    const tool = bench.bind(bindProc, { allow: ["node ok.mjs"], sandbox: "none" });
    const answer = await bench.call(tool, args);
    expect(codeOf(answer)).toMatch(refusals);
    expect(existsSync(bench.at("started"))).toBe(false);
  });
});

describe("a value for the binding's command", () => {
  test.each(filled.map((path) => [path]))("%j is refused", async (given) => {
    const outside = join(bench.folder, "outside");
    const path = typeof given === "string" ? given.replace("OUTSIDE", outside) : given;
    const tool = bench.bind(bindProc, { argv: ["node", "show.mjs", "{path}"], sandbox: "none" });
    const answer = await bench.call(tool, { path });
    expect(codeOf(answer)).toMatch(refusals);
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    expect(existsSync(bench.at("started"))).toBe(false);
  });
});

test("there are at least forty attempts", () => {
  expect(listed.length + filled.length).toBeGreaterThanOrEqual(40);
});

test("options that allow everything, or nothing, are reported", () => {
  const problems = (options: JsonObject) => problemsOf(bindProc, options, bench.around);
  const list = "tools.t.allow: `allow` is a list of commands, as [npm test, node --test ...]";
  expect(problems({})).toEqual(["tools.t: `argv` is missing"]);
  expect(problems({ allow: ["*"] })).toEqual([list]);
  expect(problems({ allow: [] })).toEqual([list]);
  expect(problems({ allow: "npm test" })).toEqual([list]);
  expect(problems({ allow: [["..."]] })).toEqual([list]);
  expect(problems({ argv: [1] })).toEqual(["tools.t.argv: `argv` is a list of texts, the program first"]);
  expect(problems({ argv: ["{program}", "x"] })).toHaveLength(1);
  expect(problems({ argv: ["x"], sandbox: "docker" })).toHaveLength(1);
  expect(problems({ argv: ["x"], shell: true })).toHaveLength(1);
});

describe("what is configured runs", () => {
  const show = `console.log(JSON.stringify(process.argv.slice(2)))`;

  test.each<[JsonObject, JsonObject, readonly string[]]>([
    [{ argv: ["node", "args.mjs", "{path}"] }, { path: "kept.txt" }, ["kept.txt"]],
    [
      { argv: ["node", "args.mjs", "{paths}"] },
      { paths: ["kept.txt", "$HOME; x"] },
      ["kept.txt", "$HOME; x"],
    ],
    [{ argv: ["node", "args.mjs", "{path?}", "end"] }, {}, ["end"]],
    [{ argv: ["node", "args.mjs", "--only={name}"] }, { name: "a b" }, ["--only=a b"]],
    [{ argv: ["node", "args.mjs", "-m", "{message:text}"] }, { message: "-x ../y\n" }, ["-m", "-x ../y\n"]],
    [{ argv: ["node", "args.mjs", "{count}", "{flag}"] }, { count: 3, flag: true }, ["3", "true"]],
    [{ argv: "node args.mjs fixed" }, { path: "-e" }, ["fixed"]],
    [{ allow: ["node args.mjs"] }, { command: "node args.mjs 'kept.txt' a\\ b" }, ["kept.txt", "a b"]],
    [{ allow: ["node args.mjs"] }, { command: "node", args: ["args.mjs"] }, []],
    [{ allow: [["node", "args.mjs", "..."]] }, { argv: ["node", "args.mjs", "--x", "/y"] }, ["--x", "/y"]],
    [{ allow: ["node args.mjs ...", "node args.mjs"] }, { argv: ["node", "args.mjs", "-x"] }, ["-x"]],
  ])("%j with %j", async (options, args, expected) => {
    await bench.put("args.mjs", show);
    const answer = valueOf(await bench.call(bench.bind(bindProc, { ...options, sandbox: "none" }), args));
    expect(answer).toMatchObject({ exit_code: 0, stderr: "", timed_out: false });
    expect(JSON.parse(answer["stdout"] as string)).toEqual(expected);
  });
});
