// Applies fixes to files: whole files are replaced at once, with their mode kept, or nothing is written.

import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createTwoFilesPatch } from "diff";
import { applyFixes } from "../pack/fix/apply-fixes.ts";
import { selectFindings } from "../pack/select.ts";
import type { Subject } from "./check-files.ts";
import { ExitError, exits } from "./exit.ts";
import { note, write } from "./output.ts";

export interface FixFilesOptions {
  readonly unsafe: boolean;
  /** Print a patch and write nothing. */
  readonly diff: boolean;
}

export interface FixedFiles {
  /** With the new texts, for the check that follows. */
  readonly subjects: readonly Subject[];
  readonly changed: number;
}

export function fixSubjects(subjects: readonly Subject[], options: FixFilesOptions): FixedFiles {
  let changed = 0;
  const fixed = subjects.map((subject): Subject => {
    if (!subject.read.ok) return subject;
    const { text } = subject.read;
    const result = applyFixes(text, {
      ...subject.options,
      unsafe: options.unsafe,
      choose: (findings) => selectFindings(findings, subject.selection),
    });
    if (result.refused !== undefined) {
      throw new ExitError(
        `\`${subject.file}\` was left as it is; ${result.refused} (please report this)`,
        exits.defect,
      );
    }
    if (result.text !== text) changed++;
    if (options.diff) printPatch(subject.file, text, result.text);
    else if (subject.path === "-") write(result.text);
    else if (result.text !== text) replaceFile(subject.path, result.text, result.applied);
    return { ...subject, read: { ok: true, text: result.text } };
  });
  return { subjects: fixed, changed };
}

function printPatch(file: string, before: string, after: string): void {
  if (before === after) return;
  write(createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, "", "").replace(/^=+\n/, ""));
}

/** Written beside the file and renamed over it: a reader sees the old text or the new one. */
function replaceFile(path: string, text: string, applied: number): void {
  const target = realpathSync(path);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: "wx" });
    chmodSync(temporary, statSync(target).mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new ExitError(`cannot write \`${path}\` (${code ?? "unknown reason"})`, exits.usage);
  }
  note(`fixed ${path} (${applied} ${applied === 1 ? "finding" : "findings"})`);
}
