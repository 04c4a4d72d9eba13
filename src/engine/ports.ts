// What the engine asks of the world. Stores and adapters implement these and hold no rules.

import type { Json, JsonObject } from "../base/json.ts";
import type { ModelReply, Outcome, Spent, Status, TurnRow } from "../core/facts.ts";
import type { ModelRequest } from "../core/request.ts";
import type { Run } from "../core/run.ts";

// ---- Store ----------------------------------------------------------------------------------------------

/**
 * Keeps journals. `commit` is the only write path for logic; its primary key `(run, turn)` is the lock.
 * Everything a method resolved with is durable: it survives SIGKILL and power loss.
 */
export interface Store extends AsyncDisposable {
  /** Absent where one process has the store to itself. */
  readonly shared?: SharedRuns;
  /** Newest snapshot and the turns after it; undefined when there is no such run. */
  load(run: string): Promise<StoredRun | undefined>;
  /**
   * As `load`, for the state after turn `turn`; the nearest snapshot not after it, and the turns up to it.
   */
  loadAt(run: string, turn: number): Promise<StoredRun | undefined>;
  /** Turns `from` to `to` (both included) in order, at most `limit`. */
  rows(run: string, range: { from: number; to: number; limit: number }): Promise<readonly TurnRow[]>;
  /** False when another turn with that number is there already. Turn 1 also creates the run. */
  commit(commit: Commit): Promise<boolean>;
  /** A new run whose first turns are a copy of another's, then one turn of its own; one transaction. */
  fork(fork: ForkCommit): Promise<boolean>;
  /** Adds the turns of a journal from elsewhere: all of them or none. False when other turns are there. */
  take(journal: TakenJournal): Promise<boolean>;
  /** Runs whose journal wants work: an open ask that the runtime performs, or a timer due by `now`. */
  runnable(now: number, limit: number): Promise<readonly string[]>;
  /** When the next timer is due, if any. */
  nextDue(): Promise<number | undefined>;
  find(key: string): Promise<string | undefined>;
  list(filter: RunFilter): Promise<readonly RunRecord[]>;
  /**
   * Runs that may want something of somebody outside, in the order in which they began to; those behind the
   * place given. A run whose question is answered and who asks again stands behind the others.
   */
  asking(page: { readonly after?: string; readonly limit: number }): Promise<readonly AskingRun[]>;
  /** Names of runs that begin so, newest first; also of those whose record is damaged. */
  names(filter: { prefix: string; limit: number }): Promise<readonly string[]>;
  record(run: string): Promise<RunRecord | undefined>;
  /** Programs by digest, and what a run was started with (script, model binding, configuration). */
  putProgram(digest: string, program: JsonObject, source: string): Promise<void>;
  program(digest: string): Promise<{ readonly program: JsonObject; readonly source: string } | undefined>;
  remove(runs: readonly string[]): Promise<void>;
  /** Removes blobs, snapshots and programs nobody refers to; bytes freed. */
  collect(): Promise<number>;
  /**
   * Refolds and compares: journal hashes, snapshots, blobs, run record. Every problem found, empty when
   * sound.
   */
  verify(run: string): Promise<readonly string[]>;
  /** What is stored and belongs to no run, where a store can tell; empty when sound. */
  strays?(): Promise<readonly string[]>;
}

/**
 * Where several processes drive the runs of one store: which are whose. To have a run only keeps others from
 * doing the same work; who may write a turn is decided by its number.
 */
export interface SharedRuns {
  /** Whether this process performs what the run asks. */
  isOurs(run: string): boolean;
  /** The runs that this process has. */
  readonly ours: Iterable<string>;
  /** How many of them count against what it takes up. */
  readonly held: number;
  /**
   * Whether this process was heard of so lately that nobody can have taken its runs. Who was stopped for a
   * while is not sure of anything until its next sign of life.
   */
  readonly isSure: boolean;
  /** The time of the store, in milliseconds since 1970: machines differ, and all of them go by it. */
  now(): number;
  /** Takes up to so many runs that want work, or are due, and have nobody. They are to be resumed. */
  claim(limit: number, now: number): Promise<readonly string[]>;
  /** Takes this run unless somebody else has it. */
  claimOne(run: string): Promise<boolean>;
  /** Leaves these to others, who are told. */
  letGo(runs: readonly string[]): Promise<void>;
  /**
   * Says that this process lives and frees the runs of those who no longer do. Of its own it tells which
   * others have moved, and which others have taken.
   */
  beat(): Promise<{ readonly moved: readonly string[]; readonly lost: readonly string[] }>;
  /**
   * Calls when a run began or ended to wait, or was given work; undefined when it is not known which. May
   * miss some.
   */
  listen(heard: (run: string | undefined) => void): () => void;
  /** Where these runs stand, in one look; those that are there. */
  standing(runs: readonly string[]): Promise<ReadonlyMap<string, RunStanding>>;
}

export interface RunStanding {
  readonly turn: number;
  /** It wants work, so there will be more turns. */
  readonly work: boolean;
}

export interface StoredRun {
  readonly snapshot: Run | undefined;
  readonly rows: readonly TurnRow[];
  readonly record: RunRecord;
}

export interface Commit {
  readonly run: string;
  readonly row: TurnRow;
  /** What the journal folds to with this turn. */
  readonly after: Run;
  /** With turn 1 only. */
  readonly create?: RunCreation;
}

export interface RunCreation {
  readonly digest: string;
  readonly packId: string;
  readonly packVersion: string;
  /** Finds the run again (`--idempotency-key`); unique. */
  readonly key?: string;
  /** What is needed to go on without being told again. No secrets. */
  readonly setup: JsonObject;
}

