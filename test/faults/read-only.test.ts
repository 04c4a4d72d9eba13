// F4: a store that may only be read, by the permissions of its file or its folder. Commands that write are
// refused in one line and change nothing; commands that look go on.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { folderWith, packloop, type Ran } from "../cli/run-cli.ts";
import { examine, example, runArgs, turnsIn, undisturbed } from "./killed-runs.ts";
import { isSkipped } from "./sweep.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));
const codegen = example("codegen", "script.yaml", { requirements: "slugify titles" });
const cut = { PACKLOOP_CRASH_AT: "commit:9:after" };

/** Permissions mean nothing to the superuser, so it gives up the right to pass them by. */
const ordinary =
  process.getuid?.() === 0
    ? [
        "setpriv",
        ...["--bounding-set", "--inh-caps"].flatMap((set) => [set, "-dac_override,-dac_read_search"]),
      ]
    : ["env"];

function noPermissions(): string | undefined {
  using folder = folderWith({ file: "" });
  const file = join(folder.path, "file");
  chmodSync(file, 0o444);
  const [first = "", ...rest] = ordinary;
  const probe = spawnSync(first, [...rest, "true"], { encoding: "utf8" });
  if (probe.status !== 0) return `the rights of the superuser cannot be given up: ${probe.stderr}`;
  const written = spawnSync(first, [...rest, "sh", "-c", '[ ! -w "$1" ]', "sh", file]);
  return written.status === 0 ? undefined : "permissions are not kept here";
}

function asOrdinary(args: readonly string[]): Ran {
  const [first = "", ...rest] = [...ordinary, process.execPath, bin, ...args];
  const { status, stdout, stderr } = spawnSync(first, rest, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  return { code: status, stdout, stderr };
}

const contents = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]);

describe.skipIf(isSkipped("read-only", noPermissions()))("a store that may only be read", () => {
  test.each([
    ["file", "has ended", {}],
    ["file", "was killed", cut],
    ["folder", "has ended", {}],
  ] as const)("by its %s, with a run that %s", async (what, _, env) => {
    const whole = await undisturbed(codegen);
    using outer = folderWith({});
    const folder = join(outer.path, "kept");
    mkdirSync(folder);
    const store = join(folder, "runs.db");
    const args = runArgs(codegen, store);
    const begun = packloop(args, { env });
    const before = contents(folder);
    const [locked, mode] = what === "file" ? [store, 0o444] : [folder, 0o555];
    chmodSync(locked, mode);
    for (const writer of [args, ["resume", "@"], ["cancel", "@"], ["rm", "@", "--yes"]]) {
      const ran = asOrdinary(writer === args ? args : [...writer, "--store", store]);
      expect(ran, writer[0]).toMatchObject({ code: 3, stdout: "" });
      expect(ran.stderr).toMatch(/^error: the store `[^`\n]+runs\.db` cannot be used: [^\n]+\n$/);
    }
    for (const reader of [["ls"], ["trace", "@"], ["verify", "--all"]])
      expect(asOrdinary([...reader, "--store", store]), reader[0]).toMatchObject({ code: 0, stderr: "" });
    chmodSync(locked, what === "file" ? 0o644 : 0o755);
    if (what === "folder") expect(contents(folder)).toEqual(before);
    const last = packloop(args);
    const seen = [...turnsIn(begun.stdout), ...turnsIn(last.stdout)];
    expect(await examine(store, last.code, seen)).toEqual(whole);
  });

  test("a folder in which nothing can be made", () => {
    using outer = folderWith({});
    const store = join(outer.path, "new", "runs.db");
    chmodSync(outer.path, 0o555);
    const ran = asOrdinary(runArgs(codegen, store));
    chmodSync(outer.path, 0o755);
    expect(ran).toMatchObject({ code: 3, stdout: "" });
    expect(ran.stderr).toMatch(/^error: (?!packloop itself)[^\n]*\(EACCES\)\n$/);
    expect(existsSync(join(outer.path, "new"))).toBe(false);
  });
});

describe.skipIf(!existsSync("/dev/full"))("standard output cannot be written", () => {
  test("one line says so, and the run goes on where its output can", async () => {
    const whole = await undisturbed(codegen);
    using folder = folderWith({});
    const store = join(folder.path, "runs.db");
    const words = [process.execPath, bin, ...runArgs(codegen, store)];
    const full = spawnSync("sh", ["-c", 'exec "$@" >/dev/full', "sh", ...words], { encoding: "utf8" });
    expect(full).toMatchObject({ status: 3, stderr: "error: cannot write to standard output (ENOSPC)\n" });
    const last = packloop(runArgs(codegen, store));
    expect(await examine(store, last.code, turnsIn(last.stdout))).toEqual(whole);
  });
});
