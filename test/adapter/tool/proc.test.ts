// `proc` with real processes: what it answers, what the process sees, and that nothing of it is left.

import { existsSync, readFileSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { bindProc } from "../../../src/adapter/tool/proc/bind-proc.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, valueOf } from "./fs-bench.ts";

const nodePath = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
const make = (files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) =>
  Bench.make(files, { PATH: nodePath, ...env });

const bind = (bench: Bench, options: JsonObject = {}) =>
  bench.bind(bindProc, { argv: ["node", "main.mjs"], sandbox: "none", ...options });

test("it answers exit code, streams and time, and is neither safe nor harmless", async () => {
  await using bench = await make({
    "main.mjs": "console.log('out'); console.error('err'); process.exitCode = 3;",
  });
  const tool = bind(bench);
  expect([tool.tier, tool.safe]).toEqual(["destructive", false]);
  const { duration_ms: duration, ...answer } = valueOf(await bench.call(tool, {}));
  expect(answer).toEqual({ exit_code: 3, stdout: "out\n", stderr: "err\n", timed_out: false });
  expect(duration).toBeTypeOf("number");
});

test("the process sees the workspace and only the variables that are named", async () => {
  const show = "console.log(JSON.stringify({ cwd: process.cwd(), env: process.env }))";
  await using bench = await make(
    { "main.mjs": show },
    { API_KEY: "canary-1", WANTED: "yes", NODE_OPTIONS: "--no-x" },
  );
  const seen = async (options: JsonObject): Promise<{ cwd: string; env: Record<string, string> }> =>
    JSON.parse(valueOf(await bench.call(bind(bench, options), {}))["stdout"] as string);
  const plain = await seen({});
  expect(plain.cwd).toBe(bench.workspace);
  const unset = ["LANG", "LC_ALL", "TZ"];
  expect(
    Object.keys(plain.env)
      .filter((name) => !unset.includes(name))
      .toSorted(),
  ).toEqual(["CI", "HOME", "NO_COLOR", "PACKLOOP_CALL", "PATH", "TERM", "TMPDIR"].toSorted());
  expect(existsSync(plain.env["HOME"] as string)).toBe(false);
  expect((await seen({ env: ["WANTED"] })).env["WANTED"]).toBe("yes");
});

test("a program in the workspace does not stand in for one on the path", async () => {
  await using bench = await make({ node: "#!/bin/sh\necho mine\n", "main.mjs": "console.log('theirs')" });
  await chmod(bench.at("node"), 0o755);
  bench.env["PATH"] = `.::bin:${nodePath}`;
  expect(valueOf(await bench.call(bind(bench), {}))["stdout"]).toBe("theirs\n");
});

test("a program that is not there is named", async () => {
  await using bench = await make({});
  const answer = await bench.call(bind(bench, { argv: ["no-such-program"] }), {});
  expect(answer).toMatchObject({ ok: false, code: "no_program" });
});

test("long output keeps its beginning and its end", async () => {
  const lines = "for (let i = 0; i < 200000; i++) console.log('line ' + i + ' ä');";
  await using bench = await make({ "main.mjs": lines });
  const { stdout, exit_code: code } = valueOf(await bench.call(bind(bench), {})) as Record<string, string>;
  expect(code).toBe(0);
  expect(Buffer.byteLength(stdout as string)).toBeLessThanOrEqual(128 * 1024 + 100);
  expect(stdout).toMatch(/^line 0 ä\nline 1 ä\n/);
  expect(stdout).toMatch(/line 199999 ä\n$/);
  expect(stdout).toMatch(/\n\[… \d+ bytes left out …\]\n/);
  expect(stdout).not.toContain("\uFFFD");
});

/** Starts children in and out of the group, writes all ids, and never ends. */
const FAMILY = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
process.on("SIGTERM", () => {});
const idle = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
const inside = spawn(process.execPath, ["-e", idle], { stdio: "inherit" });
const outside = spawn(process.execPath, ["-e", idle], { detached: true, stdio: "ignore" });
writeFileSync("ids.tmp", JSON.stringify([process.pid, inside.pid, outside.pid]));
(await import("node:fs")).renameSync("ids.tmp", "ids");
END
`;

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

const idsOf = (bench: Bench): readonly number[] => JSON.parse(readFileSync(bench.at("ids"), "utf8"));

describe.runIf(process.platform === "linux")("nothing is left", () => {
  test("when the time is over, though all of it ignores being asked", async () => {
    await using bench = await make({ "main.mjs": FAMILY.replace("END", "setInterval(() => {}, 1000);") });
    const answer = valueOf(await bench.call(bind(bench, { timeout_sec: 3 }), {}));
    expect(answer).toMatchObject({ exit_code: null, killed_by: "SIGKILL", timed_out: true });
    expect(idsOf(bench).map(isAlive)).toEqual([false, false, false]);
  });

  test("when the process ends and leaves children that hold its output open", async () => {
    await using bench = await make({ "main.mjs": FAMILY.replace("END", "process.exit(0);") });
    expect(valueOf(await bench.call(bind(bench), {}))).toMatchObject({ exit_code: 0, timed_out: false });
    expect(idsOf(bench).map(isAlive)).toEqual([false, false, false]);
  });

  test("when nobody waits for the call any more", async () => {
    await using bench = await make({ "main.mjs": FAMILY.replace("END", "setInterval(() => {}, 1000);") });
    const abort = new AbortController();
    const call = bench.call(bind(bench), {}, { signal: abort.signal });
    while (!existsSync(bench.at("ids"))) await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error("over"));
    await expect(call).rejects.toThrow("over");
    expect(idsOf(bench).map(isAlive)).toEqual([false, false, false]);
  });

  test("of the private folder for temporary files", async () => {
    await using bench = await make({
      "main.mjs":
        "import { writeFileSync } from 'node:fs'; writeFileSync(process.env.TMPDIR + '/x', ''); console.log(process.env.TMPDIR);",
    });
    const folder = (valueOf(await bench.call(bind(bench), {}))["stdout"] as string).trim();
    expect(dirname(folder)).toBe(dirname(bench.folder));
    expect(await readdir(tmpdir())).not.toContain(folder.split("/").at(-1));
  });
});

test("calls of one response run in their order", async () => {
  await using bench = await make({
    "main.mjs": "import { appendFileSync } from 'node:fs'; appendFileSync('order', process.argv[2] + '\\n');",
  });
  const tool = bind(bench, { argv: ["node", "main.mjs", "{name}"] });
  await Promise.all(["a", "b", "c"].map((name) => bench.call(tool, { name })));
  expect(readFileSync(bench.at("order"), "utf8")).toBe("a\nb\nc\n");
});

describe("a test run", () => {
  const failing = `
import test from "node:test";
import assert from "node:assert";
import { add } from "./add.mjs";
test("adds", () => assert.equal(add(1, 2), 3));
test("adds nothing", () => assert.equal(add(0, 0), 0));
test("later", { skip: true }, () => {});
`;

  test.each(["spec", "tap", "junit"])("of node with the %s reporter is reported", async (reporter) => {
    await using bench = await make({
      "sum.test.mjs": failing,
      "add.mjs": "export const add = (a, b) => a - b;",
    });
    const tool = bind(bench, { argv: ["node", "--test", `--test-reporter=${reporter}`] });
    const answer = valueOf(await bench.call(tool, {}));
    expect(answer).toMatchObject({
      exit_code: 1,
      report: {
        passed: 1,
        failed: 1,
        skipped: 1,
        failures: [{ name: "adds", file: "sum.test.mjs", line: 5 }],
      },
    });
    expect(JSON.stringify((answer["report"] as JsonObject)["failures"])).toContain("-1 == 3");
    await bench.put("add.mjs", "export const add = (a, b) => a + b;");
    expect(valueOf(await bench.call(tool, {}))).toMatchObject({
      exit_code: 0,
      report: { passed: 2, failed: 0, skipped: 1, failures: [] },
    });
  });
});

describe("without a sandbox on the machine", () => {
  const absent = () => make({ "main.mjs": "console.log('ran')" }, { PATH: dirname(process.execPath) });

  test("a command is refused, and the message says what to do", async () => {
    await using bench = await absent();
    const tool = bench.bind(bindProc, { argv: ["node", "main.mjs"] });
    expect(await bench.call(tool, {})).toEqual({
      ok: false,
      code: "no_sandbox",
      message:
        "there is no sandbox on this machine (install bubblewrap, or write `sandbox: none` in the tool's binding to run without)",
    });
  });

  test("it runs where the configuration says so", async () => {
    await using bench = await absent();
    for (const sandbox of ["none", "auto"])
      expect(valueOf(await bench.call(bind(bench, { sandbox }), {}))["stdout"]).toBe("ran\n");
  });

  test("a sandbox that does not work is as good as none", async () => {
    await using bench = await absent();
    await bench.put("bin/bwrap", "#!/bin/sh\nexit 1\n");
    await chmod(bench.at("bin/bwrap"), 0o755);
    bench.env["PATH"] = `${bench.at("bin")}:${dirname(process.execPath)}`;
    expect(codeOf(await bench.call(bench.bind(bindProc, { argv: ["node", "main.mjs"] }), {}))).toBe(
      "no_sandbox",
    );
  });
});

test("a process that dies of a signal is told by its name", async () => {
  await using bench = await make({ "main.mjs": "process.kill(process.pid, 'SIGSEGV')" });
  expect(valueOf(await bench.call(bind(bench), {}))).toMatchObject({ exit_code: null, killed_by: "SIGSEGV" });
});
