// Skills that a pack names by a path: folders with a SKILL.md, in the folder of the pack and nowhere else.
// What they hold becomes part of the program, so a run keeps the skills it was started with.

import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { parse } from "yaml";
import { get, type Json, put } from "../base/json.ts";
import type { SkillFile } from "../core/program.ts";
import { plainPath } from "../core/skills.ts";
import type { SkillFolder } from "../pack/link.ts";
import { usageError } from "./exit.ts";

const MAIN = "SKILL.md";
const FILE_BYTES_MAX = 256 * 1024;
/** Of one skill, and of skills in one folder. */
const FILES_MAX = 100;
/** Of all skills of a pack: every run of it keeps them. */
const PACK_BYTES_MAX = 8 * 1024 * 1024;

/** For a pack read from standard input the folder is the one the command is run in. */
export function skillsBeside(pack: string): SkillFolder {
  const root = pack === "-" ? "." : dirname(pack);
  // A path may be asked for more than once, and counts once.
  const known = new Map<string, readonly SkillFile[]>();
  let bytes = 0;
  const read: ReadText = (folder, path) => {
    const text = textAt(folder, path);
    bytes += text === undefined ? 0 : Buffer.byteLength(text);
    if (bytes > PACK_BYTES_MAX)
      throw usageError(`the skills of \`${pack}\` have more than 8 MiB of text (name smaller folders)`);
    return text;
  };
  return (path) => {
    const skills = known.get(path) ?? skillsAt({ root, path, read });
    known.set(path, skills);
    return skills.length === 0 ? undefined : skills;
  };
}

/** A text file in a folder, by its path there. */
type ReadText = (folder: string, path: string) => string | undefined;

interface Place {
  readonly root: string;
  readonly path: string;
  readonly read: ReadText;
}

function skillsAt({ root, path, read }: Place): readonly SkillFile[] {
  const folder = isAbsolute(path) ? undefined : inside(root, path);
  if (folder === undefined) return [];
  const own = skillAt(folder, plainPath(path), read);
  return own === undefined ? skillsBelow({ root, path, read }) : [own];
}

function skillsBelow({ root, path, read }: Place): readonly SkillFile[] {
  const names = orNothing(() => readdirSync(join(root, path)).sort()) ?? [];
  return names.slice(0, FILES_MAX).flatMap((name) => {
    const folder = inside(root, join(path, name));
    const place = plainPath(`${plainPath(path)}/${name}`);
    const skill = folder === undefined ? undefined : skillAt(folder, place, read);
    return skill === undefined ? [] : [skill];
  });
}

/** Links are followed first, so that none leads out. */
function inside(root: string, path: string): string | undefined {
  return orNothing(() => {
    const real = realpathSync(join(root, path));
    const way = relative(realpathSync(root), real);
    return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way) ? undefined : real;
  });
}

function skillAt(folder: string, place: string, read: ReadText): SkillFile | undefined {
  const text = read(folder, MAIN);
  if (text === undefined) return undefined;
  const [, front = "", body = text] =
    /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(text) ?? [];
  const head = orNothing(() => parse(front, { maxAliasCount: 0, logLevel: "error" }) as Json) ?? null;
  return {
    folder: place,
    name: textOf(get(head, "name")) ?? basename(folder),
    description: textOf(get(head, "description")) ?? "",
    instructions: body.trim(),
    resources: resourcesOf(folder, read),
  };
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Texts below the folder; what is binary, too large or hidden is not for a model to read. */
function resourcesOf(folder: string, read: ReadText): Readonly<Record<string, string>> {
  const resources: Record<string, string> = {};
  let left = FILES_MAX;
  for (const path of filesBelow(folder)) {
    if (left-- === 0) break;
    const text = read(folder, path);
    if (text !== undefined) put(resources, path, text);
  }
  return resources;
}

/** Links to folders are not followed: they may lead round in a circle, or to everything there is. */
function* filesBelow(folder: string, way = ""): Generator<string, void> {
  const entries = orNothing(() => readdirSync(join(folder, way), { withFileTypes: true })) ?? [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = `${way}${entry.name}`;
    if (entry.name.startsWith(".") || entry.name === "node_modules" || path === MAIN) continue;
    if (entry.isDirectory()) yield* filesBelow(folder, `${path}/`);
    else yield path;
  }
}

function textAt(folder: string, path: string): string | undefined {
  const file = inside(folder, path);
  return orNothing(() => {
    if (file === undefined) return undefined;
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > FILE_BYTES_MAX) return undefined;
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  });
}

/** What cannot be read or is no text is not there; a run that needs it is refused by name. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Of the file system, the decoder or the YAML parser; too many aliases are a ReferenceError there. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof ReferenceError ||
  (error instanceof Error && typeof (error as NodeJS.ErrnoException).code === "string");
