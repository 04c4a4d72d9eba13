// Expected values: exact ones, or what must hold of them. A mapping whose keys are all words of a matcher is
// one; `equals` is there for a value that only looks so.

import { Validator } from "@cfworker/json-schema";
import { OptionReader } from "../../adapter/tool/option-reader.ts";
import { deepEqual, get, isObject, type Json, type Path } from "../../base/json.ts";
import { isSuperLinear } from "../../base/super-linear.ts";
import type { Matcher } from "./pack-test.ts";

const WORDS = ["equals", "contains", "matches", "schema", "length", "exists"];

export function readMatcher(value: Json, path: Path, problems: OptionReader["problems"]): Matcher {
  const keys = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || keys.length === 0 || !keys.every((key) => WORDS.includes(key)))
    return { equals: value };
  const reader = new OptionReader(value, path, problems);
  const [equals, contains] = [reader.any("equals"), reader.any("contains")];
  const matches = reader.text("matches");
  const exists = reader.flag("exists");
  const schema = reader.any("schema");
  if (matches !== undefined && patternOf(matches) === undefined)
    reader.wrong("matches", `\`${matches}\` is not a regular expression that can be tried safely`);
  if (schema !== undefined && typeof schema !== "boolean" && !isObject(schema))
    reader.wrong("schema", "`schema` is a JSON Schema");
  const length = readLength(reader);
  return {
    ...(equals !== undefined && { equals }),
    ...(contains !== undefined && { contains }),
    ...(matches !== undefined && { matches }),
    ...((typeof schema === "boolean" || isObject(schema)) && { schema }),
    ...(length !== undefined && { length }),
    ...(exists !== undefined && { exists }),
  };
}

function readLength(reader: OptionReader): Matcher["length"] {
  const given = reader.any("length");
  if (given === undefined) return undefined;
  if (typeof given === "number") return { min: given, max: given };
  const [min = 0, max = Number.MAX_SAFE_INTEGER] = [get(given, "min"), get(given, "max")];
  if (isObject(given) && typeof min === "number" && typeof max === "number") return { min, max };
  reader.wrong("length", "`length` is a number, or { min, max }");
  return undefined;
}

/** What is expected and does not hold; empty when everything does. */
export function mismatches(matcher: Matcher, value: Json | undefined): readonly string[] {
  if (matcher.exists === false) return value === undefined ? [] : ["nothing"];
  if (value === undefined) return [expectedText(matcher)];
  const found: string[] = [];
  const { equals, contains, matches, schema, length } = matcher;
  if (equals !== undefined && !deepEqual(equals, value)) found.push(shown(equals));
  if (contains !== undefined && !containsAll(value, contains))
    found.push(`something with ${shown(contains)}`);
  if (matches !== undefined && patternOf(matches)?.test(textOf(value)) !== true)
    found.push(`something that matches /${matches}/`);
  if (schema !== undefined && !conforms(value, schema))
    found.push(`something that conforms to ${shown(schema)}`);
  if (length !== undefined && !isBetween(lengthOf(value), length)) found.push(lengthText(length));
  return found;
}

function expectedText({ equals, contains, matches, length }: Matcher): string {
  if (equals !== undefined) return shown(equals);
  if (contains !== undefined) return `something with ${shown(contains)}`;
  if (matches !== undefined) return `something that matches /${matches}/`;
  return length === undefined ? "a value" : lengthText(length);
}

const lengthText = ({ min, max }: NonNullable<Matcher["length"]>): string =>
  min === max
    ? `a length of ${min}`
    : `a length from ${min} to ${max === Number.MAX_SAFE_INTEGER ? "any" : max}`;

/** A list of texts means all of them where a text is looked at. */
function containsAll(value: Json, wanted: Json): boolean {
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    return (Array.isArray(wanted) ? (wanted as readonly Json[]) : [wanted]).every((one) =>
      list.some(
        (item) => deepEqual(item, one) || (isObject(item) && isObject(one) && containsAll(item, one)),
      ),
    );
  }
  if (isObject(value) && isObject(wanted))
    return Object.entries(wanted).every(([key, one]) => {
      const item = get(value, key);
      return item !== undefined && (deepEqual(item, one) || (isObject(one) && containsAll(item, one)));
    });
  const parts = Array.isArray(wanted) ? (wanted as readonly Json[]) : [wanted];
  return parts.every((part) => textOf(value).includes(textOf(part)));
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function lengthOf(value: Json): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : [...textOf(value)].length;
}

const isBetween = (length: number, { min, max }: NonNullable<Matcher["length"]>): boolean =>
  length >= min && length <= max;

/** A pattern that could hang is not tried. */
function patternOf(pattern: string): RegExp | undefined {
  if (isSuperLinear(pattern)) return undefined;
  try {
    return new RegExp(pattern, "u");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function conforms(value: Json, schema: NonNullable<Matcher["schema"]>): boolean {
  // The validator writes into the schema it is given.
  const copy = structuredClone(schema) as ConstructorParameters<typeof Validator>[0];
  return new Validator(copy, "2020-12").validate(value).valid;
}

/** A value on one line, for a message. */
export function shown(value: Json | undefined): string {
  return value === undefined ? "nothing" : `\`${textOf(value)}\``;
}
