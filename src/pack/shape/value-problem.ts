// Words for a value that does not meet its shape: what is wrong with it, why, and what to write instead.

import type { Json, JsonObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { expected, type Failure, lengthOf, matches, resolve, typeWords } from "./expect.ts";
import type { Shape } from "./shape.ts";
import { clip, type Frame, quote, subject } from "./subject.ts";

/** The texts of a problem, before it is given a place. */
export interface Words {
  readonly message: string;
  readonly why: string;
  readonly help: string;
  readonly suggestion: string | undefined;
  readonly data: JsonObject;
}

/** The words for the value at the end of `frames`, which fails `shape`. */
export function valueProblem(frames: readonly Frame[], shape: Shape, failure: Failure): Words {
  const target = resolve(shape);
  const frame = frames.at(-1) as Frame;
  const name = subject(frames);
  const wanted = demand(target, failure);
  const actual = actualWords(target, frame.value, failure);
  const better = rewrite(target, frame.value);
  return {
    message: `${name} ${actual}, expected ${wanted}`,
    why: reason(target, frame.value, failure),
    help: remedy(frame, target, { wanted, better, failure }),
    suggestion: better,
    data: { subject: name, actual: dataOf(frame.value), expected: wanted, ...allowed(target) },
  };
}

function demand(shape: Shape, failure: Failure): string {
  if (failure === "short") return "some text";
  if (failure === "long") return `at most ${shape.maxLength}`;
  return expected(shape);
}

function actualWords(shape: Shape, value: Json, failure: Failure): string {
  const isFraction = Number.isFinite(value) && shape.type?.includes("integer") === true;
  if (failure === "type" && !isFraction) return `is ${typeWords(value)}`;
  if (failure === "short") return "is empty";
  if (failure === "long") return `has ${lengthOf(String(value))} characters`;
  return `is ${shown(value)}`;
}

function shown(value: Json): string {
  return value === null || typeof value === "object" ? typeWords(value) : quote(value);
}

/** Numbers stay numbers; text is clipped, because data is printed too. */
function dataOf(value: Json): Json {
  if (value !== null && typeof value === "object") return typeWords(value);
  return typeof value === "string" ? clip(value) : value;
}

function allowed(shape: Shape): JsonObject {
  return shape.enum === undefined ? {} : { allowed: shape.enum };
}

function reason(shape: Shape, value: Json, failure: Failure): string {
  switch (failure) {
    case "type":
      if (wantsText(shape) && (typeof value === "number" || typeof value === "boolean")) {
        return `without quotes it is read as ${typeWords(value)}`;
      }
      return "the schema accepts no other type here";
    case "enum":
      return "no other value has a meaning here";
    case "pattern":
      return "the schema fixes how it is written";
    case "short":
      return "the schema requires it to say something";
    case "long":
      return "the schema limits its length";
    case "range":
      return "the schema sets that limit";
  }
}

function wantsText(shape: Shape): boolean {
  return shape.type?.includes("string") === true || typeof shape.enum?.[0] === "string";
}

/** A value close to the one given that would be accepted, where there is exactly one sensible guess. */
function rewrite(shape: Shape, value: Json): string | undefined {
  if (typeof value === "string" && shape.enum !== undefined) {
    return suggest(
      value,
      shape.enum.map((one) => String(one)),
    );
  }
  const pattern = shape.pattern;
  if (pattern === undefined || (typeof value !== "string" && typeof value !== "number")) return undefined;
  const text = String(value).trim().slice(0, 200);
  const lower = text.toLowerCase();
  const guesses = [
    text,
    `${text}.0`,
    `${text}.0.0`,
    lower.replace(/[^a-z0-9]+/g, "-"),
    lower.replace(/[^a-z0-9]+/g, "_"),
    text.replace(/[^A-Za-z0-9]+/g, "_"),
    // The language of a locale such as en-US.
    /^[a-z]{2}(?=[-_])/.exec(lower)?.[0] ?? "",
  ];
  return guesses.find((guess) => guess !== value && matches(pattern, guess));
}

interface Aim {
  readonly wanted: string;
  readonly better: string | undefined;
  readonly failure: Failure;
}

function remedy(frame: Frame, shape: Shape, { wanted, better, failure }: Aim): string {
  const { value } = frame;
  if (better !== undefined)
    return shape.enum === undefined ? `write ${entry(frame, better)}` : didYouMean(better);
  if (failure === "type") {
    const literal = otherLiteral(shape, value);
    if (literal !== undefined) return `write ${entry(frame, literal)}`;
  }
  if (failure === "short")
    return frame.optional ? `write something, or remove ${quote(frame.key)}` : "write something";
  if (failure === "long") return "shorten it";
  const removal = frame.optional ? `, or remove ${frame.how === "item" ? "it" : quote(frame.key)}` : "";
  const keys = failure === "type" && shape.required !== undefined ? ` with ${names(shape.required)}` : "";
  return `write ${wanted}${keys}${removal}`;
}

function names(keys: readonly string[]): string {
  const quoted = keys.map((key) => quote(key));
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}`;
}

export function didYouMean(name: string): string {
  return `did you mean ${quote(name)}?`;
}

function entry(frame: Frame, value: string): string {
  return frame.how === "item" ? quote(value) : `\`${clip(frame.key)}: ${clip(value)}\``;
}

/** The same value in the type that is wanted: quotes too few or too many, a list of one, an empty mapping. */
function otherLiteral(shape: Shape, value: Json): string | undefined {
  const wants = (type: string): boolean => shape.type?.some((one) => one === type) === true;
  if (wants("string") && (typeof value === "number" || typeof value === "boolean")) {
    return (shape.pattern ?? shape.enum) ? undefined : JSON.stringify(String(value));
  }
  if (wants("array")) return value === null ? "[]" : listOfOne(shape, value);
  if (wants("object") && value === null && mayBeEmpty(shape)) return "{}";
  if (typeof value !== "string") return undefined;
  if (wants("boolean")) return truth(value);
  const number = value.trim() === "" ? Number.NaN : Number(value);
  if (wants("integer") && Number.isInteger(number)) return String(number);
  return wants("number") && Number.isFinite(number) ? String(number) : undefined;
}

function mayBeEmpty(shape: Shape): boolean {
  return (
    shape.required === undefined && shape.minProperties === undefined && shape.requiredWhen === undefined
  );
}

function listOfOne(shape: Shape, value: Json): string | undefined {
  const item = resolve(shape.items ?? {});
  return typeof value === "string" && item.type?.includes("string") === true ? `[${clip(value)}]` : undefined;
}

function truth(text: string): string | undefined {
  const word = text.trim().toLowerCase();
  if (["true", "yes", "on", "y"].includes(word)) return "true";
  return ["false", "no", "off", "n"].includes(word) ? "false" : undefined;
}
