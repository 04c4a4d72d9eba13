// Arguments of `packloop test` to files: names, folders, globs.

import { existsSync, globSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "../exit.ts";

const NAMED = /\.tests?\.(ya?ml|json)$/i;
const SKIPPED = new Set(["node_modules", "dist", "coverage"]);
/** Folders below one given. */
const DEPTH_MAX = 20;

/** In the order given, folders and globs sorted; a file named twice is read once. */
export function findTests(args: readonly string[]): readonly string[] {
  return [...new Set((args.length === 0 ? ["."] : args).flatMap(expand))];
}

function expand(arg: string): readonly string[] {
  if (existsSync(arg)) {
    if (!statSync(arg).isDirectory()) return [arg];
    const found = testsIn(arg, 0);
    if (found.length === 0) throw usageError(`no test found in \`${arg}\` (tests are in files *.test.yaml)`);
    return found;
  }
  if (!/[*?[{]/.test(arg)) return [arg];
  const matches = globSync(arg, { exclude: (name) => SKIPPED.has(name) })
    .filter((file) => statSync(file).isFile())
    .sort();
  if (matches.length === 0) throw usageError(`no file matches \`${arg}\``);
  return matches;
}

function testsIn(folder: string, depth: number): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = folder === "." ? entry.name : join(folder, entry.name);
    if (!entry.isDirectory()) return NAMED.test(entry.name) ? [path] : [];
    const hidden = entry.name.startsWith(".") || SKIPPED.has(entry.name);
    return hidden || depth >= DEPTH_MAX ? [] : testsIn(path, depth + 1);
  });
}
