// Schemas that a pack's compositions name: files in the folder of the pack, and nowhere else.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import type { SchemaFile } from "../pack/link.ts";

const SIZE_MAX = 1_000_000;

/** For a pack read from standard input the folder is the one the command is run in. */
export function schemaBeside(pack: string): SchemaFile {
  const folder = pack === "-" ? "." : dirname(pack);
  return (path) => schemaIn(folder, path);
}

/** Undefined for whatever is not a JSON Schema inside the folder; a run that needs it is refused by name. */
function schemaIn(folder: string, written: string): JsonObject | undefined {
  const [path = "", pointer = ""] = written.split("#");
  if (isAbsolute(path)) return undefined;
  try {
    // Links are followed first, so that none leads out.
    const file = realpathSync(join(folder, path));
    const inside = relative(realpathSync(folder), file);
    if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return undefined;
    if (statSync(file).size > SIZE_MAX) return undefined;
    const value = JSON.parse(readFileSync(file, "utf8")) as Json;
    return partAt(value, pointer);
  } catch (error) {
    if (error instanceof SyntaxError || isSystemError(error)) return undefined;
    throw error;
  }
}

/** `schemas/all.json#/$defs/order`: a part of a file, with what it may refer to. */
function partAt(whole: Json, pointer: string): JsonObject | undefined {
  const keys = pointer.split("/").slice(1);
  let found: Json | undefined = whole;
  for (const key of keys) found = get(found, key.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (!isObject(found)) return undefined;
  if (keys.length === 0) return found;
  const part: Record<string, Json> = { ...found };
  for (const name of ["$defs", "definitions"]) {
    const shared = get(whole, name);
    if (shared !== undefined) part[name] = shared;
  }
  return part;
}

const isSystemError = (error: unknown): boolean =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).code === "string";
