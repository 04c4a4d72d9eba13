// The `expect` of a test.

import { OptionReader } from "../../adapter/tool/option-reader.ts";
import { isObject, type Json, type JsonObject, type Path, put } from "../../base/json.ts";
import type { Status } from "../../core/facts.ts";
import { readBudgets } from "../../host/run-settings.ts";
import { readMatcher } from "./matcher.ts";
import type { Expectations, ExpectedReason, Matcher } from "./pack-test.ts";
import { readChecks } from "./read-checks.ts";

const STATUSES: readonly Status[] = ["completed", "waiting", "failed", "budget_exhausted", "cancelled"];

/** What a row may say of a transition, as a trace names it. */
const ROW_KEYS = ["from", "event", "to", "visit", "cause", "redirected_from", "by"];

export interface ExpectationsPlace {
  readonly path: Path;
  readonly place: (path: Path) => string;
  readonly problems: OptionReader["problems"];
}

export function readExpectations(
  value: JsonObject,
  { path, place, problems }: ExpectationsPlace,
): Expectations {
  const reader = new OptionReader(value, path, problems);
  const status = reader.oneOf("status", STATUSES);
  const reason = readReason(reader, path);
  const state = reader.text("state");
  const way = readWay(reader);
  const transitions = readRows(reader, path);
  const visits = readCounts(reader, "visits");
  const artifacts = readArtifacts(reader, path);
  const output = reader.any("output");
  const used = reader.section("used");
  const checks = readChecks(reader.any("checks"), {
    path: [...path, "checks"],
    problems,
    place,
    unjudged: "refuse",
  });
  const limits = used && readBudgets(used);
  reader.end();
  return {
    checks,
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason }),
    ...(state !== undefined && { state }),
    ...(way !== undefined && { path: way }),
    ...(transitions !== undefined && { transitions }),
    ...(visits !== undefined && { visits }),
    ...(artifacts !== undefined && { artifacts }),
    ...(output !== undefined && { output: readMatcher(output, [...path, "output"], problems) }),
    ...(limits !== undefined && { used: limits }),
  };
}

/** A text is the code alone. */
function readReason(reader: OptionReader, path: Path): ExpectedReason | undefined {
  const value = reader.any("reason");
  if (value === undefined) return undefined;
  if (typeof value === "string") return { code: value };
  if (!isObject(value)) {
    reader.wrong("reason", "`reason` is a code, or a mapping with code, limit, state, message");
    return undefined;
  }
  const own = new OptionReader(value, [...path, "reason"], reader.problems);
  const [code, limit, state] = [own.text("code"), own.text("limit"), own.text("state")];
  const message = own.any("message");
  own.end();
  return {
    ...(code !== undefined && { code }),
    ...(limit !== undefined && { limit }),
    ...(state !== undefined && { state }),
    ...(message !== undefined && {
      message: readMatcher(message, [...path, "reason", "message"], reader.problems),
    }),
  };
}

/** A list, or one line as a trace is told: `plan → test → done`. */
function readWay(reader: OptionReader): readonly string[] | undefined {
  const value = reader.any("path");
  if (value === undefined) return undefined;
  if (typeof value === "string") return value.split(/→|->/).map((state) => state.trim());
  if (Array.isArray(value) && value.every((one: Json) => typeof one === "string")) return value;
  reader.wrong("path", "`path` is a list of states, or one line like `plan → test → done`");
  return undefined;
}

function readRows(reader: OptionReader, path: Path): readonly JsonObject[] | undefined {
  const value = reader.any("transitions");
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    reader.wrong("transitions", "`transitions` is a list of { from, event, to }");
    return undefined;
  }
  const rows: JsonObject[] = [];
  for (const [index, row] of (value as readonly Json[]).entries()) {
    const at = [...path, "transitions", index];
    if (!isObject(row)) reader.problems.push({ path: at, message: "a transition is { from, event, to }" });
    else {
      const own = new OptionReader(row, at, reader.problems);
      for (const key of ROW_KEYS) own.any(key);
      own.end();
      rows.push(row);
    }
  }
  return rows;
}

function readCounts(reader: OptionReader, key: string): Readonly<Record<string, number>> | undefined {
  const value = reader.object(key);
  if (value === undefined) return undefined;
  const counts: Record<string, number> = {};
  for (const [name, count] of Object.entries(value)) {
    if (typeof count === "number") put(counts, name, count);
    else reader.wrong(key, `the number of visits of \`${name}\` is a number`);
  }
  return counts;
}

function readArtifacts(reader: OptionReader, path: Path): Readonly<Record<string, Matcher>> | undefined {
  const value = reader.object("artifacts");
  if (value === undefined) return undefined;
  const matchers: Record<string, Matcher> = {};
  for (const [name, expected] of Object.entries(value))
    put(matchers, name, readMatcher(expected, [...path, "artifacts", name], reader.problems));
  return matchers;
}
