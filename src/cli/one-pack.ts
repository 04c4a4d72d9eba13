// The pack of a command that takes one. It may be left out in a folder that holds exactly one.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "./exit.ts";
import { findPacks } from "./find-packs.ts";

const NAMES_SHOWN = 5;

export function onePack(arg: string | undefined): string {
  const folder = arg ?? ".";
  if (folder === "-" || !existsSync(folder) || !statSync(folder).isDirectory()) return folder;
  const found = findPacks([folder]);
  if (found.length === 1) return found[0] as string;
  const names = found.slice(0, NAMES_SHOWN).map((name) => `\`${name}\``);
  const more = found.length > NAMES_SHOWN ? ", …" : "";
  throw usageError(`\`${folder}\` holds ${found.length} packs (name one: ${names.join(", ")}${more})`);
}

/** What settings are looked for beside: a pack, or any name in a folder. */
export function settingsPlace(arg: string | undefined): string {
  const place = arg ?? ".";
  if (!existsSync(place)) throw usageError(`there is no \`${place}\` (name a pack or a folder)`);
  return statSync(place).isDirectory() ? join(place, "pack") : place;
}

/** With one argument, it is the pack when it looks like a file, else the name after it. */
export function packAndName(first: string | undefined, second: string | undefined): PackAndName {
  const isFile = first === undefined || first === "-" || /\.(json|ya?ml)$/i.test(first) || existsSync(first);
  if (second !== undefined || isFile) return { pack: onePack(first), name: second };
  return { pack: onePack(undefined), name: first };
}

interface PackAndName {
  readonly pack: string;
  readonly name: string | undefined;
}
