// Which file beside the store is a server's own. A file has one server; those of a database may be several in
// one folder, and what each has told to whom is its own affair.

import { DatabaseSync } from "node:sqlite";
import { Fault } from "../engine/ports.ts";
import { SideFile } from "./side-file.ts";

const SERVERS_MAX = 64;

const BUSY = 5;

/** The first that no other process has; the same one again for who is alone. */
export function freeSideFile(path: string): SideFile {
  for (let nth = 1; nth <= SERVERS_MAX; nth++) {
    const own = nth === 1 ? path : `${path}-${nth}`;
    const lock = lockOn(`${own}.lock`);
    if (lock !== undefined) return new SideFile(own, lock);
  }
  const message = `${SERVERS_MAX} servers have their files at \`${path}\` already (start this one in another folder)`;
  throw new Fault("side-file", message, { retry: "never" });
}

/** Held by an open transaction: whoever dies lets it go. Undefined when somebody has it. */
function lockOn(path: string): Disposable | undefined {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if ((error as { errcode?: unknown }).errcode === BUSY) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => db.close() };
}
