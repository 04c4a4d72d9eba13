// Bytes from disk or standard input to text, with the limits a pack file has.

import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import type { Finding } from "../pack/diagnostic.ts";
import { limitFinding, limits, syntaxFinding } from "../pack/read/limits.ts";
import { ExitError, exits, usageError } from "./exit.ts";

export type ReadText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly finding: Finding; readonly text: string };

/** The text of a file, or a finding when it is too large or no UTF-8. Throws when it cannot be opened. */
export function readPackText(file: string): ReadText {
  const { size, regular } = openable(file);
  if (!regular) return decode(readStream(file));
  if (size > limits.sizeBytes) {
    const message = `file is ${Math.ceil(size / 1_000_000)} MB`;
    const why = `the limit is ${limits.sizeBytes / 1_000_000} MB`;
    const finding = limitFinding(message, why, "move bulk text out of the pack, or split it", {
      start: 0,
      end: 0,
    });
    return { ok: false, finding, text: "" };
  }
  return decode(readFileSync(file));
}

export function readStdin(): ReadText {
  return decode(readBounded(0));
}

/** A pipe or a device says nothing about its size, and may have no end. */
function readStream(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    return readBounded(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** No more than it takes to know that it is too much. */
function readBounded(descriptor: number): Buffer {
  const chunks: Buffer[] = [];
  const buffer = Buffer.alloc(65_536);
  let total = 0;
  for (;;) {
    const count = readChunk(descriptor, buffer);
    if (count === 0) break;
    chunks.push(Buffer.from(buffer.subarray(0, count)));
    total += count;
    if (total > limits.sizeBytes) break;
  }
  return Buffer.concat(chunks);
}

function readChunk(descriptor: number, buffer: Buffer): number {
  for (;;) {
    try {
      return readSync(descriptor, buffer, 0, buffer.length, null);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function openable(file: string): { readonly size: number; readonly regular: boolean } {
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) throw usageError(`\`${file}\` is a folder, expected a file`);
    return { size: stats.size, regular: stats.isFile() };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    throw new ExitError(`cannot open \`${file}\` (${reasonOf(error)})`, exits.usage);
  }
}

/** Why a file could not be opened or written, in words where the reason is a common one. */
export function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "no such file";
  if (code === "EACCES") return "no permission";
  if (code === "EISDIR") return "it is a folder";
  if (code === "ENOTDIR") return "a part of the path is not a folder";
  return code ?? String(error);
}

function decode(bytes: Buffer): ReadText {
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const at = Math.max(0, text.indexOf("\ufffd"));
    const utf16 =
      bytes.length > 1 &&
      ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff));
    const why = utf16 ? "it begins like UTF-16" : "a byte here belongs to no character";
    const finding = syntaxFinding("the file is not UTF-8 text", why, "save it as UTF-8", {
      start: at,
      end: at + 1,
    });
    return { ok: false, finding, text };
  }
}
