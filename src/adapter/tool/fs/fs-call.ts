// What the operations on files get, and how they keep their results small.

import type { Json } from "../../../base/json.ts";
import type { CallContext } from "../../../engine/ports.ts";
import type { CallArguments } from "../call-arguments.ts";
import type { ChangeLog } from "./change-log.ts";

export interface FsLimits {
  readonly resultBytes: number;
  readonly entries: number;
  /** By how much the changes of one run may make its workspace larger. */
  readonly quotaBytes: number;
  /** Names of folders that searches do not enter. */
  readonly skip: ReadonlySet<string>;
  /** Patterns of `grep` are regular expressions unless a call says otherwise. */
  readonly regex: boolean;
}

export interface FsCall {
  readonly args: CallArguments;
  readonly workspace: string;
  readonly context: CallContext;
  readonly limits: FsLimits;
  readonly changes: ChangeLog;
}

export type FsOperation = (call: FsCall) => Promise<Json>;

/** Collects entries of a result until one of its limits is met, and counts the rest. */
export class Entries {
  readonly items: Json[] = [];
  leftOut = 0;
  readonly #most: number;
  #bytes: number;

  constructor({ entries, resultBytes }: FsLimits, most = entries) {
    this.#most = Math.min(entries, most);
    // Room for what stands around the entries.
    this.#bytes = resultBytes - 1024;
  }

  get full(): boolean {
    return this.leftOut > 0;
  }

  add(item: Json): void {
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (this.full || this.items.length >= this.#most || bytes > this.#bytes) this.leftOut++;
    else {
      this.items.push(item);
      this.#bytes -= bytes;
    }
  }
}

/** The end of a text that fits, at the border of a character. */
export function clipped(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const cut = Buffer.from(text).subarray(0, Math.max(0, bytes)).toString("utf8");
  return cut.endsWith("\uFFFD") ? cut.slice(0, -1) : cut;
}
