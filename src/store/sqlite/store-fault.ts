// Turns what SQLite and the disk say into faults with our codes. Codes are matched, never texts.

import { Defect } from "../../base/assert.ts";
import { Fault } from "../../engine/ports.ts";
import { corrupt, decoded as decodedText } from "../journal/damage.ts";

/** An error as it crosses from the commit thread: a fault by its code, a defect without one. */
export interface ErrorText {
  readonly code: string | undefined;
  readonly message: string;
  readonly retry: Fault["retry"];
}

export function errorText(error: unknown): ErrorText {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof Fault
    ? { code: error.code, message, retry: error.retry }
    : { code: undefined, message, retry: "never" };
}

export const errorOf = ({ code, message, retry }: ErrorText): Error =>
  code === undefined ? new Defect(message) : new Fault(code, message, { retry });

/** Our statements are right, so one that cannot be understood has met damaged definitions of tables. */
const NOT_UNDERSTOOD = 1;
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const CORRUPT = 11;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;
/**
 * Permission, memory, read-only, input and output, full, cannot open, protocol of the lock, too big a file.
 */
const UNAVAILABLE: ReadonlySet<number> = new Set([3, 7, 8, 10, 13, 14, 15, 22]);

/** Primary result code of SQLite, or undefined when the error is not its. */
function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

export const isBusy = (error: unknown): boolean => [BUSY, LOCKED].includes(sqliteCode(error) ?? 0);

/** After such an error nothing may be acknowledged until the file is opened again. */
export const isFatal = (error: unknown): boolean =>
  UNAVAILABLE.has(sqliteCode(error) ?? 0) || sqliteCode(error) === CORRUPT;

/** A fault because a file may only be read, or cannot be made. */
export const isUnwritable = (fault: unknown): boolean =>
  fault instanceof Fault && [READ_ONLY, CANNOT_OPEN].includes(sqliteCode(fault.cause) ?? 0);

/** An error of the operating system as Node reports it, in whatever words. */
export const isOfDisk = (error: unknown): boolean =>
  sqliteCode(error) === undefined && typeof (error as { errno?: unknown } | null)?.errno === "number";

/** The fault for an error; a defect of ours stays what it is. */
export function faultOf(error: unknown, path: string): Error {
  if (error instanceof Fault || error instanceof Defect) return error;
  const code = sqliteCode(error);
  const said = error instanceof Error ? error.message : String(error);
  if (code === CORRUPT || code === NOT_UNDERSTOOD || isOutOfRange(error)) return corrupt(path, said, error);
  if (code === NOT_A_DATABASE) return foreign(path, error);
  if (isBusy(error)) {
    const message = `the store \`${path}\` is held by another program, which did not let go in time: ${said}`;
    return new Fault("store-unavailable", message, { retry: "later", cause: error });
  }
  if ((code !== undefined && UNAVAILABLE.has(code)) || isOfDisk(error)) {
    const message = `the store \`${path}\` cannot be used: ${said}; see to the disk and its permissions, then open it again`;
    return new Fault("store-unavailable", message, { retry: "later", cause: error });
  }
  return error instanceof Error ? error : new Error(said);
}

/** A damaged integer may be too large for a number, which Node reports in its own way. */
const isOutOfRange = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "ERR_OUT_OF_RANGE";

/** What cannot be decoded is damaged. Errors of SQLite pass: they are judged by their codes. */
export const decoded = <T>(what: string | (() => string), decode: () => T): T =>
  decodedText(what, decode, (error) => sqliteCode(error) !== undefined);

/** Nobody's, so nobody is warned off it: the first run makes a store of it. */
export function empty(path: string): Fault {
  const message = `there are no runs here (\`${path}\` is empty: its first run was never stored)`;
  return new Fault("store-empty", message, { retry: "never" });
}

export function foreign(path: string, cause?: unknown): Fault {
  const message = `\`${path}\` is not a packloop store; name another file, nothing was written to this one`;
  return new Fault("store-foreign", message, { retry: "never", cause });
}
