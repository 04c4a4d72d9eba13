// F4: disks that are too small or read-only, for real. The refusal is one line, nothing told is lost, and on a
// disk with room the same command ends the run as if nothing had happened.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith, type Ran } from "../cli/run-cli.ts";
import { examine, example, runArgs, turnsIn, undisturbed } from "./killed-runs.ts";
import { noOwnDisk, onOwnDisk } from "./own-disk.ts";
import { isSkipped } from "./sweep.ts";

const codegen = example("codegen", "script.yaml", { requirements: "slugify titles" });

/** Too small for the lock, for the file, for its index in memory, for its tables, for the log of all turns. */
const sizes = ["4k", "16k", "40k", "64k", "128k", "256k"];

describe.skipIf(isSkipped("small-disk", noOwnDisk()))("a disk of its own", () => {
  test.each(sizes)("of %s is too small, and is told so; with more room the run ends", async (size) => {
    const whole = await undisturbed(codegen);
    using folder = folderWith({});
    const store = join(folder.path, "disk", "runs.db");
    const run = { cli: runArgs(codegen, store) };
    const { ran, left } = onOwnDisk(folder.path, [
      { mount: `size=${size}` },
      run,
      run,
      { cli: ["verify", "--all", "--store", store] },
      { mount: "size=8m" },
      run,
    ]);
    const [first, second, verified, last] = ran as [Ran, Ran, Ran, Ran];
    for (const one of [first, second]) expectRefused(one, store);
    const told = turnsIn(first.stdout);
    // Without a run there is nothing to verify, and that is said instead.
    expect(verified.code).toBe(told.length === 0 ? 5 : 0);
    if (size === "256k") expect(told.length, "turns told before the disk was full").toBeGreaterThan(0);
    const seen = [...told, ...turnsIn(second.stdout), ...turnsIn(last.stdout)];
    expect(await examine(join(left, "runs.db"), last.code, seen)).toEqual(whole);
  });

  const cut = { PACKLOOP_CRASH_AT: "commit:9:after" };
  test.each([
    ["has ended", {}],
    ["was killed", cut],
  ] as const)("is read-only: a run that %s can be looked at, and is as it was", async (_, env) => {
    const whole = await undisturbed(codegen);
    using folder = folderWith({});
    const store = join(folder.path, "disk", "runs.db");
    const run = runArgs(codegen, store);
    const writers = [run, ...["resume", "cancel"].map((name) => [name, "@", "--store", store])];
    const readers = [["ls"], ["show", "@"], ["trace", "@"], ["verify", "--all"], ["export", "@"]];
    const { ran, left } = onOwnDisk(folder.path, [
      { mount: "size=8m" },
      { cli: run, env },
      { mount: "ro" },
      ...writers.map((cli) => ({ cli })),
      ...readers.map((cli) => ({ cli: [...cli, "--store", store] })),
      { mount: "rw" },
      { cli: run },
    ]);
    const [begun, ...rest] = ran as [Ran, ...Ran[]];
    for (const one of rest.slice(0, writers.length)) expectRefused(one, store);
    for (const one of rest.slice(writers.length, -1)) expect(one).toMatchObject({ code: 0, stderr: "" });
    const last = rest.at(-1) as Ran;
    const seen = [...turnsIn(begun.stdout), ...turnsIn(last.stdout)];
    expect(await examine(join(left, "runs.db"), last.code, seen)).toEqual(whole);
  });
});

function expectRefused(ran: Ran, store: string): void {
  expect(ran, ran.stderr).toMatchObject({ code: 3 });
  expect(ran.stderr).toMatch(/^error: the store `[^`\n]+` cannot be used: [^\n]+\n$/);
  expect(ran.stderr).toContain(`\`${store}\``);
}
