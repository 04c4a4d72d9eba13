// A variable's type and validation, and whether a value written in the pack obeys them (S40).

import { deepEqual, isObject, type Json } from "../../../base/json.ts";
import { isSuperLinear } from "../../../base/super-linear.ts";
import type { Variable, VariableValidation } from "../../shape/generated/pack-file.ts";
import { compilePattern } from "./compile-pattern.ts";

export type Validation = VariableValidation;
type Kind = "text" | "number" | "boolean" | "object" | "list" | "null";

/** By the type's name. Other types are allowed and left unchecked. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["string", "text"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
  ["object", "object"],
  ["array", "list"],
]);

export const kindOfType = (variable: Variable): Kind | undefined => KINDS.get(variable.type);

function kindOf(value: Json): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (isObject(value)) return "object";
  if (typeof value === "string") return "text";
  return typeof value === "number" ? "number" : "boolean";
}

/** Characters, as the specification counts them. */
const lengthOf = (text: string): number => [...text].length;

/** A text longer than this is not held against a pattern while checking. */
const TEXT_MAX = 1_000;

/** Counted groups and backward references are beyond what the analysis judges, so they are not tried out. */
const isQuick = (pattern: string): boolean => !/\)\{|\\[1-9k]/.test(pattern) && !isSuperLinear(pattern);

/**
 * The first rule a value breaks, in words that follow "its value"; undefined when it obeys all. Rules that
 * contradict each other are left out by the caller, so that one mistake gives one message.
 */
export function brokenRule(value: Json, variable: Variable, rules: Validation): string | undefined {
  const kind = kindOfType(variable);
  if (kind !== undefined && kindOf(value) !== kind) return `type \`${variable.type}\``;
  if (variable.type === "integer" && !Number.isInteger(value)) return "type `integer`";
  if (typeof value === "string") return brokenTextRule(value, rules) ?? brokenEnum(value, rules);
  if (typeof value === "number") return brokenNumberRule(value, rules) ?? brokenEnum(value, rules);
  return brokenEnum(value, rules);
}

function brokenTextRule(text: string, rules: Validation): string | undefined {
  const { min_length: least, max_length: most, pattern } = rules;
  if (least !== undefined && lengthOf(text) < least) return `min_length ${least}`;
  if (most !== undefined && lengthOf(text) > most) return `max_length ${most}`;
  if (pattern === undefined || text.length > TEXT_MAX || !isQuick(pattern)) return undefined;
  const compiled = compilePattern(pattern);
  return compiled.ok && !compiled.expression.test(text) ? `pattern \`${pattern}\`` : undefined;
}

function brokenNumberRule(number: number, { minimum, maximum }: Validation): string | undefined {
  if (minimum !== undefined && number < minimum) return `minimum ${minimum}`;
  return maximum !== undefined && number > maximum ? `maximum ${maximum}` : undefined;
}

function brokenEnum(value: Json, { enum: allowed }: Validation): string | undefined {
  if (allowed === undefined || allowed.some((member) => deepEqual(member as Json, value))) return undefined;
  return "enum";
}
