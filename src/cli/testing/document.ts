// A YAML or JSON file that tests are read from: its value, and where everything in it stands.

import type { OptionProblem } from "../../adapter/tool/option-reader.ts";
import { isObject, type JsonObject, type Path } from "../../base/json.ts";
import { LineIndex } from "../../pack/read/line-index.ts";
import { parseYaml } from "../../pack/read/parse-yaml.ts";
import { entryAt, type Node, nodeAt, toJson } from "../../pack/read/tree.ts";
import { ExitError } from "../exit.ts";
import { readPackText } from "../read-file.ts";

export interface Document {
  readonly file: string;
  readonly value: JsonObject;
  /** `FILE:LINE:COLUMN` of what a path leads to, or of the innermost thing around it that is there. */
  readonly place: (path: Path) => string;
}

/** Mistakes of all files, each a line with its place. */
export class Mistakes {
  readonly lines: string[] = [];

  add(line: string): void {
    this.lines.push(line);
  }

  of({ place }: Pick<Document, "place">, problems: readonly OptionProblem[]): void {
    for (const { path, message } of problems) this.add(`${place(path)}: ${message}`);
  }
}

/** Undefined when the file cannot be used; `mistakes` then says why, with the place that names the file. */
export function readDocument(file: string, mistakes: Mistakes, from?: string): Document | undefined {
  const text = textOf(file, mistakes, from);
  if (text === undefined) return undefined;
  const lines = new LineIndex(text);
  const placeAt = (offset: number) => {
    const { line, column } = lines.position(offset);
    return `${file}:${line}:${column}`;
  };
  const { documents, findings } = parseYaml(text);
  const [problem] = findings;
  if (problem !== undefined) {
    mistakes.add(`${placeAt(problem.span.start)}: ${problem.message}; ${problem.help}`);
    return undefined;
  }
  const [root] = documents;
  const value = root === undefined ? null : toJson(root);
  if (root === undefined || !isObject(value)) {
    mistakes.add(`${placeAt(0)}: expected a mapping`);
    return undefined;
  }
  for (const { key, offset } of repeatedKeys(root))
    mistakes.add(`${placeAt(offset)}: key \`${key}\` is there twice (keep one of them)`);
  return { file, value, place: (path) => placeAt(nearest(root, path)) };
}

function textOf(file: string, mistakes: Mistakes, from: string | undefined): string | undefined {
  try {
    const read = readPackText(file);
    if (read.ok) return read.text;
    mistakes.add(`${file}: ${read.finding.message}`);
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    mistakes.add(from === undefined ? error.message : `${from}: ${error.message}`);
  }
  return undefined;
}

function nearest(root: Node, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length);
    const span = entryAt(root, part)?.keySpan ?? nodeAt(root, part)?.span;
    if (span !== undefined) return span.start;
  }
  return root.span.start;
}

/** The value keeps the first of two, so the second would be passed over in silence. */
function* repeatedKeys(node: Node): Generator<{ readonly key: string; readonly offset: number }> {
  if (node.kind === "list") for (const item of node.items) yield* repeatedKeys(item);
  if (node.kind !== "map") return;
  const seen = new Set<string>();
  for (const { key, keySpan, value } of node.entries) {
    if (seen.has(key)) yield { key, offset: keySpan.start };
    seen.add(key);
    yield* repeatedKeys(value);
  }
}
