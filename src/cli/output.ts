// Data goes to stdout, everything else to stderr. Colour only where a person looks.

import { writeSync } from "node:fs";
import { visibleLines } from "../base/screen-text.ts";
import { ExitError, exits } from "./exit.ts";

/** Data. Written at once, so that nothing is lost when the process leaves. */
export function write(text: string): void {
  writeAll(1, text);
}

const reader = { isGone: false, isNeeded: true };

/** From here on the work of the command matters also to others: it goes on when nobody reads its output. */
export function outliveReader(): void {
  reader.isNeeded = false;
}

/** Data with words of models, tools or people in it: on a terminal none of them may steer the screen. */
export function writeText(text: string): void {
  write(process.stdout.isTTY ? visibleLines(text) : text);
}

/** Progress, remarks and errors. */
export function note(text: string): void {
  writeAll(2, text.endsWith("\n") ? text : `${text}\n`);
}

/** A remark with such words in it. */
export function noteText(text: string): void {
  note(process.stderr.isTTY ? visibleLines(text) : text);
}

/** For who draws on the terminal. */
export function noteRaw(text: string): void {
  writeAll(2, text);
}

export type ColorChoice = "auto" | "always" | "never";

/** The flag wins, then FORCE_COLOR and NO_COLOR, then whether `stream` is a terminal that knows colour. */
export function useColor(choice: ColorChoice, stream: NodeJS.WriteStream = process.stdout): boolean {
  if (choice !== "auto") return choice === "always";
  const { FORCE_COLOR: force, NO_COLOR: none, TERM: term } = process.env;
  if (force !== undefined && force !== "" && force !== "0") return true;
  if (none !== undefined && none !== "") return false;
  return stream.isTTY && term !== "dumb";
}

function writeAll(fd: 1 | 2, text: string): void {
  if (fd === 1 && reader.isGone) return;
  const bytes = Buffer.from(text, "utf8");
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Where remarks cannot be written there is nobody to tell, and they are not what the command is for.
      if (code !== "EAGAIN" && fd === 2) return;
      // The reader went away (`packloop check | head`): what it wanted, it has.
      if (code === "EPIPE" && reader.isNeeded) process.exit(0);
      if (code === "EPIPE") {
        reader.isGone = true;
        return;
      }
      if (code !== "EAGAIN") throw unwritable(code);
      // A pipe that is full for the moment; try again.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

const unwritable = (code = "unknown reason"): ExitError =>
  new ExitError(`cannot write to standard output (${code})`, exits.defect);
