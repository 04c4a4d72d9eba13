// One file of a configuration: its text to values, with variables filled in and every place remembered.

import { readFileSync, statSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { type ParsedFile, variablePlace } from "./places.ts";
import type { Findings } from "./section.ts";
import { substituted } from "./substituted.ts";

export interface YamlFile {
  readonly path: string;
  /** As it is shown to people. */
  readonly name: string;
  readonly env: (name: string) => string | undefined;
}

const FILE_BYTES_MAX = 5_000_000;

/** An empty mapping when it cannot be used; the findings say why. */
export function readYaml({ path, name, env }: YamlFile, findings: Findings): JsonObject {
  const say = (why: string, place = "") => void findings.errors.push(`${place}\`${name}\` ${why}`);
  const text = textOf(path, say);
  if (text === undefined) return {};
  const lines = new LineCounter();
  // Without a schema of its own a document is read by YAML 1.2, where `on` is a text.
  const document = parseDocument(text, { version: "1.2", uniqueKeys: true, lineCounter: lines });
  const [first] = document.errors;
  if (first !== undefined) {
    const { line, col } = first.linePos?.[0] ?? { line: 1, col: 1 };
    const why = first.message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:?$/, "");
    say(`is not YAML: ${why}`, `${name}:${line}:${col}: `);
    return {};
  }
  const file: ParsedFile = { name, document, lines };
  const value = plain(document, say);
  if (value === null) return {};
  const filled = substituted(value, env, (variable) =>
    say(`needs the variable \`${variable}\`, which is not set`, variablePlace(file, variable)),
  );
  findings.places.add(file, filled);
  if (isObject(filled)) return filled;
  say("is not a mapping", findings.places.of(filled));
  return {};
}

function plain(document: ReturnType<typeof parseDocument>, say: (why: string) => void): Json {
  try {
    const value = document.toJS() as Json;
    if (!isEndless(value, new Set())) return value;
    say("cannot be read: an alias leads into what it is part of");
    return null;
  } catch (error) {
    // Aliases that multiply beyond the reader's limit.
    if (!(error instanceof ReferenceError)) throw error;
    say(`cannot be read: ${error.message}`);
    return null;
  }
}

/** What it is inside of is `around` it. */
function isEndless(value: Json, around: Set<Json>): boolean {
  if (value === null || typeof value !== "object") return false;
  if (around.has(value)) return true;
  around.add(value);
  const isFound = Object.values(value).some((one) => isEndless(one, around));
  around.delete(value);
  return isFound;
}

function textOf(path: string, say: (why: string) => void): string | undefined {
  try {
    if (statSync(path).size <= FILE_BYTES_MAX) return readFileSync(path, "utf8");
    say("is too large");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    say(code === "ENOENT" ? "is not there" : `cannot be read (${code ?? "unknown reason"})`);
  }
  return undefined;
}
