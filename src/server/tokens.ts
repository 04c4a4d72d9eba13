// Tokens: made once, shown once, kept only as hashes in a file beside the store. The file is read again when
// it changes, so that a revoked token is refused by a running server.

import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { isObject, type Json } from "../base/json.ts";
import { Fault } from "../engine/ports.ts";
import { type Principal, SCOPES, type Scope } from "./scope.ts";

export interface KeptToken {
  readonly name: string;
  /** SHA-256 of the token. */
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  readonly created_at: string;
}

const KIND = "packloop.tokens/1";

export const TOKEN_NAME = /^[\w.@-]{1,64}$/;

/** 256 bits: nothing to guess, so a fast hash is enough. */
export function newToken(): string {
  return `plt_${randomBytes(32).toString("base64url")}`;
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** None when there is no file. */
export function readTokens(file: string): readonly KeptToken[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw badFile(file, `it cannot be read (${code ?? "unknown reason"})`);
  }
  const value = jsonOf(text);
  if (!isObject(value) || value["kind"] !== KIND || !Array.isArray(value["tokens"]))
    throw badFile(file, "it is not a file of tokens");
  const tokens = value["tokens"] as readonly Json[];
  if (!tokens.every(isToken)) throw badFile(file, "an entry of it is not a token");
  return tokens as unknown as readonly KeptToken[];
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function isToken(value: Json): boolean {
  if (!isObject(value)) return false;
  const { name, sha256, scopes, created_at: at } = value;
  const known = (scope: Json) => SCOPES.includes(scope as Scope);
  return (
    [name, sha256, at].every((text) => typeof text === "string") &&
    Array.isArray(scopes) &&
    (scopes as readonly Json[]).every(known)
  );
}

/** As a whole or not at all, and readable by its owner only. */
export function writeTokens(file: string, tokens: readonly KeptToken[]): void {
  const next = `${file}.${process.pid}`;
  try {
    const fd = openSync(next, "w", 0o600);
    writeSync(fd, `${JSON.stringify({ kind: KIND, tokens }, null, 2)}\n`);
    fsyncSync(fd);
    closeSync(fd);
    chmodSync(next, 0o600);
    renameSync(next, file);
  } catch (error) {
    throw badFile(
      file,
      `it cannot be written (${(error as NodeJS.ErrnoException).code ?? "unknown reason"})`,
    );
  }
}

export function keptToken(name: string, token: string, scopes: readonly Scope[], at: string): KeptToken {
  return { name, sha256: hashOf(token), scopes, created_at: at };
}

const badFile = (file: string, why: string): Fault =>
  new Fault("bad-tokens", `\`${file}\` does not hold tokens: ${why}`, { retry: "never" });

/** Looks tokens up in a file that may change. */
export class TokenFile {
  readonly #file: string;
  #byHash: ReadonlyMap<string, KeptToken> = new Map();
  #stamp = "";

  constructor(file: string) {
    this.#file = file;
    this.#refresh();
  }

  get size(): number {
    this.#refresh();
    return this.#byHash.size;
  }

  list(): readonly KeptToken[] {
    this.#refresh();
    return [...this.#byHash.values()];
  }

  replace(tokens: readonly KeptToken[]): void {
    writeTokens(this.#file, tokens);
    this.#refresh();
  }

  /** Compared by its hash, so that the time it takes says nothing about a token. */
  principalOf(token: string): Principal | undefined {
    this.#refresh();
    const found = this.#byHash.get(hashOf(token));
    return found && { name: found.name, scopes: found.scopes };
  }

  #refresh(): void {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    const stamp = stat === undefined ? "none" : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    if (stamp === this.#stamp) return;
    this.#byHash = new Map(readTokens(this.#file).map((token) => [token.sha256, token]));
    this.#stamp = stamp;
  }
}
