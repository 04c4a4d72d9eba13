// A run as one file: a header, then one line per turn. The header's hash covers itself and every line, so a
// file that was cut or changed is noticed before anything of it is taken.

import { createHash, type Hash } from "node:crypto";
import { canonical, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import { FACTS_VERSION, type TurnRow } from "../../core/facts.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import type { RunRecord, Store } from "../../engine/ports.ts";
import { turnsOf } from "../../host/stored-runs.ts";
import { usageError } from "../exit.ts";

const KIND = "packloop.run/1";

interface StoredProgram {
  readonly digest: string;
  readonly program: JsonObject;
  readonly source: string;
}

interface RunHeader {
  readonly kind: typeof KIND;
  readonly run: string;
  readonly pack: { readonly id: string; readonly version: string; readonly digest: string };
  readonly program: JsonObject;
  readonly source: string;
  /** Packs the run went on with before this one, for a run that was forked to another pack. */
  readonly earlier: readonly StoredProgram[];
  readonly key: string | null;
  readonly setup: JsonObject;
  readonly turns: number;
  readonly sha256: string;
}

/** Reads the journal twice, so that a long one is never held whole: once for the hash, once for the lines. */
export async function* runLines(store: Store, record: RunRecord): AsyncGenerator<string> {
  const { run, turn, packId, packVersion, digest, key, setup } = record;
  const digests = new Set<string>();
  for await (const { facts } of turnsOf(store, run, { from: 1, to: turn }))
    for (const fact of facts) if (fact.type === "started" || fact.type === "forked") digests.add(fact.digest);
  digests.delete(digest);
  const current = await programOf(store, digest);
  const bare: Omit<RunHeader, "sha256"> = {
    kind: KIND,
    run,
    pack: { id: packId, version: packVersion, digest },
    program: current.program,
    source: current.source,
    earlier: await Promise.all([...digests].map((one) => programOf(store, one))),
    key,
    setup: portableSetup(setup),
    turns: turn,
  };
  const hash = beginHash(bare);
  for await (const row of turnsOf(store, run, { from: 1, to: turn })) hash.update(lineOf(row));
  yield `${JSON.stringify({ ...bare, sha256: hash.digest("hex") })}\n`;
  for await (const row of turnsOf(store, run, { from: 1, to: turn })) yield lineOf(row);
}

export interface RunFile {
  readonly header: RunHeader;
  readonly rows: readonly TurnRow[];
  /** What the journal folds to. */
  readonly run: Run;
}

/** The whole file, checked; an error names what is wrong with it. */
export function readRunFile(name: string, bytes: Buffer): RunFile {
  const wrong = (why: string) => usageError(`\`${name}\` is not a run that can be taken: ${why}`);
  const [first, ...lines] = textOf(bytes, wrong).split("\n");
  const header: unknown = jsonOf(first ?? "");
  if (!isHeader(header)) throw wrong(`it does not begin with a header of kind ${KIND}`);
  if (lines.pop() !== "" || lines.length !== header.turns)
    throw wrong(
      `it should have ${header.turns} turns, each ending its line, and has ${lines.length} (it was cut, or lines were added)`,
    );
  const { sha256, ...bare } = header;
  const hash = beginHash(bare);
  for (const line of lines) hash.update(`${line}\n`);
  if (hash.digest("hex") !== sha256)
    throw wrong("it does not fit its hash (it was changed after it was exported)");
  const rows = lines.map((line) => jsonOf(line) as unknown as TurnRow);
  return { header, rows, run: folded(rows, wrong) };
}

function folded(rows: readonly TurnRow[], wrong: (why: string) => Error): Run {
  let run = emptyRun;
  for (const row of rows) {
    if (!isObject(row) || !Array.isArray(row.facts)) throw wrong(`line ${run.turn + 2} is not a turn`);
    if (row.v > FACTS_VERSION) throw wrong("it was written by a newer packloop (use that one)");
    try {
      run = applyTurn(run, row);
    } catch (error) {
      throw wrong(
        `turn ${run.turn + 1} cannot be folded: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return run;
}

/** The order of keys is not part of what is covered; every value is. */
const beginHash = (bare: Omit<RunHeader, "sha256">): Hash =>
  createHash("sha256").update(`${canonical(bare as unknown as Json)}\n`);

const lineOf = (row: TurnRow): string => `${JSON.stringify(row)}\n`;

function textOf(bytes: Buffer, wrong: (why: string) => Error): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw wrong("it is not UTF-8 text");
  }
}

function jsonOf(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is RunHeader {
  if (!isObject(value)) return false;
  const { kind, run, pack, program, source, earlier, setup, turns, sha256 } = value;
  return (
    kind === KIND &&
    [run, source, sha256].every((text) => typeof text === "string") &&
    [pack, program, setup].every(isObject) &&
    Array.isArray(earlier) &&
    typeof turns === "number" &&
    turns >= 1
  );
}

async function programOf(store: Store, digest: string): Promise<StoredProgram> {
  const stored = await store.program(digest);
  if (stored === undefined) throw usageError(`the program \`${digest}\` of the run is not in the store`);
  return { digest, ...stored };
}

/**
 * What may travel with a run. A file of somebody else must not bring commands, addresses or paths with it
 * that a later `resume` would use: model and tools are given anew (`--config`). A script does nothing outside.
 */
export function portableSetup(setup: JsonObject): JsonObject {
  const kept = Object.entries(setup).filter(([key]) => !["settings", "record", "replay"].includes(key));
  return Object.fromEntries(kept);
}
