// The command line in rough hands: input without end, readers that go away, runs that nobody
// attends, decisions without a step.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { shownApproval } from "../../src/cli/runs/sole-approval.ts";
import type { Summary } from "../../src/core/summary.ts";
import { folderWith, packloop, type Ran } from "./run-cli.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

const pack = (more: string): string => `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
metadata: { governance: { autonomy_level: acts_with_approval } }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [ship] }
tools:
  ship: { name: ship, description: Ships., action_scope: { effect: external } }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Again: work, Done: end }${more} }
    end: { prompt_task: p, terminal: true }
`;
const script = (first: string): string =>
  `states: { work: [${first}{ event: Done, usage: { input_tokens: 9 } }], end: [{ text: Bye. }] }
tools: { ship: [{ ok: gone }] }
`;
const files = { "pack.yaml": pack(""), "script.yaml": script("") };
const start = ["run", "pack.yaml", "--script", "script.yaml"];

const summaryOf = ({ stdout }: Ran): Summary => {
  const last = stdout.trimEnd().split("\n").at(-1) ?? "";
  return JSON.parse(last) as Summary;
};

describe("input and output", () => {
  test("a device without end is too large, as a pack and as a script", () => {
    using folder = folderWith(files);
    const checked = packloop(["check", "/dev/zero"], { cwd: folder.path });
    expect(checked).toMatchObject({ code: 1, stderr: "" });
    expect(checked.stdout).toContain("error PP10");
    const ran = packloop(["run", "pack.yaml", "--script", "/dev/zero"], {
      cwd: folder.path,
    });
    expect(ran.code).toBe(2);
  });

  test("a run goes on when nobody reads its remarks any more", async () => {
    using folder = folderWith(files);
    const child = spawn(process.execPath, [bin, ...start], {
      cwd: folder.path,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.destroy();
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(" completed\n") });
  });
});

test("PP209: a tool that neither the pack nor its settings know keeps a run from starting", () => {
  const config = "model: { provider: openai-compatible, base_url: http://127.0.0.1:1/v1, model: m }\n";
  using folder = folderWith({
    "pack.yaml": pack("").replace("[ship]", "[ship, sail]"),
    "packloop.yaml": config,
  });
  const ran = packloop(["run", "pack.yaml"], { cwd: folder.path });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("nothing is known of `sail`");
  expect(packloop(["ls"], { cwd: folder.path }).code).toBe(5);
});

describe("limits", () => {
  test("--unattended refuses what may not end, and takes what a guard or a budget ends", () => {
    const guard = ", max_visits: 3, on_max_visits: end";
    using folder = folderWith({ ...files, "guarded.yaml": pack(guard) });
    const run = (...args: string[]): Ran =>
      packloop(["run", ...args, "--script", "script.yaml", "--unattended"], { cwd: folder.path });
    const refused = run("pack.yaml");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /^error: `work → work` can repeat for ever, and nobody attends the run \(guard/,
    );
    expect(run("pack.yaml", "--budget-visits", "5").code).toBe(0);
    expect(run("guarded.yaml").code).toBe(0);
  });

  test("--budget-tokens holds for what goes in and what comes out, each", () => {
    using folder = folderWith(files);
    const ran = packloop([...start, "--budget-tokens", "8", "--json"], { cwd: folder.path });
    expect(ran.code).toBe(11);
    const { limits, reason } = summaryOf(ran);
    expect(limits).toEqual({ max_input_tokens: 8, max_output_tokens: 8 });
    expect(reason).toMatchObject({ limit: "max_input_tokens", value: 8 });
  });
});

describe("a decision without a step", () => {
  const waiting = (calls: number) => {
    const call = "{ tool: ship, args: {} }";
    const folder = folderWith({
      ...files,
      "script.yaml": script(`{ calls: [${Array(calls).fill(call).join(", ")}] }, `),
    });
    const cli = (...args: string[]): Ran => packloop(args, { cwd: folder.path });
    expect(cli(...start).code).toBe(10);
    return { folder, cli };
  };

  test("is about the one call that waits, and refused when none does", () => {
    const { folder, cli } = waiting(1);
    using _ = folder;
    const done = cli("approve", "@", "--by", "ann", "--follow", "--json");
    expect(done.code).toBe(0);
    expect(summaryOf(done)).toMatchObject({ status: "completed", used: { tool_calls: 1 } });
    const late = cli("reject", "@");
    expect(late.code).toBe(2);
    expect(late.stderr).toContain("waits for no approval");
  });

  test("is about the run and the arguments that were found, whatever `@` means a moment later", async () => {
    const { folder, cli } = waiting(1);
    using _ = folder;
    const { run, waiting_for: waits } = JSON.parse(cli("show", "@", "--json").stdout) as Summary;
    expect(await shownApproval("@", undefined, join(folder.path, ".packloop", "runs.db"))).toEqual({
      id: run,
      step: 2,
      sha256: waits[0]?.sha256,
    });
    const other = cli("approve", "@", "--hash", "0".repeat(64));
    expect([other.code, other.stderr]).toEqual([
      6,
      expect.stringContaining("the arguments of step 2 changed"),
    ]);
    const turn = cli("approve", `${run}@1`);
    expect([turn.code, turn.stderr]).toEqual([2, expect.stringContaining("names a turn")]);
  });

  test("is refused when several wait, and names them", () => {
    const { folder, cli } = waiting(2);
    using _ = folder;
    const refused = cli("approve", "@");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("waits for several approvals (name the step: 2, 3)");
  });
});
