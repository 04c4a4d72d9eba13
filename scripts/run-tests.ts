// Runs the tests, names the files that took longest and ends with the line `N passed, N failed`. In CI a skipped test counts as failed unless
// test/allowed-skips.json gives a reason for it.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const SLOWEST = 12;

const folder = mkdtempSync(join(tmpdir(), "packloop-tests-"));
const output = join(folder, "results.json");
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const args = [
  vitest,
  "run",
  "--reporter=dot",
  "--reporter=json",
  `--outputFile.json=${output}`,
  ...process.argv.slice(2),
];
const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
const { passed, failed } = count();
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : (status ?? 1);

function count(): { passed: number; failed: number } {
  let results: Results;
  try {
    results = JSON.parse(readFileSync(output, "utf8")) as Results;
  } catch {
    process.stdout.write("the test runner wrote no results\n");
    return { passed: 0, failed: 1 };
  }
  nameSlowest(results);
  // A file that cannot be loaded has no tests and must not pass for that.
  const broken = results.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const failed = results.numFailedTests + broken.length + unexplainedSkips(results);
  return { passed: results.numPassedTests, failed };
}

function nameSlowest({ testResults }: Results): void {
  const files = testResults.map(({ name, startTime, endTime }) => ({ name, ms: endTime - startTime }));
  for (const { name, ms } of files.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST))
    process.stdout.write(`slow: ${(ms / 1_000).toFixed(0)} s ${relative(process.cwd(), name)}\n`);
}

function unexplainedSkips(results: Results): number {
  const allowed = JSON.parse(
    readFileSync(new URL("../test/allowed-skips.json", import.meta.url), "utf8"),
  ) as Record<string, string>;
  const skipped = results.testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ status: state }) => ["skipped", "pending", "todo", "disabled"].includes(state));
  let unexplained = 0;
  for (const { fullName } of skipped) {
    const reason = Object.entries(allowed).find(([prefix]) => fullName.startsWith(prefix))?.[1];
    process.stdout.write(`skipped: ${fullName} (${reason ?? "no reason given"})\n`);
    if (reason === undefined && process.env["CI"] === "true") unexplained++;
  }
  return unexplained;
}
