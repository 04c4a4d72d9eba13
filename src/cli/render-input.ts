// The values a person gives on a command line: --var, --vars-file, --artifact. Every mistake is found before
// anything is said about it.

import { isObject, type Json, type JsonObject, jsonIn, put } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import type { ArtifactSpec, Program } from "../core/program.ts";
import type { Finding } from "../pack/diagnostic.ts";
import { LineIndex } from "../pack/read/line-index.ts";
import { parseJson } from "../pack/read/parse-json.ts";
import { parseYaml } from "../pack/read/parse-yaml.ts";
import { type Node, toJson } from "../pack/read/tree.ts";
import { usageError } from "./exit.ts";
import { readPackText, readStdin } from "./read-file.ts";

/** S37. */
const ARTIFACT_BYTES_MAX = 65_536;

/** `name=value`; the value may hold further `=`. */
function splitPair(pair: string, flag: string): readonly [name: string, value: string] {
  const at = pair.indexOf("=");
  if (at < 1) throw usageError(`\`${flag} ${pair}\` names no value (write ${flag} NAME=VALUE)`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** Later pairs win. */
export function textsOf(pairs: readonly string[], flag: string): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const pair of pairs) put(texts, ...splitPair(pair, flag));
  return texts;
}

/** A mapping of names to values in YAML or JSON; `-` is standard input. */
export function readVarsFile(file: string): JsonObject {
  const text = readText(file);
  const parsed = parseValues(text, file);
  if ("finding" in parsed) {
    const { line, column } = new LineIndex(text).position(parsed.finding.span.start);
    throw usageError(`${file}:${line}:${column}: ${parsed.finding.message}; ${parsed.finding.help}`);
  }
  const value = parsed.root === undefined ? {} : toJson(parsed.root);
  if (!isObject(value)) throw usageError(`\`${file}\` is no mapping of variables (write NAME: VALUE lines)`);
  return value;
}

type Parsed = { readonly root: Node | undefined } | { readonly finding: Finding };

function parseValues(text: string, file: string): Parsed {
  if (/\.json$/i.test(file)) {
    const parsed = parseJson(text);
    return parsed.ok ? { root: parsed.root } : { finding: parsed.finding };
  }
  const { documents, findings } = parseYaml(text);
  return findings[0] === undefined ? { root: documents[0] } : { finding: findings[0] };
}

function readText(file: string): string {
  const read = file === "-" ? readStdin() : readPackText(file);
  if (!read.ok) throw usageError(`\`${file}\`: ${read.finding.message} (${read.finding.help})`);
  return read.text;
}

/**
 * The artifacts' values after these writes, by the rules of S33 and S34: a JSON type is parsed, an `append`
 * artifact that is given twice has both. `state` is whose definitions come first.
 */
export function artifactsOf(
  program: Program,
  state: string | null,
  pairs: readonly string[],
): Readonly<Record<string, Json>> {
  const values: Record<string, Json> = {};
  const problems: string[] = [];
  for (const pair of pairs) {
    const [name, given] = splitPair(pair, "--artifact");
    const spec = specOf(program, state, name);
    if (spec === undefined) {
      problems.push(undeclared(program, name));
      continue;
    }
    const text = given.startsWith("@") ? readText(given.slice(1)) : given;
    const value = isJsonType(spec.type) ? jsonIn(text) : text;
    if (value === undefined) problems.push(`artifact \`${name}\` is ${spec.type}, and its value is no JSON`);
    else put(values, name, written(Object.hasOwn(values, name) ? values[name] : undefined, value, spec));
  }
  for (const [name, value] of Object.entries(values)) {
    const size = Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
    if (size > ARTIFACT_BYTES_MAX) {
      problems.push(`artifact \`${name}\` has ${size} bytes, over the limit of ${ARTIFACT_BYTES_MAX}`);
    }
  }
  if (problems.length > 0) throw usageError(problemList(problems));
  return values;
}

function specOf({ workflow }: Program, state: string | null, name: string): ArtifactSpec | undefined {
  if (workflow === null) return undefined;
  const own =
    state !== null && Object.hasOwn(workflow.states, state) ? workflow.states[state]?.artifacts : undefined;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name];
  return Object.hasOwn(workflow.artifacts, name) ? workflow.artifacts[name] : undefined;
}

function undeclared({ workflow }: Program, name: string): string {
  const known = Object.keys(workflow?.artifacts ?? {});
  if (known.length === 0) return `artifact \`${name}\` cannot be given: the pack declares none`;
  const meant = suggest(name, known);
  const hint = meant === undefined ? `the pack has ${known.join(", ")}` : `did you mean \`${meant}\`?`;
  return `no state declares artifact \`${name}\` (${hint})`;
}

const isJsonType = (type: string): boolean => /^application\/json\b|\+json\b/i.test(type);

function written(before: Json | undefined, value: Json, { mode, type }: ArtifactSpec): Json {
  if (mode === "replace") return value;
  if (!isJsonType(type)) return before === undefined ? value : `${String(before)}\n${String(value)}`;
  const list = Array.isArray(before) ? (before as readonly Json[]) : [];
  return [...list, ...(Array.isArray(value) ? (value as readonly Json[]) : [value])];
}

/** One problem is a sentence, several are a list. */
export function problemList(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0] as string;
  const lines = problems.map((problem) => `\n  - ${problem}`);
  return `${problems.length} values cannot be used${lines.join("")}`;
}
