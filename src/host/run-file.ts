// A run as one file: a header, then one line per turn; behind them the runs of its agents in the same form.
// A header's hash covers itself and every line of its run, and the first one says how many runs follow, so a
// file that was cut or changed is noticed before anything of it is taken.

import { createHash, type Hash } from "node:crypto";
import { canonical, get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { isDeeperThan } from "../base/json-depth.ts";
import { applyTurn } from "../core/apply.ts";
import { FACTS_VERSION, type TurnRow } from "../core/facts.ts";
import type { Program } from "../core/program.ts";
import { emptyRun, type Run } from "../core/run.ts";
import type { RunRecord, Store } from "../engine/ports.ts";
import { digestOf } from "../pack/link.ts";
import { descendantsOf } from "./run-tree.ts";
import { missing, turnsOf } from "./stored-runs.ts";

const KIND = "packloop.run/1";

/** Programs name runs as they like. Folders are named after runs, so a name leads nowhere. */
const RUN_NAME = /^[^.\\\p{Cc}\p{Cs}][^\\\p{Cc}\p{Cs}]{0,299}$/u;

/** Far beyond what a run is told; values are walked by recursion later. */
const DEPTH_MAX = 1_000;

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
  /** How many runs of its agents follow; absent for none. */
  readonly agents?: number;
  readonly sha256: string;
}

/** The run, and the runs of its agents with it. */
export async function* treeLines(store: Store, record: RunRecord): AsyncGenerator<string> {
  const agents = await descendantsOf(store, record.run);
  yield* runLines(store, record, agents.length);
  for (const agent of agents) yield* runLines(store, agent, 0);
}

