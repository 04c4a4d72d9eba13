// A run against what was expected of it: every difference with its place in the test file.

import { deepEqual, get, type Json, type JsonObject, type Path } from "../../base/json.ts";
import type { Limits } from "../../core/facts.ts";
import { artifactValue, statusOf } from "../../core/run.ts";
import type { TraceRow } from "../../core/trace.ts";
import type { Difference } from "./difference.ts";
import { judgeCheck, type Span, WHOLE } from "./judge-check.ts";
import { mismatches, shown } from "./matcher.ts";
import type { Observed } from "./observed.ts";
import type { Check, Expectations, ExpectedReason, Matcher } from "./pack-test.ts";

/** `place` says where an expectation stands. */
export function judge(
  expect: Expectations,
  observed: Observed,
  place: (path: Path) => string,
): readonly Difference[] {
  const { run, trace } = observed;
  const found: Difference[] = [];
  const say = (path: Path, what: string, sides: Sides, row?: number) =>
    found.push({ place: place(path), kind: "different", what, ...sides, ...(row !== undefined && { row }) });
  if (expect.status !== undefined && expect.status !== statusOf(run))
    say(["status"], "status", { expected: shown(expect.status), actual: endOf(observed) });
  // A run that broke is not what a test means that says nothing of it.
  if (expect.status === undefined && expect.reason === undefined && run.final === "failed")
    say([], "status", { expected: "a run that does not fail", actual: endOf(observed) });
  if (expect.reason !== undefined) judgeReason(expect.reason, observed, say);
  if (expect.state !== undefined && expect.state !== run.state)
    say(["state"], "state", { expected: shown(expect.state), actual: shown(run.state ?? undefined) });
  if (expect.path !== undefined) judgePath(expect.path, trace, say);
  if (expect.transitions !== undefined) judgeRows(expect.transitions, trace, say);
  for (const [state, visits] of Object.entries(expect.visits ?? {})) {
    const actual = trace.filter(({ to }) => to === state).length;
    if (visits !== actual)
      say(["visits", state], `visits of \`${state}\``, { expected: String(visits), actual: String(actual) });
  }
  for (const [name, matcher] of Object.entries(expect.artifacts ?? {}))
    judgeArtifact(name, matcher, observed, say);
  for (const expected of expect.output === undefined ? [] : mismatches(expect.output, run.lastText))
    say(["output"], "output", { expected, actual: shown(run.lastText) });
  for (const [limit, most] of Object.entries(expect.used ?? {})) judgeUse(limit, most, observed, say);
  return [...found, ...judgeChecks(expect.checks, observed, WHOLE)];
}

interface Sides {
  readonly expected: string;
  readonly actual: string;
}

type Say = (path: Path, what: string, sides: Sides, row?: number) => void;

export function judgeChecks(checks: readonly Check[], observed: Observed, span: Span): readonly Difference[] {
  return checks.flatMap((check): readonly Difference[] => {
    const { verdict, actual } = judgeCheck(observed, check, span);
    if (verdict === "good" || verdict === "idle") return [];
    const why = check.message === undefined ? "" : ` (${check.message})`;
    const what = `check \`${check.type}\`${why}`;
    const expected = `${check.type} ${JSON.stringify(check.params)}`;
    const kind = verdict === "unknown" ? "unsupported" : "different";
    return [{ place: check.place, kind, what, expected, actual }];
  });
}

/** How the run stands, with the reason where there is one. */
function endOf({ run }: Observed): string {
  const status = shown(statusOf(run));
  if (run.final === null) return run.state === null ? status : `${status} in \`${run.state}\``;
  if (run.reason === null) return status;
  const { code, message, state, limit } = run.reason;
  const where = state === undefined ? "" : ` in \`${state}\``;
  return `${status} (${limit ?? code}${where}${message === undefined ? "" : `: ${message}`})`;
}

