// What a path may say, before anything is opened. Only names below the workspace pass; what the system would
// make of them (links, devices) is the concern of the folder walk.

import { ToolProblem } from "../tool-problem.ts";

const PATH_MAX = 4096;
const NAME_MAX = 255;
const DEPTH_MAX = 100;

/** The names from the workspace down; none for the workspace itself. `root` may stand in front. */
export function namesOf(path: string, root: string): readonly string[] {
  const problem = spellingProblem(path);
  if (problem !== undefined) throw refused(path, problem);
  const names = relativeTo(root, path)
    .split("/")
    .filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw refused(path, "it has `..` in it");
  if (names[0] === "~") throw refused(path, "`~` means nothing here");
  if (names.length > DEPTH_MAX) throw refused(path, `it has more than ${DEPTH_MAX} parts`);
  const long = names.find((name) => Buffer.byteLength(name) > NAME_MAX);
  if (long !== undefined) throw refused(path, `one of its parts has more than ${NAME_MAX} bytes`);
  refuseReserved(names);
  return names;
}

// Control characters, marks that turn the direction of text, and invisible ones: a path that does not look
// like what it is was not meant honestly.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function spellingProblem(path: string): string | undefined {
  if (path.length > PATH_MAX) return `it has more than ${PATH_MAX} characters`;
  if (!path.isWellFormed() || UNSEEN.test(path)) return "it has invisible characters in it";
  if (path.includes("\\")) return "it has a backslash in it, parts are separated by `/`";
  if (/^[a-z][a-z0-9+.-]*:\//i.test(path)) return "it is an address or names a drive";
  if (/^[a-z]:/i.test(path)) return "it names a drive";
  return undefined;
}

function relativeTo(root: string, path: string): string {
  if (!path.startsWith("/")) return path;
  const inside = root.endsWith("/") ? root : `${root}/`;
  if (path === root || path.startsWith(inside)) return path.slice(root.length);
  throw refused(path, "it is absolute");
}

/**
 * Git's own folder decides what programs git starts; packloop's holds the journal of the run. Neither is for
 * the tools of a model, wherever a link leads.
 */
export function refuseReserved(names: readonly string[]): void {
  const reserved = names.find((name, index) => isReserved(name, index));
  if (reserved !== undefined)
    throw new ToolProblem(
      "protected",
      `\`${names.join("/")}\` is not for this tool (\`${reserved}\` is kept)`,
    );
}

export function isReserved(name: string, depth: number): boolean {
  // Some file systems take other spellings for the same name: other case, dots or spaces at the end, short
  // names, characters they ignore.
  const plain = name
    .normalize("NFKC")
    .replace(/[\p{Cf}]/gu, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
  return plain === ".git" || /^git~\d+$/.test(plain) || (depth === 0 && plain === ".packloop");
}

function refused(path: string, why: string): ToolProblem {
  const shown = JSON.stringify(path.slice(0, 200).toWellFormed()).slice(1, -1);
  return new ToolProblem(
    "outside_workspace",
    `\`${shown}\` is refused: ${why} (give a path inside the workspace)`,
  );
}
