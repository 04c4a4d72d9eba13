// `npm run faults [-- NAME…] [-- --all]`: the fault tests of test/faults, all or those named. Each prints its
// points, how many passed and failed, and for every failure the command that repeats it. With --all every
// point is tried instead of a sample, which takes hours.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const inRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const known = readdirSync(inRoot("test/faults"))
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => file.replace(/\.test\.ts$/, ""));

const { values, positionals } = parseArgs({
  options: { all: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(
    `error: there is no fault test \`${unknown.join()}\` (there are ${known.join(", ")})\n`,
  );
  process.exitCode = 2;
} else {
  process.exitCode = run(positionals.length > 0 ? positionals : known);
}

/** One file at a time: a test has as many processes side by side as there are cores. */
function run(names: readonly string[]): number {
  const files = names.map((name) => `test/faults/${name}.test.ts`);
  const whole = values.all ? { FAULTS_ALL: "1", FAULT_KILLS: process.env["FAULT_KILLS"] ?? "2000" } : {};
  const { status } = spawnSync(
    process.execPath,
    [inRoot("node_modules/vitest/vitest.mjs"), "run", "--no-file-parallelism", ...files],
    { cwd: inRoot("."), stdio: "inherit", env: { ...process.env, ...whole } },
  );
  return status ?? 1;
}
