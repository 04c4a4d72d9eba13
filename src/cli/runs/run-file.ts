// A run as one file: a header, then one line per turn; behind them the runs of its agents in the same form.
// A header's hash covers itself and every line of its run, and the first one says how many runs follow, so a
// file that was cut or changed is noticed before anything of it is taken.

import { createHash, type Hash } from "node:crypto";
import { canonical, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import { FACTS_VERSION, type TurnRow } from "../../core/facts.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import type { RunRecord, Store } from "../../engine/ports.ts";
import { descendantsOf } from "../../host/run-tree.ts";
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

/** The whole file, checked; an error names what is wrong with it. */
export function readRunFile(name: string, bytes: Buffer): RunTree {
  const wrong: Wrong = (why) => usageError(`\`${name}\` is not a run that can be taken: ${why}`);
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
  const rows = lines.map((line) => jsonOf(line) as unknown as TurnRow);
  return { header, rows, run: folded(rows, wrong) };
}

function folded(rows: readonly TurnRow[], wrong: Wrong): Run {
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

function textOf(bytes: Buffer, wrong: Wrong): string {
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
  const { kind, run, pack, program, source, earlier, setup, turns, agents = 0, sha256 } = value;
  return (
    kind === KIND &&
    [run, source, sha256].every((text) => typeof text === "string") &&
    [pack, program, setup].every(isObject) &&
    Array.isArray(earlier) &&
    Number.isSafeInteger(turns) &&
    (turns as number) >= 1 &&
    Number.isSafeInteger(agents) &&
    (agents as number) >= 0
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
