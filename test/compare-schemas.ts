// Whether two JSON Schemas say the same, keyword by keyword, with references followed in step.

import type { Schema } from "../scripts/generate-shape.ts";
import { isObject } from "../src/base/json.ts";

/** What differs, one line each; annotations are left out, and the order of keywords has no meaning. */
export function differences(left: Schema, right: Schema): string[] {
  const comparison: Comparison = { left, right, found: [], seen: new Set() };
  compare({ left, right, at: "" }, comparison);
  return comparison.found;
}

/** Every schema that describes a value: definitions, properties, items, map members, alternatives. */
export function visit(schema: Schema, at: string, look: (schema: Schema, at: string) => void): void {
  look(schema, at);
  const groups = { ...schema.$defs, ...schema.properties };
  for (const [name, member] of Object.entries(groups)) visit(member, `${at}/${name}`, look);
  if (schema.items !== undefined) visit(schema.items, `${at}/items`, look);
  if (typeof schema.additionalProperties === "object") visit(schema.additionalProperties, `${at}/*`, look);
  (schema.oneOf ?? []).forEach((one, i) => visit(one, `${at}/oneOf/${i}`, look));
}

export function followed(document: Schema, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return (document.$defs ?? {})[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] as Schema;
}

interface Comparison {
  readonly left: Schema;
  readonly right: Schema;
  readonly found: string[];
  /** Pairs of references compared before, or being compared: they count as equal. */
  readonly seen: Set<string>;
}

interface Pair {
  readonly left: Schema;
  readonly right: Schema;
  readonly at: string;
}

const annotations = ["title", "description", "examples", "default", "format", "deprecated"];
const headers = ["$schema", "$id", "$defs", "version"];

function compare({ left, right, at }: Pair, comparison: Comparison): void {
  if (left.$ref !== undefined || right.$ref !== undefined) {
    const pair = `${left.$ref} ${right.$ref}`;
    if (left.$ref !== undefined && right.$ref !== undefined && comparison.seen.has(pair)) return;
    comparison.seen.add(pair);
  }
  const a = followed(comparison.left, left);
  const b = followed(comparison.right, right);
  const keywords = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const keyword of [...annotations, ...(at === "" ? headers : [])]) keywords.delete(keyword);
  for (const keyword of keywords) {
    if (keyword === "properties") compareMembers({ left: a, right: b, at }, comparison);
    else compareKeyword(keyword, { left: a, right: b, at }, comparison);
  }
}

function compareMembers({ left, right, at }: Pair, comparison: Comparison): void {
  const [a, b] = [left.properties ?? {}, right.properties ?? {}];
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const [one, other] = [a[name], b[name]];
    if (one === undefined) comparison.found.push(`${at}/${name}: only on the right`);
    else if (other === undefined) comparison.found.push(`${at}/${name}: only on the left`);
    else compare({ left: one, right: other, at: `${at}/${name}` }, comparison);
  }
}

function compareKeyword(keyword: string, { left, right, at }: Pair, comparison: Comparison): void {
  const one = meaning(keyword, left[keyword]);
  const other = meaning(keyword, right[keyword]);
  if (isObject(one) && isObject(other)) {
    compare({ left: one, right: other, at: `${at}/*` }, comparison);
  } else if (isListOfSchemas(one) && isListOfSchemas(other) && one.length === other.length) {
    one.forEach((schema, i) => {
      compare({ left: schema, right: other[i] as Schema, at: `${at}(${i})` }, comparison);
    });
  } else if (JSON.stringify(one) !== JSON.stringify(other)) {
    comparison.found.push(`${at}: ${keyword} ${JSON.stringify(one)} against ${JSON.stringify(other)}`);
  }
}

/** Saying that an object is open is the same as not saying it, and sets have no order. */
function meaning(keyword: string, value: unknown): unknown {
  if (keyword === "additionalProperties" && value === true) return undefined;
  return ["required", "type", "enum"].includes(keyword) && Array.isArray(value)
    ? value.map(String).toSorted((a, b) => (a < b ? -1 : 1))
    : value;
}

function isListOfSchemas(value: unknown): value is Schema[] {
  return Array.isArray(value) && value.every((item) => isObject(item));
}
