// The sources as the tidy test sees them: text, lines, imports, exports, functions.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly lines: readonly string[];
  readonly imports: readonly Import[];
  /** Names exported, with the line of each. */
  readonly exports: readonly Export[];
}

interface Export {
  readonly name: string;
  readonly line: number;
  readonly isType: boolean;
}

interface Import {
  readonly line: number;
  /** Repository path of the imported file, or the package's name. */
  readonly target: string;
  readonly local: boolean;
  readonly typeOnly: boolean;
  /** Loaded on demand: no cycle at start-up. */
  readonly dynamic: boolean;
  readonly names: readonly string[];
}

export function sourceFiles(...folders: readonly string[]): readonly SourceFile[] {
  return folders.flatMap((folder) => walk(join(root, folder))).map(readSource);
}

function walk(folder: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (
      entry.isDirectory() &&
      entry.name !== "generated" &&
      entry.name !== "node_modules" &&
      entry.name !== "peers"
    ) {
      found.push(...walk(path));
    } else if (/\.tsx?$/.test(entry.name)) found.push(path);
  }
  return found.sort();
}

function readSource(path: string): SourceFile {
  const text = readFileSync(path, "utf8");
  return {
    path: relative(root, path).replaceAll("\\", "/"),
    lines: text.split("\n"),
    imports: importsOf(text, path),
    exports: exportsOf(text),
  };
}

const STATIC = /^(import|export)\s+(type\s+)?([^;"']*?)\s*from\s+"([^"]+)"|^import\s+"([^"]+)"/gm;
const DYNAMIC = /\bimport\("([^"]+)"\)\)?(?:\.(\w+))?/g;

function importsOf(text: string, path: string): Import[] {
  const imports: Import[] = [];
  for (const match of text.matchAll(STATIC)) {
    const names = [...(match[3] ?? "").matchAll(/[\w$]+/g)]
      .map(([name]) => name)
      .filter((name) => name !== "type");
    const typeOnly = match[2] !== undefined || allTypes(match[3] ?? "");
    imports.push({
      ...locate(text, path, match, match[4] ?? match[5] ?? ""),
      typeOnly,
      dynamic: false,
      names,
    });
  }
  for (const match of text.matchAll(DYNAMIC)) {
    const names = match[2] === undefined ? [] : [match[2]];
    imports.push({ ...locate(text, path, match, match[1] as string), typeOnly: false, dynamic: true, names });
  }
  return imports;
}

const allTypes = (clause: string): boolean => {
  const names = /\{([^}]*)\}/
    .exec(clause)?.[1]
    ?.split(",")
    .filter((name) => name.trim() !== "");
  return names !== undefined && names.length > 0 && names.every((name) => /^\s*type\s/.test(name));
};

function locate(text: string, path: string, match: RegExpMatchArray, specifier: string) {
  const line = text.slice(0, match.index).split("\n").length;
  const local = specifier.startsWith(".");
  const target = local ? relative(root, resolve(dirname(path), specifier)).replaceAll("\\", "/") : specifier;
  return { line, target, local };
}

function exportsOf(text: string): Export[] {
  const found: Export[] = [];
  const pattern =
    /^export\s+(?:abstract\s+|async\s+)?(function\*?|const|let|class|interface|type|enum)\s+([\w$]+)/gm;
  for (const match of text.matchAll(pattern)) {
    const isType = match[1] === "interface" || match[1] === "type";
    found.push({ name: match[2] as string, line: text.slice(0, match.index).split("\n").length, isType });
  }
  return found;
}
