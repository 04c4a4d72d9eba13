// Brings the log of a database to the disk beside the work, and many commits at once: what was committed
// survives the end of the process at once, and the loss of power once this has been through.

import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import { Fault } from "../../engine/ports.ts";

const sync = promisify(fdatasync);

export class DiskSync implements Disposable {
  readonly #path: string;
  #log: number | undefined;
  #wanted = 0;
  #done = 0;
  /** Something was committed that need not last by itself. */
  #hasMore = false;
  /** The round under way. It never rejects: what went wrong is told to those who wait. */
  #round: Promise<void> | undefined;
  #failed: Fault | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Something was committed that must last. */
  want(): void {
    this.#hasMore = false;
    this.#wanted += 1;
    void this.#begin();
  }

  /** Something was committed that is brought along, or when somebody is to be told of it. */
  allow(): void {
    this.#hasMore = true;
  }

  /** Resolves when all that was committed so far is on the disk. */
  async through(): Promise<void> {
    if (this.#hasMore) this.want();
    const target = this.#wanted;
    while (this.#failed === undefined && this.#done < target) await this.#begin();
    if (this.#failed !== undefined) throw this.#failed;
  }

  [Symbol.dispose](): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }

  #begin(): Promise<void> {
    this.#round ??= this.#go().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #go(): Promise<void> {
    const target = this.#wanted;
    try {
      this.#log ??= openSync(`${this.#path}-wal`, "r");
      await sync(this.#log);
      this.#done = target;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `the gateway's state \`${this.#path}\` cannot be kept: ${why}`;
      this.#failed = new Fault("gateway-state", message, { retry: "never", cause: error });
    }
  }
}
