// The one door: every input from every side goes through `submit`. It loads, decides, commits; when somebody
// else committed first it decides again on what they left.

import { must } from "../base/assert.ts";
import type { JsonObject } from "../base/json.ts";
import { apply, fold } from "../core/apply.ts";
import { decide } from "../core/decide.ts";
import { refused } from "../core/decision.ts";
import { FACTS_VERSION, type TurnRow } from "../core/facts.ts";
import type { Decision, Input, Refusal } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { emptyRun, isAtWork, type Run } from "../core/run.ts";
import { crashPoint } from "./crash-point.ts";
import type { EngineObserver } from "./observer.ts";
import { type Commit, Fault, type RunCreation, type Store, type TraceHeaders } from "./ports.ts";
import type { Redaction } from "./redaction.ts";

export type Submitted =
  | { readonly kind: "done"; readonly run: Run; readonly row: TurnRow }
  | { readonly kind: "ignored"; readonly why: string; readonly run: Run }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface SubmitTerms {
  /** For the input that starts a run. */
  readonly create?: RunCreation;
  /** The turn the sender has seen last: the input is for that one and for no other. */
  readonly ifTurn?: number;
  /** The trace that the sender is in. */
  readonly trace?: TraceHeaders | undefined;
}

export interface DoorOptions {
  readonly redaction?: Redaction | undefined;
  readonly observer?: EngineObserver | undefined;
}

/** Rivals may win this often in a row before it is a defect. */
const ATTEMPTS_MAX = 20;

export class Door {
  readonly #store: Store;
  readonly #hot = new Map<string, Run>();
  readonly #programs = new Map<string, Program>();
  /** Inputs to one run are taken one after the other; other processes are held off by the turn number. */
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #committed: (id: string, row: TurnRow, run: Run) => void;
  readonly #crash = crashPoint(process.env["PACKLOOP_CRASH_AT"]);

  readonly #options: DoorOptions;

  constructor(
    store: Store,
    committed: (id: string, row: TurnRow, run: Run) => void,
    options: DoorOptions = {},
  ) {
    this.#store = store;
    this.#committed = committed;
    this.#options = options;
  }

  submit(id: string, given: Input, terms: SubmitTerms = {}): Promise<Submitted> {
    const input = this.#options.redaction?.input(given) ?? given;
    return this.#inTurn(id, () => this.#take(id, input, terms));
  }

  /** The run as it is when every input before this moment is taken. */
  latest(id: string): Promise<Run | undefined> {
    return this.#inTurn(id, () => this.load(id));
  }

  /** The run as of its last turn; undefined when there is none. */
  async load(id: string): Promise<Run | undefined> {
    const hot = this.#hot.get(id);
    if (hot !== undefined) return hot;
    const stored = await this.#store.load(id);
    return stored === undefined ? undefined : fold(stored.rows, stored.snapshot);
  }

  async program(digest: string): Promise<Program> {
    const known = this.#programs.get(digest);
    if (known !== undefined) return known;
    const stored = must(await this.#store.program(digest), `the program ${digest} of a run is stored`);
    const program = stored.program as unknown as Program;
    this.#programs.set(digest, program);
    return program;
  }

  async putProgram(digest: string, program: Program, source: string): Promise<void> {
    if (!this.#programs.has(digest))
      await this.#store.putProgram(digest, program as unknown as JsonObject, source);
    this.#programs.set(digest, program);
  }

  /** Forgets what is in memory: another process, or a fork, may have written. */
  forget(id: string): void {
    this.#hot.delete(id);
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(id) ?? Promise.resolve();
    const next = before.then(work, work);
    this.#queues.set(id, next);
    const done = () => {
      if (this.#queues.get(id) === next) this.#queues.delete(id);
    };
    next.then(done, done);
    return next;
  }

  async #take(id: string, input: Input, { create, ifTurn, trace }: SubmitTerms): Promise<Submitted> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const run = (await this.load(id)) ?? emptyRun;
      if (!run.started && create === undefined)
        return { kind: "refused", refusal: { code: "unknown-run", run: id } };
      const program = await this.program(
        run.started ? run.digest : must(create, "a new run has a creation").digest,
      );
      const decision: Decision =
        ifTurn === undefined || ifTurn === run.turn
          ? decide(program, run, input)
          : refused({ code: "precondition-failed", expected: ifTurn, turn: run.turn });
      // A commit would show that another process wrote meanwhile; only reading again shows it here.
      if (decision.kind !== "facts" && this.#hot.delete(id)) continue;
      if (decision.kind === "ignored") return { ...decision, run };
      if (decision.kind === "refused") return decision;
      const at = Math.max(run.now, input.at);
      const { facts, run: decided } = decision;
      const planned = { id, before: run, after: decided, facts, at, program, trace };
      const watch = this.#options.observer?.turn(planned);
      const notes = watch?.note === undefined ? [] : [watch.note];
      const row: TurnRow = { turn: run.turn + 1, at, v: FACTS_VERSION, facts: [...facts, ...notes] };
      const after = notes.reduce((folded: Run, note) => apply(folded, note), decided);
      const began = performance.now();
      this.#crash("before");
      const creation: Pick<Commit, "create"> = row.turn === 1 && create !== undefined ? { create } : {};
      const committed = await this.#store.commit({ run: id, row, after, ...creation });
      this.#crash("after");
      if (committed) {
        this.#keep(id, after);
        watch?.committed({ row, run: after, tookMs: performance.now() - began });
        this.#committed(id, row, after);
        return { kind: "done", run: after, row };
      }
      this.#hot.delete(id);
      await this.#refuseTaken(creation.create);
    }
    throw new Error(`run ${id}: other writers won ${ATTEMPTS_MAX} times in a row`);
  }

  /** Another start with the same key came first: there is nothing to decide again. */
  async #refuseTaken(create: RunCreation | undefined): Promise<void> {
    const found = create?.key === undefined ? undefined : await this.#store.find(create.key);
    if (found !== undefined)
      throw new Fault("key-taken", `the key \`${create?.key ?? ""}\` has started run \`${found}\` already`, {
        retry: "never",
      });
  }

  /** Runs at work stay folded; a hundred thousand waiting ones must cost no memory. */
  #keep(id: string, run: Run): void {
    const isOurs = this.#store.shared?.isOurs(id) ?? true;
    if (isOurs && run.final === null && isAtWork(run)) this.#hot.set(id, run);
    else this.#hot.delete(id);
  }
}
