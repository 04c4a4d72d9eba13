// Other systems that speak to runs with signed requests, in the server's side file: their names, what they
// may say, and the secret that they sign with.

import { randomBytes } from "node:crypto";
import type { Scope } from "../scope.ts";
import type { SideFile } from "../side-file.ts";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS hook (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, scopes TEXT NOT NULL, secret TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
`;

/** How its requests are signed: Standard Webhooks 1.0, or as Slack does. */
export type HookKind = "standard" | "slack";

export interface Hook {
  readonly id: string;
  readonly name: string;
  readonly kind: HookKind;
  readonly scopes: readonly Scope[];
  readonly secret: string;
  readonly at: number;
}

export class HookBook {
  readonly #side: SideFile;

  constructor(side: SideFile) {
    this.#side = side;
    side.db.exec(SCHEMA);
  }

  add(hook: Omit<Hook, "id">): Hook {
    const id = `hk_${randomBytes(9).toString("base64url")}`;
    const { name, kind, scopes, secret, at } = hook;
    this.#side
      .sql("INSERT INTO hook VALUES (?, ?, ?, ?, ?, ?)")
      .run(id, name, kind, JSON.stringify(scopes), secret, at);
    return { ...hook, id };
  }

  all(): readonly Hook[] {
    return this.#side.sql("SELECT * FROM hook ORDER BY at DESC, id").all().map(hookOf);
  }

  find(id: string): Hook | undefined {
    const row = this.#side.sql("SELECT * FROM hook WHERE id = ?").get(id);
    return row === undefined ? undefined : hookOf(row);
  }

  remove(id: string): void {
    this.#side.sql("DELETE FROM hook WHERE id = ?").run(id);
  }
}

function hookOf(row: object): Hook {
  const { scopes, ...hook } = row as Omit<Hook, "scopes"> & { scopes: string };
  return { ...hook, scopes: JSON.parse(scopes) as readonly Scope[] };
}