function judgeReason(expected: ExpectedReason, observed: Observed, say: Say): void {
  const reason = (observed.run.reason ?? {}) as Readonly<Record<string, Json>>;
  for (const key of ["code", "limit", "state"] as const) {
    if (expected[key] !== undefined && expected[key] !== reason[key])
      say(["reason", key], `reason's ${key}`, {
        expected: shown(expected[key]),
        actual: shown(get(reason, key)),
      });
  }
  const { message } = reason;
  for (const one of expected.message === undefined ? [] : mismatches(expected.message, message))
    say(["reason", "message"], "reason's message", { expected: one, actual: shown(message) });
}

function judgePath(expected: readonly string[], trace: readonly TraceRow[], say: Say): void {
  const actual = trace.map(({ to }) => to);
  const at = firstDifferent(expected, actual);
  if (at === undefined) return;
  const one = (states: readonly string[]) => (states[at] === undefined ? "the end" : `\`${states[at]}\``);
  const what = `path, at its state ${at + 1}`;
  say(["path"], what, { expected: one(expected), actual: `${one(actual)} in ${actual.join(" → ")}` }, at);
}

function firstDifferent(a: readonly string[], b: readonly string[]): number | undefined {
  for (let at = 0; at < Math.max(a.length, b.length); at++) if (a[at] !== b[at]) return at;
  return undefined;
}

/** The entry is no transition. */
function judgeRows(expected: readonly JsonObject[], trace: readonly TraceRow[], say: Say): void {
  const rows = trace.filter(({ from }) => from !== null);
  const skipped = trace.length - rows.length;
  for (const [index, wanted] of expected.entries()) {
    const row = rows[index] as unknown as JsonObject | undefined;
    const wrong = Object.entries(wanted).filter(([key, value]) => !deepEqual(get(row, key) ?? null, value));
    if (row !== undefined && wrong.length === 0) continue;
    const keys = wrong.map(([key]) => key);
    const actual = row === undefined ? "no such transition" : shown(picked(row, keys));
    const what = `transition ${index + 1}`;
    const sides = { expected: shown(picked(wanted, row === undefined ? Object.keys(wanted) : keys)), actual };
    return say(["transitions", index], what, sides, index + skipped);
  }
  if (rows.length === expected.length) return undefined;
  const sides = { expected: `${expected.length} transitions`, actual: `${rows.length}` };
  return say(["transitions"], "transitions", sides, expected.length + skipped);
}

const picked = (row: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.map((key) => [key, get(row, key) ?? null]));

function judgeArtifact(name: string, matcher: Matcher, { run, trace }: Observed, say: Say): void {
  const artifact = Object.hasOwn(run.artifacts, name) ? run.artifacts[name] : undefined;
  const value = artifact && artifactValue(artifact);
  const written = trace.findLastIndex(({ changed }) => changed.includes(name));
  for (const expected of mismatches(matcher, value))
    say(
      ["artifacts", name],
      `artifact \`${name}\``,
      { expected, actual: shown(value) },
      written === -1 ? undefined : written,
    );
}

const USED: Readonly<Record<keyof Limits, string>> = {
  visits: "max_total_visits",
  toolCalls: "max_tool_calls",
  wallMs: "max_wall_time_sec",
  modelCalls: "max_model_calls",
  inputTokens: "max_input_tokens",
  outputTokens: "max_output_tokens",
  costUsd: "max_cost_usd",
};

function judgeUse(limit: string, most: number | null, { run }: Observed, say: Say): void {
  const wall = run.wallClock === "active" ? run.used.activeMs : run.now - run.startedAt;
  const used: Readonly<Record<string, number>> = { ...run.used, wallMs: wall };
  const actual = used[limit] ?? 0;
  if (most === null || actual <= most) return;
  const name = USED[limit as keyof Limits];
  const scale = limit === "wallMs" ? 1000 : 1;
  say(["used", name], name, { expected: `at most ${most / scale}`, actual: String(actual / scale) });
}
