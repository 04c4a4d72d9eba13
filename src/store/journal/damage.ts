// What is said of stored things that do not fit: their sums, their chain, or the form they were written in.

import { Fault } from "../../engine/ports.ts";

export function corrupt(what: string, why: string, cause?: unknown): Fault {
  const message = `\`${what}\` is damaged: ${why}; \`packloop verify\` names every damaged part`;
  return new Fault("store-corrupt", message, { retry: "never", cause });
}

/** What cannot be decoded is damaged. Errors that the database makes pass, where it can while decoding. */
export function decoded<T>(
  what: string | (() => string),
  decode: () => T,
  isOfDatabase: (error: unknown) => boolean = () => false,
): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof Fault || isOfDatabase(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw corrupt(typeof what === "string" ? what : what(), why, error);
  }
}
