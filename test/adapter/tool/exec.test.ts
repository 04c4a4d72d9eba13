// Tools behind commands, with real processes.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bindExec } from "../../../src/adapter/tool/exec/bind-exec.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, problemsOf } from "./fs-bench.ts";

/** A command that runs this JavaScript; `request` is what it was told. */
async function command(code: string, options: JsonObject = {}, env: Record<string, string> = {}) {
  const bench = await Bench.make({}, env);
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const file = join(bench.around.folder, "tool.cjs");
  const before = 'const request = JSON.parse(require("node:fs").readFileSync(0, "utf8"));\n';
  await writeFile(file, `${before}${code}`);
  const tool = bench.bind((reader, around) => bindExec(reader, around, "sums"), {
    exec: [process.execPath, "tool.cjs", "--fixed; $(touch x)"],
    ...options,
  });
  const call = (args: Json = {}, given = {}) => bench.call(tool, args, given);
  return { bench, tool, call };
}

const print = (text: string): string => `process.stdout.write(${JSON.stringify(text)});`;

describe("a command", () => {
  test("is told the call on stdin, and nothing by a shell", async () => {
    const { call, bench, tool } = await command(
      "console.log(JSON.stringify([request, process.argv.slice(2), process.cwd()]))",
    );
    const answer = await call({ a: "$(touch y); `z`" }, { step: 3, attempt: 2 });
    const request = {
      tool: "sums",
      args: { a: "$(touch y); `z`" },
      run: "r_1",
      step: 3,
      key: "r_1/3",
      attempt: 2,
      workspace: bench.workspace,
    };
    expect(answer).toEqual({ ok: true, value: [request, ["--fixed; $(touch x)"], bench.around.folder] });
    expect([tool.tier, tool.safe]).toEqual(["destructive", false]);
  });

  test("gets the variables that are named, and no other", async () => {
    const code =
      'console.log(JSON.stringify(Object.keys(process.env).filter((name) => name.startsWith("SHOP"))))';
    const { call } = await command(code, { env: ["SHOP_A"] }, { SHOP_A: "1", SHOP_B: "canary" });
    expect(await call()).toEqual({ ok: true, value: ["SHOP_A"] });
  });

  test("gets back what it left when its call goes on", async () => {
    const { call } = await command("console.log(JSON.stringify({ ok: [request.handle, request.input] }))");
    expect(await call({}, { handle: { job: 7 }, input: "yes" })).toEqual({
      ok: true,
      value: [{ job: 7 }, "yes"],
    });
  });
});

describe("its output", () => {
  test.each([
    ['{"ok": {"sum": 3}}', { ok: true, value: { sum: 3 } }],
    ['{"ok": true, "rows": 3}', { ok: true, value: { ok: true, rows: 3 } }],
    ["[1, 2]\n", { ok: true, value: [1, 2] }],
    ["", { ok: true, value: null }],
    [
      '{"error": {"code": "no_stock", "message": "sold out"}}',
      { ok: false, code: "no_stock", message: "sold out" },
    ],
    ['{"error": "sold out"}', { ok: false, code: "exec_failed", message: "sold out" }],
    [
      '{"error": {"code": "a b"}}',
      { ok: false, code: "exec_failed", message: "the command reported an error" },
    ],
    ['{"deferred": true}', { deferred: true }],
    ['{"deferred": true, "until": 5, "handle": [1]}', { deferred: true, until: 5, handle: [1] }],
    ['{"deferred": true, "question": {"text": "sure?"}}', { deferred: true, question: { text: "sure?" } }],
    ['{"__proto__": {"ok": 1}}', { ok: true, value: JSON.parse('{"__proto__": {"ok": 1}}') as Json }],
  ])("%s becomes %j", async (text, expected) => {
    const { call } = await command(print(text));
    expect(JSON.stringify(await call())).toBe(JSON.stringify(expected));
  });

  test.each([
    ["not json", "bad_output"],
    ['{"a": 1} {"b": 2}', "bad_output"],
    ['{"deferred": true, "until": "soon"}', "bad_output"],
  ])("%s is refused as %s", async (text, code) => {
    const { call } = await command(print(text));
    expect(codeOf(await call())).toBe(code);
  });

  test("that asks to be tried again is a fault", async () => {
    const { call } = await command(print('{"error": {"code": "busy", "message": "later", "retry": true}}'));
    await expect(call()).rejects.toMatchObject({ name: "Fault", code: "busy", retry: "later" });
  });

  test("at its limit is whole, past it the command is ended", async () => {
    const text = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));
    const at = await command(print(text(1000)), { max_output_bytes: 1000 });
    expect(await at.call()).toMatchObject({ ok: true });
    const past = await command(`setInterval(() => {}, 1000); ${print(text(1001))}`, {
      max_output_bytes: 1000,
    });
    expect(codeOf(await past.call())).toBe("too_large");
  });
});

