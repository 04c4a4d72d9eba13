// Everything that waits for a person, over all runs, who has waited longest first.

import { isoTime } from "../base/iso-time.ts";
import type { Json } from "../base/json.ts";
import type { Program } from "../core/program.ts";
import { type Summary, summaryOf, type WaitingFor } from "../core/summary.ts";
import { Fault, type RunRecord, type Store } from "../engine/ports.ts";
import type { CallRisk, RiskOf } from "./call-risk.ts";
import { firstArguments } from "./first-arguments.ts";
import { descendantsOf } from "./run-tree.ts";
import { knownRecord, runAt, storedProgram, unlessDamaged } from "./stored-runs.ts";

export interface InboxItem extends WaitingFor {
  readonly run: string;
  readonly pack: Summary["pack"];
  readonly state: string | null;
  /** The run's last turn: since then nothing has moved it. */
  readonly since: string;
  /** When its wall time ends it, if there is a limit. */
  readonly expires_at: string | null;
  /** The runs that wait for it, the outermost first. */
  readonly parents: readonly string[];
  /** The run's last turn: what is decided here is decided about it. */
  readonly turn: number;
  /** Who started the run, where that is known. */
  readonly requested_by: string | null;
  /** What the call can do; absent where that cannot be told, as with a bad lock file. */
  readonly risk?: CallRisk;
  /** With an approval whose arguments somebody changed: those that the model gave. */
  readonly first_args?: Json;
}

export interface InboxTerms {
  readonly after?: string | undefined;
  readonly limit: number;
  /** Only what this run and the runs of its agents wait for. */
  readonly run?: string | undefined;
  readonly worlds: RiskOf;
}

export interface InboxPage {
  readonly items: readonly InboxItem[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
}

/** Runs looked up at a time. */
const PAGE = 200;

/** At least `limit` items where there are so many: those of one run are never torn apart. */
export async function inboxOf(
  store: Store,
  damaged: (run: string) => void,
  { after, limit, run, worlds }: InboxTerms,
): Promise<InboxPage> {
  if (run !== undefined) return treePage(store, damaged, { after, limit, run, worlds });
  const items: InboxItem[] = [];
  let place = after;
  for (;;) {
    const size = Math.min(PAGE, limit + 1);
    const page = await store.asking({ limit: size, ...(place !== undefined && { after: place }) });
    for (const asking of page) {
      if (items.length >= limit) return { items, next: place };
      const own = await unlessDamaged(() => itemsOf(store, worlds, asking.run));
      if (own === undefined) damaged(asking.run);
      else items.push(...own);
      place = asking.place;
    }
    if (page.length < size) return { items, next: undefined };
  }
}

/** Callers before their agents; a page begins behind the run it is told. */
async function treePage(
  store: Store,
  damaged: (run: string) => void,
  { after, limit, run, worlds }: InboxTerms & { readonly run: string },
): Promise<InboxPage> {
  await unlessDamaged(() => knownRecord(store, run));
  const runs = [run, ...(await descendantsOf(store, run)).map((agent) => agent.run)];
  const items: InboxItem[] = [];
  let place = after;
  for (const one of runs.slice(after === undefined ? 0 : runs.indexOf(after) + 1)) {
    const own = await unlessDamaged(() => itemsOf(store, worlds, one));
    if (own === undefined) damaged(one);
    else if (own.length > 0 && items.length >= limit) return { items, next: place };
    else items.push(...own);
    place = one;
  }
  return { items, next: undefined };
}

async function itemsOf(store: Store, worlds: RiskOf, id: string): Promise<readonly InboxItem[]> {
  const record = await store.record(id);
  return record === undefined || record.open.length === 0 ? [] : waitsOf(store, worlds, record);
}

async function waitsOf(store: Store, worlds: RiskOf, record: RunRecord): Promise<readonly InboxItem[]> {
  const { run: id, packId, packVersion, digest, state, updatedAt, due, setup } = record;
  const pack = { id: packId, version: packVersion, digest };
  const run = await runAt(store, id, record.turn);
  // Who waits for an agent asks nothing: the agent's question stands here itself.
  const own = summaryOf(id, pack, run).waiting_for.filter((wait) => wait.run === undefined);
  const program = own.some(({ tool }) => tool !== undefined) ? await programOf(store, digest) : undefined;
  const common = {
    run: id,
    pack,
    state,
    since: isoTime(updatedAt),
    expires_at: due === null ? null : isoTime(due),
    parents: callersOf(id, record),
    turn: record.turn,
    requested_by: await starterOf(store, record),
  };
  const items: InboxItem[] = [];
  for (const wait of own) {
    const { tool } = wait;
    const risk = tool === undefined || program === undefined ? {} : riskIn(worlds, setup, { program, tool });
    const before = wait.kind === "approval" ? await firstArguments(store, record, wait.step) : undefined;
    items.push({ ...wait, ...common, ...risk, ...(before !== undefined && { first_args: before }) });
  }
  return items;
}

async function programOf(store: Store, digest: string): Promise<Program | undefined> {
  try {
    return await storedProgram(store, digest);
  } catch (error) {
    return withoutRisk(error);
  }
}

function riskIn(worlds: RiskOf, ...[setup, call]: Parameters<RiskOf["riskOf"]>): Pick<InboxItem, "risk"> {
  try {
    return { risk: worlds.riskOf(setup, call) };
  } catch (error) {
    return withoutRisk(error) ?? {};
  }
}

/** What waits is shown all the same. A store that is damaged or away is another matter. */
function withoutRisk(error: unknown): undefined {
  const isLasting = error instanceof Fault && error.retry === "never" && error.code !== "store-corrupt";
  if (!isLasting) throw error;
}

/** Agents' runs are started by whoever started the outermost one. */
async function starterOf(store: Store, { run, setup }: RunRecord): Promise<string | null> {
  const root = run.split("/", 1)[0] ?? run;
  const by = root === run ? setup["by"] : (await store.record(root))?.setup["by"];
  return typeof by === "string" ? by : null;
}

/** An agent's run is named after the step of the run that called it. */
function callersOf(id: string, { parent }: RunRecord): readonly string[] {
  if (parent === null) return [];
  const parts = id.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
