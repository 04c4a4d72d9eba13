// Writes a template into a folder. Nothing that is there is touched unless it was said so; all names in the
// way are told at once, before anything is written.

import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../../engine/make-folder.ts";
import { usageError } from "../exit.ts";
import { reasonOf } from "../read-file.ts";
import { makeRepository } from "./sample-repository.ts";
import { filesOf, folderOf, type Template } from "./template-list.ts";

export interface Written {
  readonly files: readonly string[];
  /** What could not be made, and what to do about it. */
  readonly warnings: readonly string[];
}

export interface WriteOptions {
  readonly folder: string;
  readonly force: boolean;
}

/** Runs are no part of the project. The file is not in the template: npm would take it for its own. */
const IGNORED = ".packloop/\n";

const NAMES_SHOWN = 8;

export async function writeTemplate(template: Template, { folder, force }: WriteOptions): Promise<Written> {
  const texts = textsOf(template);
  const { database, repository } = template;
  const made = [...texts.keys(), ...(database === undefined ? [] : [database.file])];
  if (!force) refuseOverwriting(folder, made);
  try {
    for (const [file, bytes] of texts) writeFile(join(folder, file), bytes);
    if (database !== undefined) await makeDatabase(folder, database);
  } catch (error) {
    throw usageError(`cannot write to \`${folder}\` (${reasonOf(error)})`);
  }
  const warning = repository === undefined ? undefined : makeRepository(join(folder, repository));
  return { files: made.toSorted(), warnings: warning === undefined ? [] : [warning] };
}

function textsOf(template: Template): ReadonlyMap<string, Buffer> {
  const root = folderOf(template.name);
  const texts = new Map(filesOf(template).map((file) => [file, readFileSync(join(root, file))]));
  return texts.set(".gitignore", Buffer.from(IGNORED));
}

function refuseOverwriting(folder: string, files: readonly string[]): void {
  const known = entryAt(folder);
  if (known === undefined) return;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usageError(`\`${folder}\` is a file (name a folder)`);
  const taken = files.filter((file) => entryAt(join(folder, file)) !== undefined);
  if (taken.length === 0) return;
  const shown = taken.slice(0, NAMES_SHOWN).map((file) => `\`${join(folder, file)}\``);
  const more = taken.length > NAMES_SHOWN ? ` and ${taken.length - NAMES_SHOWN} more` : "";
  throw usageError(
    `${shown.join(", ")}${more} would be overwritten (name another folder, or give --force); nothing was written`,
  );
}

/** A link counts as something there, wherever it leads. */
function entryAt(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

function writeFile(path: string, bytes: Buffer): void {
  makeFolder(dirname(path));
  // A link in the way is replaced, not written through.
  rmSync(path, { force: true });
  writeFileSync(path, bytes, { flag: "wx" });
}

async function makeDatabase(
  folder: string,
  { from, file }: NonNullable<Template["database"]>,
): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const path = join(folder, file);
  rmSync(path, { force: true });
  using db = new DatabaseSync(path);
  db.exec(readFileSync(join(folder, from), "utf8"));
}
