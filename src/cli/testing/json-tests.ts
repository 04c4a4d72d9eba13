// Test results for programs.

import { statusOf } from "../../core/run.ts";
import { artifactsOf, usedOf } from "../../core/summary.ts";
import { jsonText } from "../format/json-text.ts";
import type { TestFormat, TestResult } from "./test-result.ts";

export const jsonTests: TestFormat = ({ results, totals }) =>
  `${jsonText({ version: 1, totals, tests: results.map(entry) }, 2)}\n`;

function entry({ test, status, ms, differences, trace, taken, errors, remarks, run }: TestResult) {
  return {
    file: test.file,
    name: test.name,
    status,
    ms,
    ...(test.skip !== undefined && { skip: test.skip }),
    differences: differences.map(({ place, kind, what, expected, actual }) => ({
      ...{ place, kind, what, expected, actual },
    })),
    remarks,
    tool_errors: errors.map(({ tool, args, error }) => ({ tool, args, error: error ?? "" })),
    mock_entries: taken.map(({ call, step, state, entry: taking }) => ({ call, step, state, entry: taking })),
    run: run && {
      status: statusOf(run),
      reason: run.reason,
      state: run.state,
      path: trace.map(({ to }) => to),
      output: run.lastText,
      artifacts: artifactsOf(run),
      used: usedOf(run),
    },
  };
}
