// One value of a variable against what the pack says about it. Types and rules the specification leaves open
// are not judged.

import { deepEqual, get, isObject, type Json, type JsonObject, jsonIn } from "../base/json.ts";
import { isSuperLinear } from "../base/super-linear.ts";

/** A pattern is tried on texts up to this long; it bounds the time even of a quadratic match. */
const PATTERN_TEXT_MAX = 10_000;
const SHOWN_MAX = 60;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Text as a value of the type, or undefined when it is none. */
export function asType(text: string, type: string): Json | undefined {
  switch (type) {
    case "number":
      return numberOf(text.trim());
    case "boolean":
      return text.trim() === "true" ? true : text.trim() === "false" ? false : undefined;
    case "object":
    case "array": {
      const value = jsonIn(text);
      return value !== undefined && hasType(value, type) ? value : undefined;
    }
    default:
      return text;
  }
}

function numberOf(text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** Types beyond the five of the specification fit any value. */
export function hasType(value: Json, type: string): boolean {
  switch (type) {
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    default:
      return true;
  }
}

interface ValidationProblem {
  readonly code: "validation" | "unchecked";
  /** The end of a sentence about the value. */
  readonly text: string;
}

const broken = (text: string): ValidationProblem => ({ code: "validation", text });
const unchecked = (text: string): ValidationProblem => ({ code: "unchecked", text });

export function validationProblems(value: Json, rules: JsonObject): readonly ValidationProblem[] {
  const problems: ValidationProblem[] = [];
  if (typeof value === "string") problems.push(...textProblems(value, rules));
  if (typeof value === "number") problems.push(...rangeProblems(value, rules));
  const members = get(rules, "enum");
  if (Array.isArray(members) && !members.some((member: Json) => deepEqual(member, value))) {
    const allowed = members.map((member: Json) => shown(member)).join(", ");
    problems.push(broken(`must be one of ${allowed}, not ${shown(value)}`));
  }
  return problems;
}

function textProblems(value: string, rules: JsonObject): readonly ValidationProblem[] {
  const problems: ValidationProblem[] = [];
  const [least, most, pattern] = [get(rules, "min_length"), get(rules, "max_length"), get(rules, "pattern")];
  const length = [...value].length;
  if (typeof least === "number" && length < least) {
    problems.push(broken(`must have at least ${least} characters, not ${length}`));
  }
  if (typeof most === "number" && length > most) {
    problems.push(broken(`must have at most ${most} characters, not ${length}`));
  }
  const mismatch = typeof pattern === "string" ? patternProblem(value, pattern) : undefined;
  return mismatch === undefined ? problems : [...problems, mismatch];
}

function rangeProblems(value: number, rules: JsonObject): readonly ValidationProblem[] {
  const [least, most] = [get(rules, "minimum"), get(rules, "maximum")];
  const problems: ValidationProblem[] = [];
  if (typeof least === "number" && value < least) {
    problems.push(broken(`must be at least ${least}, not ${value}`));
  }
  if (typeof most === "number" && value > most)
    problems.push(broken(`must be at most ${most}, not ${value}`));
  return problems;
}

/** A pattern that could hang is never run. The value then cannot be vouched for, and the caller must know. */
function patternProblem(value: string, pattern: string): ValidationProblem | undefined {
  const compiled = compile(pattern);
  if (compiled === undefined) {
    return unchecked(`has the pattern \`${pattern}\`, which is not a regular expression (fix the pattern)`);
  }
  if (isSuperLinear(pattern)) {
    return unchecked(
      `was not checked: its pattern \`${pattern}\` can hang on a short text (rewrite the pattern)`,
    );
  }
  if (value.length > PATTERN_TEXT_MAX) {
    const size = `${value.length} characters, limit ${PATTERN_TEXT_MAX}`;
    return unchecked(`is too long to be matched with its pattern (${size})`);
  }
  if (compiled.test(value)) return undefined;
  return broken(`must match the pattern \`${pattern}\`, which ${shown(value)} does not`);
}

/** The strict syntax first; what only the older one accepts is still a pattern. */
function compile(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

/** A value in a message. */
export function shown(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const points = [...text.replaceAll("\n", " ")];
  return points.length <= SHOWN_MAX
    ? `\`${points.join("")}\``
    : `\`${points.slice(0, SHOWN_MAX - 1).join("")}…\``;
}
