// S46 with a real process: a tool that dies with its program may have done its work.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Summary } from "../../src/core/summary.ts";

const program = fileURLToPath(new URL("dying-program.ts", import.meta.url));

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "packloop-killed-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function runProgram(safety: "idempotent" | "unsafe", die: boolean) {
  const args = [program, join(folder, "runs.db"), safety];
  const env = { ...process.env, DIE: die ? "yes" : "no" };
  const { signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  expect(stderr).toBe("");
  return { signal, summary: stdout === "" ? undefined : (JSON.parse(stdout) as Summary) };
}

const paid = () => readFileSync(join(folder, "runs.db.paid"), "utf8").trim().split("\n");

test("a call that may have left is not repeated unless somebody says so", () => {
  expect(runProgram("unsafe", true).signal).toBe("SIGKILL");
  const { summary } = runProgram("unsafe", false);
  expect(summary).toMatchObject({ status: "waiting", waiting_for: [{ kind: "in_doubt", tool: "transfer" }] });
  expect(paid()).toHaveLength(1);
});

test("an idempotent call is repeated with the same key", () => {
  expect(runProgram("idempotent", true).signal).toBe("SIGKILL");
  const { summary } = runProgram("idempotent", false);
  expect(summary).toMatchObject({ status: "completed" });
  const [first, second] = paid();
  expect(second).toBe(first);
});
