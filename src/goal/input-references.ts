// References in the input of a tool: a text that is nothing but `{{step:2.content}}` or `{{file:artifacts/…}}`
// is replaced by that field or file, so that a model never has to copy a page.

import { get, isObject, type Json, type JsonObject, put } from "../base/json.ts";
import { isInnerPath } from "./tool-result.ts";

export interface References {
  /** The stored result of a step; undefined when it cannot be read. */
  readonly step: (step: number) => Json | undefined;
  /** Text of a file in the workspace. */
  readonly file: (path: string) => string | undefined;
}

const STEP = /^\{\{step:([1-9]\d{0,8})\.([^{}]+)\}\}$/;
const FILE = /^\{\{file:(artifacts\/[^{}]+)\}\}$/;

const DEPTH_MAX = 100;

export interface Substituted {
  readonly input: JsonObject;
  readonly problems: readonly string[];
}

export function substitute(input: JsonObject, references: References): Substituted {
  const problems: string[] = [];
  const replace = (text: string): Json => {
    const found = resolved(text, references);
    if (found !== undefined) return found;
    problems.push(`action/input: \`${text.slice(0, 120)}\` refers to nothing that is there`);
    return text;
  };
  return { input: walked(input, replace, 0) as JsonObject, problems };
}

function walked(value: Json, replace: (text: string) => Json, depth: number): Json {
  if (typeof value === "string") return STEP.test(value) || FILE.test(value) ? replace(value) : value;
  if (depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((one: Json) => walked(one, replace, depth + 1));
  if (!isObject(value)) return value;
  const object: Record<string, Json> = {};
  for (const [key, one] of Object.entries(value)) put(object, key, walked(one, replace, depth + 1));
  return object;
}

function resolved(text: string, { step, file }: References): Json | undefined {
  const [, path] = FILE.exec(text) ?? [];
  if (path !== undefined) return isInnerPath(path) ? file(path) : undefined;
  const [, number, field] = STEP.exec(text) ?? [];
  if (number === undefined || field === undefined) return undefined;
  let value = step(Number(number));
  for (const part of field.split("."))
    value = get(value, Array.isArray(value) && /^\d{1,6}$/.test(part) ? Number(part) : part);
  return value;
}