describe("a command that fails", () => {
  test("shows the end of what it said", async () => {
    const { call } = await command(
      'console.error("x".repeat(100000) + " disk is full"); process.exitCode = 3',
    );
    const answer = await call();
    expect(answer).toMatchObject({
      code: "exec_failed",
      message: expect.stringMatching(/^the command ended with code 3: …x.* disk is full$/s),
    });
    expect(JSON.stringify(answer).length).toBeLessThan(3000);
  });

  test("may say why in its own words", async () => {
    const { call } = await command(
      `${print('{"error": {"code": "no_stock", "message": "sold out"}}')} process.exitCode = 1;`,
    );
    expect(await call()).toMatchObject({ code: "no_stock", message: "sold out" });
  });

  test("by a signal, or cannot be started, is an error of the tool", async () => {
    const killed = await command('process.kill(process.pid, "SIGKILL")');
    expect(codeOf(await killed.call())).toBe("exec_failed");
    const missing = await command("", { exec: ["./no-such-program"] });
    expect(codeOf(await missing.call())).toBe("no_program");
  });

  test("to end in time is ended with all it started", async () => {
    const child = 'setInterval(() => {}, 1000); process.on("SIGTERM", () => {});';
    const code = `const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, ["-e", ${JSON.stringify(child)}], { stdio: "inherit" });
      require("node:fs").writeFileSync(request.workspace + "/pid", String(child.pid));
      setInterval(() => {}, 1000);`;
    const { call, bench } = await command(code, { timeout_sec: 4 });
    expect(codeOf(await call())).toBe("timeout");
    const pid = Number(await readFile(bench.at("pid"), "utf8"));
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test("to be waited for is ended, too", async () => {
    const giving = new AbortController();
    const { call, bench } = await command(
      'require("node:fs").writeFileSync(request.workspace + "/pid", String(process.pid)); setInterval(() => {}, 1000);',
    );
    const asked = call({}, { signal: giving.signal });
    const pid = () => readFile(bench.at("pid"), "utf8").catch(() => "");
    await expect.poll(pid).not.toBe("");
    giving.abort(new Error("no longer needed"));
    await expect(asked).rejects.toThrow("no longer needed");
    const number = Number(await pid());
    await expect.poll(() => isAlive(number)).toBe(false);
  });

  test("to close its output, which something it left behind holds open, is not waited for", async () => {
    const code = `require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" }).unref();
      ${print('{"ok": 1}')} process.exit(0);`;
    const { call } = await command(code);
    expect(await call()).toEqual({ ok: true, value: 1 });
  });
});

test.each([
  [{ exec: [] }, "tools.t.exec: `exec` names no program"],
  [{ exec: "ls -l" }, "tools.t.exec: `exec` is a list of texts"],
  [
    { exec: ["ls"], timeout: 3 },
    "tools.t.timeout: unknown key `timeout` (expected one of exec, env, timeout_sec, max_output_bytes)",
  ],
])("options %j are a problem", async (options, problem) => {
  await using bench = await Bench.make();
  expect(problemsOf((reader, around) => bindExec(reader, around, "t"), options, bench.around)).toEqual([
    problem,
  ]);
});

/** A process that is over and not yet collected counts as gone. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    return !/^State:\s+Z/m.test(status);
  } catch {
    return false;
  }
}
