// The floor of the disk: one insert of a row about as large as a turn, in a transaction of its own.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const TURN_BYTES = 450;

export interface RawCommits extends Disposable {
  commit(count: number): void;
}

export function rawCommits(folder: string): RawCommits {
  const db = new DatabaseSync(join(folder, "raw.db"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, facts TEXT)");
  const insert = db.prepare("INSERT INTO t (facts) VALUES (?)");
  const text = "x".repeat(TURN_BYTES);
  return {
    commit(count) {
      for (let i = 0; i < count; i++) insert.run(text);
    },
    [Symbol.dispose]: () => db.close(),
  };
}
