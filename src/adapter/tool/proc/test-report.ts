// The output of a test runner as a short report: how many tests passed and failed, and what each failure
// says. A model reads that instead of pages, and an artifact can hold it.

import type { Json } from "../../../base/json.ts";
import { jestReport, mochaReport, specReport, tapReport, vitestReport } from "./javascript-reports.ts";
import {
  cargoReport,
  goReport,
  junitReport,
  plainReport,
  pytestReport,
  unittestReport,
} from "./other-reports.ts";
import type { Failure, ReadReport } from "./report-lines.ts";

/** Those with the surest marks first. */
const READERS: readonly (readonly [name: string, read: ReadReport])[] = [
  ["junit", junitReport],
  ["tap", tapReport],
  ["node", specReport],
  ["vitest", vitestReport],
  ["jest", jestReport],
  ["pytest", pytestReport],
  ["unittest", unittestReport],
  ["cargo", cargoReport],
  ["go", goReport],
  ["mocha", mochaReport],
  ["other", plainReport],
];

const FAILURES_MAX = 20;
/** XML aside, no runner says anything of use so far to the right; longer lines would only take time. */
const LINE_MAX = 1000;
const MESSAGE_MAX = 600;
const NAME_MAX = 200;
// Terminal colours and cursor moves.
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

export function testReport(
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
  workspace: string,
): Json | undefined {
  const whole = `${stdout}\n${stderr}`.replaceAll(ESCAPES, "").split(/\r?\n/);
  const lines = whole.map((line) => line.slice(0, LINE_MAX));
  for (const [runner, read] of READERS) {
    const report = read(runner === "junit" ? whole : lines);
    if (report === undefined) continue;
    const { passed, failed, skipped, failures } = report;
    const shown = failures.slice(0, FAILURES_MAX).map((failure) => shortened(failure, workspace));
    const more = failures.length - shown.length;
    return { runner, passed, failed, skipped, failures: shown, ...(more > 0 && { left_out: more }) };
  }
  return undefined;
}

function shortened({ name, message, file, line }: Failure, workspace: string): Json {
  const path = file?.replace(/^file:\/\//, "");
  const inside = path?.startsWith(`${workspace}/`) === true ? path.slice(workspace.length + 1) : path;
  return {
    name: name.trim().slice(0, NAME_MAX),
    message: message.trim().slice(0, MESSAGE_MAX),
    ...(inside !== undefined && { file: inside }),
    ...(line !== undefined && { line }),
  };
}
