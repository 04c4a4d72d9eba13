// What a run is started with, from flags and files: variables, scripts, values given with @FILE.

import { readFileSync } from "node:fs";
import { readScript, type Script } from "../../adapter/script/read-script.ts";
import { isObject, type Json, type JsonObject, put, toPointer } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import type { Program } from "../../core/program.ts";
import { whereToStart } from "../../core/start.ts";
import { resolveVariables } from "../../core/variables.ts";
import { LineIndex } from "../../pack/read/line-index.ts";
import { parseYaml } from "../../pack/read/parse-yaml.ts";
import { entryAt, type Node, nodeAt, toJson } from "../../pack/read/tree.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { note } from "../output.ts";
import { readPackText, readStdin, reasonOf } from "../read-file.ts";
import { refusalError } from "./refusal-error.ts";
import type { StartPlace } from "./start-place.ts";

/** A YAML or JSON file as a value, with the tree for positions. */
function readValueFile(file: string): { value: Json; root: Node | undefined; text: string } {
  const read = file === "-" ? readStdin() : readPackText(file);
  const lines = new LineIndex(read.text);
  const name = file === "-" ? "stdin" : file;
  if (!read.ok) throw usageError(`${name}: ${read.finding.message}`);
  const { documents, findings } = parseYaml(read.text);
  const [problem] = findings;
  if (problem !== undefined) {
    const { line, column } = lines.position(problem.span.start);
    throw usageError(`${name}:${line}:${column}: ${problem.message}; ${problem.help}`);
  }
  const [root] = documents;
  return { value: root === undefined ? null : toJson(root), root, text: read.text };
}

export interface LoadedScript {
  readonly script: Script;
  /** As it is remembered with the run. */
  readonly value: JsonObject;
}

export function loadScript(file: string): LoadedScript {
  const { value, root, text } = readValueFile(file);
  const { script, problems } = readScript(value);
  if (problems.length === 0 && isObject(value)) return { script, value };
  const lines = new LineIndex(text);
  const messages = problems.map(({ path, message }) => {
    const span = root === undefined ? undefined : (entryAt(root, path)?.keySpan ?? nodeAt(root, path)?.span);
    const { line, column } = lines.position(span?.start ?? 0);
    return `${file}:${line}:${column}: ${message}${path.length === 0 ? "" : ` (at ${toPointer(path)})`}`;
  });
  throw new ExitError(messages.join("\nerror: "), exits.usage);
}

/** `k=v` pairs; a value `@file` is the file's text. */
export function keyValues(pairs: readonly string[], flag: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw usageError(`${flag} expects NAME=VALUE, got \`${pair}\``);
    const value = pair.slice(at + 1);
    put(values, pair.slice(0, at), value.startsWith("@") ? fileText(value.slice(1)) : value);
  }
  return values;
}

/** Texts from the command line are converted by the declared types; they win over the file. */
export function startVariables(
  program: Program,
  flags: { readonly var: readonly string[]; readonly varsFile?: string },
  place: StartPlace,
): JsonObject {
  const file: Json = flags.varsFile === undefined ? {} : (readValueFile(flags.varsFile).value ?? {});
  if (!isObject(file)) throw usageError(`\`${flags.varsFile ?? ""}\` is not a mapping of variables`);
  const texts = keyValues(flags.var, "--var");
  const where = whereToStart(program, place);
  if ("code" in where) throw refusalError(where);
  warnOfUnused(program, Object.keys(texts));
  const bound = (source: string, field: string) => (source === "env" ? process.env[field] : undefined);
  return resolveVariables(program, where, { values: file, texts, bound }).values;
}

/**
 * A name that nothing in the pack has: most likely mistyped. Templates may use names that no prompt declares,
 * so it is looked for everywhere.
 */
function warnOfUnused(program: Program, given: readonly string[]): void {
  const text = JSON.stringify(program);
  const declared = Object.values(program.prompts).flatMap(({ variables }) => variables);
  for (const name of given) {
    if (text.includes(name)) continue;
    const meant = suggest(name, new Set(declared.map((variable) => variable.name)));
    const hint = meant === undefined ? "see packloop render" : `did you mean \`${meant}\`?`;
    note(`warning: nothing in the pack uses the variable \`${name}\` (${hint})`);
  }
}

/** JSON where it is JSON, else text: for artifacts and results given on a command line. */
export function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function fileText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw usageError(`cannot open \`${file}\` (${reasonOf(error)})`);
  }
}
