// Runs tests, several at a time, and says of each how it went.

import type { Path } from "../../base/json.ts";
import { openPack } from "../../pack/open-pack.ts";
import { ExitError } from "../exit.ts";
import type { LoadedPack } from "../load-pack.ts";
import { readPackText } from "../read-file.ts";
import { schemaBeside } from "../schema-beside.ts";
import { skillsBeside } from "../skills-beside.ts";
import type { Difference } from "./difference.ts";
import type { Mistakes } from "./document.ts";
import { judge, judgeChecks } from "./judge.ts";
import { WHOLE } from "./judge-check.ts";
import type { PackTest } from "./pack-test.ts";
import { type Played, playTest } from "./play-test.ts";
import type { TestResult } from "./test-result.ts";

/** Packs by path, each opened once. What is wrong with one goes to `mistakes`. */
export function openPacks(tests: readonly PackTest[], mistakes: Mistakes): ReadonlyMap<string, LoadedPack> {
  const packs = new Map<string, LoadedPack>();
  for (const [path, [first]] of Map.groupBy(tests, ({ pack }) => pack)) {
    const pack = openOne(path, mistakes, first?.place(["pack"]) ?? "");
    if (pack !== undefined) packs.set(path, pack);
  }
  return packs;
}

function openOne(path: string, mistakes: Mistakes, from: string): LoadedPack | undefined {
  try {
    const read = readPackText(path);
    if (!read.ok) mistakes.add(`${path}: ${read.finding.message}`);
    const opened = read.ok ? openPack(read.text, { file: path, ...filesBeside(path) }) : undefined;
    if (opened?.ok === true) return { program: opened.program, digest: opened.digest, text: read.text };
    for (const { severity, file, line, column, code, message } of opened?.diagnostics ?? [])
      if (severity === "error") mistakes.add(`${file}:${line}:${column}: ${code}: ${message}`);
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    mistakes.add(`${from}: ${error.message}`);
  }
  return undefined;
}

const filesBeside = (path: string) => ({ schemaFile: schemaBeside(path), skillFolder: skillsBeside(path) });

export interface RunTestsOptions {
  readonly packs: ReadonlyMap<string, LoadedPack>;
  /** At the same time. */
  readonly jobs: number;
}

/** In the order of the tests. */
export async function runTests(
  tests: readonly PackTest[],
  { packs, jobs }: RunTestsOptions,
): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  const queue = tests.entries();
  const worker = async () => {
    for (const [index, test] of queue) results[index] = await runTest(test, packs);
  };
  await Promise.all(Array.from({ length: Math.min(jobs, tests.length) }, worker));
  return results;
}

async function runTest(test: PackTest, packs: ReadonlyMap<string, LoadedPack>): Promise<TestResult> {
  const pack = packs.get(test.pack);
  const idle = {
    test,
    ms: 0,
    differences: [],
    trace: [],
    taken: [],
    errors: [],
    remarks: [],
    run: null,
  } as const;
  if (test.skip !== undefined || pack === undefined) return { ...idle, status: "skipped" };
  const began = performance.now();
  const played = await safely(test, pack);
  const differences = differencesOf(test, played);
  const { observed, taken, remarks } = played;
  return {
    test,
    status: differences.length === 0 ? "passed" : "failed",
    ms: Math.round(performance.now() - began),
    differences,
    trace: observed?.trace ?? [],
    taken,
    errors: (observed?.calls ?? []).filter(({ isError }) => isError === true),
    remarks: [...test.remarks, ...remarks],
    run: observed?.run ?? null,
  };
}

/** One test that cannot be played must not take the others with it. */
async function safely(test: PackTest, pack: LoadedPack): Promise<Played> {
  try {
    return await playTest(test, pack);
  } catch (error) {
    const trouble = [error instanceof Error ? error.message : String(error)];
    return { trouble, ends: [], taken: [], remarks: [] };
  }
}

function differencesOf(test: PackTest, { observed, trouble, ends }: Played): readonly Difference[] {
  const stopped = trouble.map(
    (actual): Difference => ({
      place: test.place(test.at),
      kind: "different",
      what: "the run",
      expected: "to be played to its end",
      actual,
    }),
  );
  if (observed === undefined) return stopped;
  const place = (path: Path) => test.place([...test.at, "expect", ...path]);
  const turns = test.turns.flatMap(({ checks }, index) => {
    const until = ends[index];
    return until === undefined ? [] : judgeChecks(checks, observed, { after: ends[index - 1] ?? 0, until });
  });
  const { checks, unsupported } = test.closing;
  const closing = judgeChecks(checks, observed, WHOLE);
  return [...stopped, ...judge(test.expect, observed, place), ...turns, ...closing, ...unsupported];
}
