// How a test went, and all of them together.

import type { Run } from "../../core/run.ts";
import type { TraceRow } from "../../core/trace.ts";
import type { Difference } from "./difference.ts";
import type { TakenEntry } from "./mock-file.ts";
import type { ObservedCall } from "./observed.ts";
import type { PackTest } from "./pack-test.ts";

export interface TestResult {
  readonly test: PackTest;
  readonly status: "passed" | "failed" | "skipped";
  readonly ms: number;
  readonly differences: readonly Difference[];
  readonly trace: readonly TraceRow[];
  readonly taken: readonly TakenEntry[];
  /** Calls that failed, in order. */
  readonly errors: readonly ObservedCall[];
  /** What may explain a failure. */
  readonly remarks: readonly string[];
  /** How the run stood in the end; null when there was none. */
  readonly run: Run | null;
}

export interface Totals {
  readonly tests: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly ms: number;
}

export function totalsOf(results: readonly TestResult[], ms: number): Totals {
  const count = (status: TestResult["status"]) => results.filter((one) => one.status === status).length;
  return {
    tests: results.length,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    ms,
  };
}

export interface TestReport {
  readonly results: readonly TestResult[];
  readonly totals: Totals;
}

export type TestFormat = (report: TestReport, options: { readonly color: boolean }) => string;

/** `path of file › name` */
export const titleOf = ({ test }: Pick<TestResult, "test">): string => `${test.file} › ${test.name}`;
