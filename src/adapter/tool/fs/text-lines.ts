// The lines of a text file, a bounded piece of it in memory at a time.

import type { FileHandle } from "node:fs/promises";
import { ToolProblem } from "../tool-problem.ts";

export interface TextLine {
  readonly text: string;
  /** Bytes left out of a line that is longer than `LINE_MAX`. */
  readonly cut: number;
  /** False for a last line without a line end. */
  readonly ended: boolean;
}

const CHUNK = 64 * 1024;
/** More of one line is of no use to anybody. */
const LINE_MAX = 256 * 1024;
const NEWLINE = 10;

export async function* textLines(file: FileHandle, signal: AbortSignal): AsyncGenerator<TextLine> {
  const chunk = Buffer.alloc(CHUNK);
  let pieces: Buffer[] = [];
  let size = 0;
  let cut = 0;
  const keep = (bytes: Buffer): void => {
    const kept = bytes.subarray(0, LINE_MAX - size);
    if (kept.length > 0) pieces.push(Buffer.from(kept));
    size += kept.length;
    cut += bytes.length - kept.length;
  };
  const take = (ended: boolean): TextLine => {
    const line = { text: Buffer.concat(pieces).toString("utf8"), cut, ended };
    [pieces, size, cut] = [[], 0, 0];
    return line;
  };
  for (let position = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
    if (position === 0) refuseBinary(bytes);
    position += bytesRead;
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      keep(bytes.subarray(from, end));
      yield take(true);
      from = end + 1;
    }
    keep(bytes.subarray(from));
  }
  if (size > 0) yield take(false);
}

/** A zero byte near the start is what tells other tools, too, that a file is no text. */
export function refuseBinary(bytes: Buffer): void {
  if (bytes.subarray(0, 8192).includes(0)) throw new ToolProblem("not_text", "the file is not a text");
}
