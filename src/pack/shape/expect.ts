// The schema's demands on a single value: whether it meets them, and how a demand reads in a message.

import type { Json } from "../../base/json.ts";
import { isObject } from "../../base/json.ts";
import { shapes } from "./generated/shapes.ts";
import type { JsonType, Shape } from "./shape.ts";
import { quote } from "./subject.ts";

/** Which demand a value fails. */
export type Failure = "type" | "enum" | "pattern" | "short" | "long" | "range";

/** The first demand on the value itself that fails; its members are looked at elsewhere. */
export function failure(shape: Shape, value: Json): Failure | undefined {
  if (shape.type !== undefined && !isOfTypes(value, shape.type)) return "type";
  if (shape.enum !== undefined && !shape.enum.includes(value as string | number)) {
    return typeof value === typeof shape.enum[0] ? "enum" : "type";
  }
  if (typeof value === "string") return textFailure(shape, value);
  if (typeof value === "number") return isInRange(shape, value) ? undefined : "range";
  return undefined;
}

function isOfTypes(value: Json, types: readonly JsonType[]): boolean {
  for (const type of types) if (isOfType(value, type)) return true;
  return false;
}

function isOfType(value: Json, type: JsonType): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function textFailure(shape: Shape, value: string): Failure | undefined {
  if (shape.minLength !== undefined && lengthOf(value) < shape.minLength) return "short";
  if (shape.maxLength !== undefined && lengthOf(value) > shape.maxLength) return "long";
  if (shape.pattern !== undefined && !matches(shape.pattern, value)) return "pattern";
  return undefined;
}

function isInRange(shape: Shape, value: number): boolean {
  if (shape.minimum !== undefined && value < shape.minimum) return false;
  if (shape.exclusiveMinimum !== undefined && value <= shape.exclusiveMinimum) return false;
  return shape.maximum === undefined || value <= shape.maximum;
}

/** Length in characters as people count them, not in UTF-16 units. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

const compiled = new Map<string, RegExp>();

export function matches(pattern: string, text: string): boolean {
  let expression = compiled.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(pattern, "u");
    compiled.set(pattern, expression);
  }
  return expression.test(text);
}

/** The shape with its reference followed. */
export function resolve(shape: Shape): Shape {
  let target = shape;
  while (target.ref !== undefined) target = shapes[target.ref] as Shape;
  return target;
}

/** What may stand here: "a whole number of at least 1", "one of `user`, `agent`". */
export function expected(shape: Shape): string {
  const target = resolve(shape);
  if (target.forms !== undefined)
    return alternatives([...new Set(target.forms.map((form) => expected(form)))]);
  if (target.enum !== undefined) {
    const values = target.enum.map((value) => quote(value));
    return values.length === 1 ? (values[0] as string) : `one of ${values.join(", ")}`;
  }
  return alternatives((target.type ?? []).map((type) => expectedType(target, type)));
}

function expectedType(shape: Shape, type: JsonType): string {
  switch (type) {
    case "string":
      return shape.pattern === undefined ? "text" : (patternWords.get(shape.pattern) ?? "text");
    case "integer":
      return `a whole number${rangeWords(shape)}`;
    case "number":
      return `a number${rangeWords(shape)}`;
    case "boolean":
      return "`true` or `false`";
    case "null":
      return "`null`";
    case "array":
      return "a list";
    case "object":
      return "a mapping";
  }
}

function rangeWords(shape: Shape): string {
  if (shape.exclusiveMinimum !== undefined) return ` above ${shape.exclusiveMinimum}`;
  if (shape.minimum !== undefined && shape.maximum !== undefined) {
    return ` from ${shape.minimum} to ${shape.maximum}`;
  }
  return shape.minimum === undefined ? "" : ` of at least ${shape.minimum}`;
}

/** "a, b or c" */
export function alternatives(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** What each pattern of the schema asks for. A pattern missing here would be called "text". */
const patternWords: ReadonlyMap<string, string> = new Map([
  ["^[a-z][a-z0-9-]*$", "lower-case letters, digits and hyphens, starting with a letter"],
  ["^[a-z][a-z0-9_-]*$", "lower-case letters, digits, hyphens and underscores, starting with a letter"],
  ["^[a-zA-Z_][a-zA-Z0-9_]*$", "letters, digits and underscores, not starting with a digit"],
  ["^[a-zA-Z_:][a-zA-Z0-9_:]*$", "letters, digits, underscores and colons, not starting with a digit"],
  ["^[a-zA-Z0-9_-]+$", "letters, digits, hyphens and underscores"],
  ["^[a-z0-9_]+$", "lower-case letters, digits and underscores"],
  ["^[a-z]{2}$", "a language code of two lower-case letters such as `en`"],
  [patternOf("SemanticVersion"), "a semantic version such as `1.0.0`"],
  [patternOf("Review", "cadence"), "an ISO 8601 duration in whole units such as `P3M`"],
]);

function patternOf(definition: string, property?: string): string {
  const shape = shapes[definition];
  return (property === undefined ? shape : shape?.properties?.[property])?.pattern ?? "";
}

/** How the type of a value is called. */
export function typeWords(value: Json): string {
  if (value === null) return "empty (null)";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "text";
    case "number":
      return Number.isFinite(value) ? "a number" : "not a finite number";
    case "boolean":
      return "a boolean";
    default:
      return "a mapping";
  }
}