/** Reads the journal twice, so that a long one is never held whole: once for the hash, once for the lines. */
async function* runLines(store: Store, record: RunRecord, agents: number): AsyncGenerator<string> {
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
    ...(agents > 0 && { agents }),
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

export interface RunTree extends RunFile {
  /** The runs of its agents, callers before those they called. */
  readonly agents: readonly RunFile[];
}

type Wrong = (why: string) => Error;

export type ReadRunFile =
  | { readonly ok: true; readonly tree: RunTree }
  | { readonly ok: false; readonly why: string };

/** The whole file, checked. What is wrong with it is a clause about `it`. */
export function readRunFile(bytes: Buffer): ReadRunFile {
  try {
    return { ok: true, tree: treeIn(bytes, (why) => new NoRun(why)) };
  } catch (error) {
    if (error instanceof NoRun) return { ok: false, why: error.message };
    throw error;
  }
}

class NoRun extends Error {}

function treeIn(bytes: Buffer, wrong: Wrong): RunTree {
  const lines = textOf(bytes, wrong).split("\n");
  const isWhole = lines.pop() === "";
  const first = headerIn(lines, wrong);
  const count = first.agents ?? 0;
  const alone = count === 0 ? lines.length - 1 : undefined;
  if (!isWhole || (alone !== undefined && alone !== first.turns)) throw wrong(cutText(first.turns, alone));
  const run = takeRun(lines, wrong);
  const agents: RunFile[] = [];
  while (agents.length < count) {
    if (lines.length === 0)
      throw wrong(`it should hold ${count} runs of agents and has ${agents.length} (it was cut)`);
    const agent = takeRun(lines, wrong);
    if (!agent.header.run.startsWith(`${first.run}/`))
      throw wrong(`\`${agent.header.run}\` is not the run of an agent of \`${first.run}\``);
    agents.push(agent);
  }
  if (lines.length > 0) throw wrong("something follows its last run (lines were added)");
  return { ...run, agents };
}

const cutText = (turns: number, found: number | undefined): string =>
  `it should have ${turns} turns, each ending its line${found === undefined ? "" : `, and has ${found}`} (it was cut, or lines were added)`;

function headerIn([first = ""]: readonly string[], wrong: Wrong): RunHeader {
  const header: unknown = jsonOf(first);
  if (!isHeader(header)) throw wrong(`it does not begin with a header of kind ${KIND}`);
  return header;
}

/** The next run of the file: its lines are taken away from those that are left. */
function takeRun(left: string[], wrong: Wrong): RunFile {
  const header = headerIn(left, wrong);
  const [, ...lines] = left.splice(0, header.turns + 1);
  if (lines.length < header.turns) throw wrong(cutText(header.turns, lines.length));
  const { sha256, ...bare } = header;
  const hash = beginHash(bare);
  for (const line of lines) hash.update(`${line}\n`);
  if (hash.digest("hex") !== sha256)
    throw wrong("it does not fit its hash (it was changed after it was exported)");
  checkPrograms(header, wrong);
  const rows = lines.map((line) => jsonOf(line) as unknown as TurnRow);
  const run = folded(rows, wrong);
  checkPacks(header, rows, { end: run.digest, wrong });
  return { header, rows, run };
}

/** A program is known by its digest from then on, also to runs that are started here. */
function checkPrograms({ pack, program, earlier }: RunHeader, wrong: Wrong): void {
  for (const one of [{ digest: pack.digest, program }, ...earlier])
    if (digestOf(one.program as unknown as Program) !== one.digest)
      throw wrong(`the program \`${one.digest.slice(0, 100)}\` does not fit its digest`);
}

function checkPacks(
  { pack, earlier }: RunHeader,
  rows: readonly TurnRow[],
  { end, wrong }: { readonly end: string; readonly wrong: Wrong },
): void {
  const known = new Set([pack.digest, ...earlier.map(({ digest }) => digest)]);
  for (const fact of rows.flatMap(({ facts }) => facts))
    if ((fact.type === "started" || fact.type === "forked") && !known.has(fact.digest))
      throw wrong("it does not hold every pack that it went on with");
  if (end !== pack.digest) throw wrong("it ended with another pack than its header names");
}

function folded(rows: readonly TurnRow[], wrong: Wrong): Run {
  let run = emptyRun;
  for (const row of rows) {
    if (!isRow(row)) throw wrong(`line ${run.turn + 2} is not a turn`);
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

const isRow = (row: unknown): boolean =>
  isObject(row) &&
  [row["turn"], row["at"], row["v"]].every(Number.isSafeInteger) &&
  Array.isArray(row["facts"]) &&
  row["facts"].every(isFact);

/** What whoever shows a run takes for granted; the rest is the fold's to refuse. */
function isFact(fact: Json): boolean {
  if (!isObject(fact) || !isText(fact["type"])) return false;
  const { type, step, ask, outcome, prompt, context, cause } = fact;
  if (type === "entered") return [prompt, context, get(cause, "kind")].every(isText);
  if (type !== "asked" && type !== "answered") return true;
  const isStep = Number.isSafeInteger(step) && (step as number) >= 1;
  if (type === "asked") return isStep && isText(get(ask, "kind"));
  return isStep && typeof get(outcome, "ok") === "boolean";
}

/** The order of keys is not part of what is covered; every value is. */
const beginHash = (bare: Omit<RunHeader, "sha256">): Hash =>
  createHash("sha256").update(`${canonical(bare as unknown as Json)}\n`);

const lineOf = (row: TurnRow): string => `${JSON.stringify(row)}\n`;

function textOf(bytes: Buffer, wrong: Wrong): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw wrong("it is not UTF-8 text");
  }
}

function jsonOf(line: string): Json | undefined {
  if (isDeeperThan(line, DEPTH_MAX)) return undefined;
  try {
    return JSON.parse(line) as Json;
  } catch {
    return undefined;
  }
}

function isHeader(value: unknown): value is RunHeader {
  if (!isObject(value)) return false;
  const { kind, run, pack, program, source, earlier, key, setup, turns, agents = 0, sha256 } = value;
  return (
    kind === KIND &&
    typeof run === "string" &&
    RUN_NAME.test(run) &&
    [source, sha256].every(isText) &&
    (key === null || isText(key)) &&
    isObject(pack) &&
    [pack["id"], pack["version"], pack["digest"]].every(isText) &&
    [program, setup].every(isObject) &&
    Array.isArray(earlier) &&
    earlier.every(isStoredProgram) &&
    Number.isSafeInteger(turns) &&
    (turns as number) >= 1 &&
    Number.isSafeInteger(agents) &&
    (agents as number) >= 0
  );
}

const isText = (value: unknown): value is string => typeof value === "string";

function isStoredProgram(value: Json): boolean {
  if (!isObject(value)) return false;
  const { digest, program, source } = value;
  return isText(digest) && isText(source) && program !== undefined && isObject(program);
}

async function programOf(store: Store, digest: string): Promise<StoredProgram> {
  const stored = await store.program(digest);
  if (stored === undefined)
    throw missing("unknown-pack", `the program \`${digest}\` of the run is not in the store`);
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