export interface ForkCommit {
  readonly from: string;
  /** The last turn that is copied. */
  readonly turn: number;
  readonly run: string;
  readonly row: TurnRow;
  readonly after: Run;
  readonly create: RunCreation;
}

export interface TakenJournal {
  readonly run: string;
  /** From turn 1 on. */
  readonly rows: readonly TurnRow[];
  /** So many of them are here already, and the same. */
  readonly shared: number;
  /** What all of them fold to. */
  readonly end: Run;
  readonly create: RunCreation;
}

/** One line in a list of runs; updated in the transaction of each turn. */
export interface RunRecord {
  readonly run: string;
  readonly turn: number;
  readonly status: Status;
  /** Somebody holds it, so that it waits whatever it has to do. */
  readonly held: boolean;
  readonly state: string | null;
  readonly digest: string;
  readonly packId: string;
  readonly packVersion: string;
  readonly key: string | null;
  readonly setup: JsonObject;
  readonly parent: string | null;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly visits: number;
  /** With its agents; null for a run whose newest turn was stored by a release that did not note it. */
  readonly used: Omit<Spent, "visits"> | null;
  readonly reason: string | null;
  /** Steps that are open, in order: equal to the open asks of the folded run (I2). */
  readonly open: readonly number[];
  /** Earliest due time of an open timer. */
  readonly due: number | null;
}

export interface AskingRun {
  readonly run: string;
  /** Two whole numbers, to go on from. */
  readonly place: string;
}

export interface RunFilter {
  readonly status?: readonly Status[];
  readonly packId?: string;
  readonly parent?: string;
  readonly before?: string;
  readonly limit: number;
}

// ---- Model and tools --------------------------------------------------------------------------------------

export interface CallContext {
  readonly run: string;
  readonly step: number;
  /** Same for every attempt at this step: `run/step`. */
  readonly key: string;
  /** From 1; attempts made by this process. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** The state, or the prompt of a pack without a workflow. */
  readonly state: string;
  readonly prompt: string;
  /** The step of the state's composition that calls. */
  readonly part?: string;
  /** Calls of this kind before this one over the whole run: model calls in the state, calls of the tool. */
  readonly nth: number;
  /** What the tool left when it deferred this call, which now goes on. */
  readonly handle?: Json;
  /** What a person answered to the question the call was deferred with. */
  readonly input?: Json;
  /** Takes streamed text as it comes. Not journaled, may be lost. */
  readonly delta?: (text: string) => void;
  /** Where somebody watches the call. */
  readonly trace?: CallTrace;
}

/** W3C Trace Context, as headers and as MCP's `_meta` have it. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface CallTrace {
  /** To be sent with the call, whatever its protocol. Undefined when nobody watches further on. */
  readonly headers: TraceHeaders | undefined;
  /** Names and figures of the call that its answer does not hold. No content. */
  note(details: CallDetails): void;
  /** A request that the call makes in a protocol of its own. */
  part<T>(part: CallPart, request: (headers: TraceHeaders | undefined) => Promise<T>): Promise<T>;
}

export interface CallDetails {
  /** As the adapter calls it: `anthropic`, `openai.responses`, `script`. */
  readonly provider?: string;
  readonly model?: string;
  readonly responseModel?: string;
  readonly responseId?: string;
  readonly finishReason?: string;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** How much harm a tool can do. */
  readonly tier?: string;
}

export interface CallPart {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Text a model streams. Not journaled; a further attempt begins the answer anew. */
export interface Delta {
  readonly run: string;
  readonly step: number;
  readonly attempt: number;
  readonly text: string;
}

export interface ModelPort {
  call(request: ModelRequest, context: CallContext): Promise<ModelReply>;
}

/**
 * A call that is not over. Bare, its answer comes from outside through the door; with `until` the tool is
 * called again at that time, with `question` once a person has answered it, both times with `handle`.
 */
export interface Later {
  readonly deferred: true;
  readonly until?: number;
  readonly handle?: Json;
  readonly question?: Json;
  /** The next call only asks how it stands: after a crash it is made again whatever the tool. */
  readonly looks?: true;
  /** Work goes on elsewhere: `stop` is called with the handle when nobody waits for it any more. */
  readonly stoppable?: true;
}

export type ToolAnswer = Outcome | Later;

export interface ToolPort {
  /** False: nothing is bound to that name. */
  knows(tool: string): boolean;
  /** After a crash the call may be made again with the same key (S46). */
  isSafe(tool: string): boolean;
  call(tool: string, args: Json, context: CallContext): Promise<ToolAnswer>;
  /** Ends what a call left going elsewhere, named by `context.handle`. Called again until it succeeds. */
  stop?(tool: string, context: CallContext): Promise<void>;
}

/**
 * Why a call is given up for good, as the reason of its signal: nobody waits for it any more. Any other
 * reason leaves the call to whoever takes the run up. Made once: an error for every step costs more than
 * deciding the step.
 */
export const stepClosed = new DOMException("the step was closed", "AbortError");

export interface Clock {
  /** Milliseconds since 1970; never goes back within a process. */
  now(): number;
  /** Resolves after the delay, or when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/**
 * Something wrong with the world: network, disk, provider. Caught only by the dispatcher and the commands.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: string;
  /** `unknown`: the call may have been carried out; only a safe one is made again (S46). */
  readonly retry: "later" | "never" | "unknown";
  /** From a `Retry-After`. */
  readonly afterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    options: { retry: Fault["retry"]; afterMs?: number; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retry = options.retry;
    this.afterMs = options.afterMs;
  }
}
