// What clients hold for us and must not be able to make up: the state of a question, and the names of tasks.
// Nothing of it is kept here but the key.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Json } from "../../base/json.ts";
import { kept } from "../../base/kept.ts";
import type { Principal } from "../scope.ts";
import type { SideFile } from "../side-file.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS mcp_key (
  one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL
) STRICT;`;

/** A person may sleep over an answer. */
const STATE_MS = 24 * 60 * 60 * 1000;
const STATE_LENGTH_MAX = 65_536;

/** What a client was asked for a run. */
export interface QuestionState {
  /** The tool that was called. */
  readonly of: string;
  /** The run that the call is about. */
  readonly run: string;
  /** Ids of its questions. */
  readonly asks: readonly string[];
}

/** What a tool or a prompt wanted by itself. */
export interface InputState {
  readonly of: string;
  readonly state: Json;
}

type HeldState = QuestionState | InputState;

const keys = new WeakMap<SideFile, Buffer>();

/** Made once for a store. When it is lost, questions are asked again and tasks are found by their runs. */
function keyOf(side: SideFile): Buffer {
  return kept(keys, side, () => {
    side.db.exec(SCHEMA);
    side.sql("INSERT OR IGNORE INTO mcp_key VALUES (1, ?)").run(randomBytes(32));
    const { key } = side.sql("SELECT key FROM mcp_key").get() as { readonly key: Uint8Array };
    return Buffer.from(key);
  });
}

const macOf = (side: SideFile, parts: readonly unknown[]): Buffer =>
  createHmac("sha256", keyOf(side)).update(JSON.stringify(parts)).digest();

interface SealTerms {
  readonly side: SideFile;
  readonly principal: Principal;
  readonly now: number;
}

export function sealState({ side, principal, now }: SealTerms, held: HeldState): string {
  const body = Buffer.from(JSON.stringify({ held, until: now + STATE_MS })).toString("base64url");
  return `${body}.${macOf(side, ["state", principal.name, body]).toString("base64url")}`;
}

/** Undefined when it was not made here for this principal, or long ago. */
export function openState({ side, principal, now }: SealTerms, text: string): HeldState | undefined {
  const [body, mac, ...more] = text.length > STATE_LENGTH_MAX ? [] : text.split(".");
  if (body === undefined || mac === undefined || more.length > 0) return undefined;
  if (!isSame(Buffer.from(mac, "base64url"), macOf(side, ["state", principal.name, body]))) return undefined;
  const { held, until } = JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as {
    readonly held?: HeldState;
    readonly until: number;
  };
  return until < now ? undefined : held;
}

const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** The run and 128 bits that only we can make, for one principal. */
export const taskIdOf = ({ side, principal }: Pick<SealTerms, "side" | "principal">, run: string): string =>
  `${run}.${macOf(side, ["task", principal.name, run]).subarray(0, 16).toString("hex")}`;

/** The run of a task; undefined when it is not one of this principal's. */
export function runOfTask(terms: Pick<SealTerms, "side" | "principal">, taskId: string): string | undefined {
  const run = taskId.slice(0, Math.max(0, taskId.lastIndexOf(".")));
  return isSame(Buffer.from(taskId), Buffer.from(taskIdOf(terms, run))) ? run : undefined;
}
