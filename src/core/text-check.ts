// Checks on a text, as validators and tests name them. Each type has one meaning here, whatever spelling it
// comes under; what needs another model to judge is not among them.

import { Validator } from "@cfworker/json-schema";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { isSuperLinear } from "../base/super-linear.ts";
import { checkTypeOf, type TextCheckType } from "./check-names.ts";
import { personalData } from "./personal-data.ts";

/** `unknown`: it cannot be judged, and then a control does not let pass. */
export type Verdict = "good" | "bad" | "unknown";

type Judge = (text: string, params: JsonObject, type: string) => boolean | undefined;

const JUDGES: Readonly<Record<TextCheckType, Judge>> = {
  contains: (text, params) => textsOf(params, "patterns")?.every((one) => holds(text, one)),
  contains_any: (text, params) => textsOf(params, "patterns")?.some((one) => holds(text, one)),
  content_excludes: excludes,
  regex: matches,
  max_length: (text, params) => within(text, params, "max"),
  min_length: (text, params) => within(text, params, "min"),
  sentence_count: fewSentences,
  field_presence: namesFields,
  json_valid: (text, params) => jsonIn(text, params) !== undefined,
  json_schema: fitsSchema,
  pii_leakage: (text) => personalData(text) === undefined,
};

function judgeOf(type: string): Judge | undefined {
  const name = checkTypeOf(type);
  return Object.hasOwn(JUDGES, name) ? JUDGES[name as TextCheckType] : undefined;
}

/** What is demanded must be there at the end; what is forbidden may never be there. */
export function demandsContent(type: string, params: JsonObject): boolean {
  const name = checkTypeOf(type);
  if (name === "regex") return params["expect_match"] !== false;
  return !["content_excludes", "max_length", "sentence_count", "pii_leakage"].includes(name);
}

export function judgeText(text: string, type: string, params: JsonObject): Verdict {
  const good = judgeOf(type)?.(text, params, type);
  if (good === undefined) return "unknown";
  return good ? "good" : "bad";
}

/** The longest beginning of a text that `max_length` lets pass; undefined for other types. */
export function shortened(text: string, type: string, params: JsonObject): string | undefined {
  const limit = checkTypeOf(type) === "max_length" ? lengthLimit(params, "max") : undefined;
  return limit === undefined ? undefined : [...text].slice(0, limit).join("");
}

const holds = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());

function textsOf(params: JsonObject, ...names: readonly string[]): readonly string[] | undefined {
  const given = names.map((name) => get(params, name)).find((value) => value !== undefined);
  if (!Array.isArray(given) || !given.every((item: Json) => typeof item === "string")) return undefined;
  return given;
}

function excludes(text: string, params: JsonObject, type: string): boolean | undefined {
  const words = textsOf(params, "patterns", "words");
  const whole =
    (get(params, "match_mode") ?? (type === "banned_words" ? "word_boundary" : "")) === "word_boundary";
  return words?.every((word) => !(whole ? holdsWord(text, word) : holds(text, word)));
}

const isWordPart = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** The word stands by itself: no letter or digit touches it where it begins or ends with one. */
function holdsWord(text: string, word: string): boolean {
  const [where, what] = [text.toLowerCase(), word.toLowerCase()];
  if (what === "") return false;
  for (let at = where.indexOf(what); at !== -1; at = where.indexOf(what, at + 1)) {
    const joinedBefore = isWordPart(what[0]) && isWordPart(where[at - 1]);
    const joinedAfter = isWordPart(what.at(-1)) && isWordPart(where[at + what.length]);
    if (!joinedBefore && !joinedAfter) return true;
  }
  return false;
}

/** A pattern that could hang is not tried. */
function matches(text: string, params: JsonObject): boolean | undefined {
  const pattern = get(params, "pattern");
  if (typeof pattern !== "string" || isSuperLinear(pattern)) return undefined;
  const inline = /^\(\?([ims]+)\)/.exec(pattern);
  try {
    const found = new RegExp(pattern.slice(inline?.[0].length ?? 0), `u${inline?.[1] ?? ""}`).test(text);
    return found === (get(params, "expect_match") !== false);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** About four characters make a token. */
const CHARACTERS_PER_TOKEN = 4;

function lengthLimit(params: JsonObject, bound: "max" | "min"): number | undefined {
  for (const name of [bound, `${bound}_characters`, `${bound}_chars`]) {
    const value = get(params, name);
    if (typeof value === "number") return value;
  }
  const tokens = get(params, `${bound}_tokens`);
  return typeof tokens === "number" ? tokens * CHARACTERS_PER_TOKEN : undefined;
}

function within(text: string, params: JsonObject, bound: "max" | "min"): boolean | undefined {
  const limit = lengthLimit(params, bound);
  if (limit === undefined) return undefined;
  const length = [...text].length;
  return bound === "max" ? length <= limit : length >= limit;
}

function fewSentences(text: string, params: JsonObject): boolean | undefined {
  const most = get(params, "max") ?? get(params, "max_sentences");
  if (typeof most !== "number") return undefined;
  return text.split(/[.!?]+(?:\s|$)/).filter((part) => part.trim() !== "").length <= most;
}

function namesFields(text: string, params: JsonObject): boolean | undefined {
  return textsOf(params, "fields", "required_fields")?.every((field) => holds(text, field));
}

/** The JSON a text is, or holds in a code fence or among prose where that is allowed. */
function jsonIn(text: string, params: JsonObject): { readonly value: Json } | undefined {
  const candidates = [text.trim()];
  if (get(params, "allow_wrapped") === true) {
    const fenced = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text.trim());
    if (fenced !== null) candidates.push(fenced[1] as string);
  }
  if (get(params, "extract_json") === true) {
    const start = text.search(/[{[]/);
    const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
    if (start !== -1 && end > start) candidates.push(text.slice(start, end + 1));
  }
  for (const candidate of candidates) {
    try {
      return { value: JSON.parse(candidate) as Json };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

function fitsSchema(text: string, params: JsonObject): boolean | undefined {
  const given = get(params, "schema");
  const schema = typeof given === "string" ? jsonIn(given, {})?.value : given;
  if (typeof schema !== "boolean" && !isObject(schema)) return undefined;
  const found = jsonIn(text, params);
  if (found === undefined) return false;
  // The validator writes into the schema it is given.
  const copy = JSON.parse(JSON.stringify(schema)) as ConstructorParameters<typeof Validator>[0];
  return new Validator(copy, "2020-12").validate(found.value).valid;
}
