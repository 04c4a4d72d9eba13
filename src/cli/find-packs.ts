// Arguments of a command to pack files: names, folders, globs, standard input.

import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { CONFIG_NAME } from "./config.ts";
import { usageError } from "./exit.ts";

const SKIPPED = new Set(["node_modules", "dist", "coverage"]);
const ENDING = /\.(json|ya?ml)$/i;
const NAMED = /(^|[.-])(prompt)?pack\.(json|ya?ml)$/i;
/** Folders below one given. */
const DEPTH_MAX = 20;

/**
 * In the order given, folders and globs sorted; a file named twice is checked once. `-` is standard input.
 */
export function findPacks(args: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const arg of args.length === 0 ? ["."] : args) for (const file of expand(arg)) found.add(file);
  return [...found];
}

function expand(arg: string): readonly string[] {
  if (arg === "-") return [arg];
  if (existsSync(arg)) {
    if (!statSync(arg).isDirectory()) return [arg];
    const inside = packsIn(arg, 0);
    if (inside.length === 0) throw usageError(`no pack found in \`${arg}\` (name a file, or *.pack.yaml)`);
    return inside;
  }
  if (!/[*?[{]/.test(arg)) return [arg];
  const matches = globSync(arg, { exclude: (name) => SKIPPED.has(name) })
    .filter((file) => ENDING.test(file) && statSync(file).isFile())
    .sort();
  if (matches.length === 0) throw usageError(`no file matches \`${arg}\``);
  return matches;
}

function packsIn(folder: string, depth: number): string[] {
  const found: string[] = [];
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = folder === "." ? entry.name : join(folder, entry.name);
    if (entry.isDirectory()) {
      const hidden = entry.name.startsWith(".") || SKIPPED.has(entry.name);
      if (!hidden && depth < DEPTH_MAX) found.push(...packsIn(path, depth + 1));
    } else if (
      entry.name !== CONFIG_NAME &&
      ENDING.test(entry.name) &&
      (NAMED.test(entry.name) || looksLikePack(path))
    ) {
      found.push(path);
    }
  }
  return found;
}

/** A folder holds other YAML and JSON, too: a pack has prompts and says how its templates are written. */
function looksLikePack(path: string): boolean {
  if (statSync(path).size > 5_000_000) return false;
  const text = readFileSync(path, "utf8");
  return /["']?template_engine["']?\s*:/.test(text) && /["']?prompts["']?\s*:/.test(text);
}
