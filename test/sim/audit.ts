// After every turn: the journal, the record, the fold and the rules must tell the same story (I1, I2, I7).

import { createHash } from "node:crypto";
import type { Answered, Fact, TurnRow } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import { emptyRun, type Run } from "../../src/core/run.ts";
import type { ForkCommit, RunRecord } from "../../src/engine/ports.ts";
import type { MemoryDisk } from "../../src/store/memory.ts";
import { Books } from "./books.ts";
import { claim } from "./claim.ts";
import { expectedReply } from "./expected.ts";
import { PartBooks } from "./part-books.ts";
import { checkChild } from "./spending-check.ts";
import type { Subject } from "./subject.ts";
import { checkFork, checkTurn } from "./turn-check.ts";

interface Account {
  readonly books: Books;
  readonly parts: PartBooks;
  /** The journal's fold, turn by turn as the disk gives it back. */
  run: Run;
}

export class Audit {
  readonly #subject: Subject;
  readonly #disk: MemoryDisk;
  readonly #programs: ReadonlyMap<string, Program>;
  readonly #accounts = new Map<string, Account>();

  constructor(subject: Subject, disk: MemoryDisk, programs: ReadonlyMap<string, Program>) {
    this.#subject = subject;
    this.#disk = disk;
    this.#programs = programs;
  }

  /** A turn was committed; `after` is what the door says the run is now. */
  turn(id: string, input: Input, after: Run): readonly Fact[] {
    const { applyTurn, decide } = this.#subject;
    const account = this.#accounts.get(id) ?? {
      books: new Books(),
      parts: new PartBooks(),
      run: emptyRun,
    };
    this.#accounts.set(id, account);
    const kept = this.#disk.runs.get(id);
    const row = kept?.rows.at(-1);
    claim(kept !== undefined && row !== undefined, "what was committed is not on the disk");
    claim(kept.rows.length === account.books.turn + 1, "I3: the disk does not hold one turn more");
    const program = this.#program(input.type === "start" ? input.digest : account.run.digest);
    const again = decide(program, account.run, input);
    claim(again.kind === "facts", `I7: the same input is ${again.kind} the second time`);
    claim(same(again.facts, row.facts), "I7: the same input makes other facts");
    const [first] = row.facts;
    if (first?.type === "answered") this.#hash(program, account.run, first);
    checkTurn(account.books, program, row, input);
    this.#spending(id, row);
    account.parts.turn(program, row);
    account.run = applyTurn(account.run, row);
    claim(same(account.run, after), "I1: the door's run is not what the journal folds to");
    this.#record(kept.record, account);
    this.#request(program, account.run);
    return row.facts;
  }

  /** S43: what a run may spend is all that is spent for it, also by agents that it has given up. */
  #spending(id: string, { facts }: TurnRow): void {
    const [first] = facts;
    const parent = first?.type === "started" ? first.parent : null;
    const call = parent === null ? undefined : this.booksOf(parent.run)?.asks.get(parent.step);
    // One that was given up before it began spends nothing.
    const begins = first?.type === "started" && facts[1]?.type !== "finished";
    if (begins && call?.kind === "agent") checkChild(first.limits, call.grant);
    if (!facts.some((fact) => fact.type === "asked" && fact.ask.kind === "model")) return;
    const names = id.split("/");
    for (let depth = names.length; depth > 0; depth--) this.#tree(names.slice(0, depth).join("/"));
  }

  #tree(top: string): void {
    const limit = this.booksOf(top)?.started?.limits.modelCalls ?? null;
    if (limit === null) return;
    let asked = this.booksOf(top)?.inherited.modelCalls ?? 0;
    for (const [id, { books }] of this.#accounts)
      if (id === top || id.startsWith(`${top}/`)) asked += books.used.modelCalls;
    claim(asked <= limit, `S43: ${asked} model calls were made for ${top}, which may make ${limit}`);
  }

  /** A fork was made; `edit` is what was changed in it, as if somebody had said so. */
  fork(fork: ForkCommit, edit: Input): readonly Fact[] {
    const { fold, applyTurn } = this.#subject;
    const kept = this.#disk.runs.get(fork.run);
    const origin = this.#disk.runs.get(fork.from);
    const row = kept?.rows.at(-1);
    claim(kept !== undefined && origin !== undefined && row !== undefined, "the fork is not on the disk");
    const prefix = kept.rows.slice(0, -1);
    claim(same(prefix, origin.rows.slice(0, fork.turn)), "S52: the copy is not the origin's past");
    claim(origin.rows.length === this.#accounts.get(fork.from)?.books.turn, "S52: the origin changed");
    const past = fold(prefix);
    const [before, after] = [this.#program(past.digest), this.#program(fork.after.digest)];
    const books = checkFork(prefix, { before, after }, row, edit);
    const run = applyTurn(past, row);
    claim(same(run, fork.after), "I1: the fork is not what its journal folds to");
    const parts = new PartBooks();
    for (const one of prefix) parts.turn(before, one);
    parts.turn(after, row);
    const account = { books, parts, run };
    this.#accounts.set(fork.run, account);
    this.#record(kept.record, account);
    this.#request(after, run);
    return row.facts;
  }

  /** An input changed nothing: was that right? */
  reply(id: string, input: Input, code: string): void {
    const books = this.#accounts.get(id)?.books ?? new Books();
    // A start that is only sent again does not say what to create.
    const fresh = input.type === "start" && books.started === null;
    const program = this.#program(books.started?.digest ?? "");
    const expected = fresh ? "unknown-run" : expectedReply(books, program, input);
    claim(expected === code, `${input.type} was answered ${code}, the rules say ${expected}`);
  }

  /** A dispatcher puts a call in doubt; `looks` as it knows the call. */
  doubt(id: string, step: number, looks: boolean): void {
    claim(this.booksOf(id)?.sent.has(step) ?? false, "S46: a call that never left is put in doubt");
    claim(!looks, "S46: a call that only looks is put in doubt");
  }

  /** Somebody is shown a run: it may be of a while ago, but never of what is not on the disk. */
  seen(id: string, run: Run): void {
    const rows = this.#disk.runs.get(id)?.rows ?? [];
    claim(run.turn <= rows.length, "G1: somebody sees a turn that is not durable");
    claim(
      same(this.#subject.fold(rows.slice(0, run.turn)), run),
      "I1: somebody sees what the journal does not say",
    );
  }

  /** The whole journal at once, its trace, and what today's rules make of it (S53). */
  whole(id: string): void {
    const { fold, traceOf, applyTurn, digestFor, replayTurn } = this.#subject;
    const rows: readonly TurnRow[] = this.#disk.runs.get(id)?.rows ?? [];
    const account = this.#accounts.get(id);
    claim(account !== undefined, "a run nobody started");
    claim(same(fold(rows), account.run), "I1: the journal folds to something else as a whole");
    claim([...traceOf(rows)].length === account.books.entered, "S36: the trace has not one row per visit");
    let run = emptyRun;
    for (const row of rows) {
      const difference = replayTurn(this.#program(digestFor(run, row)), run, row);
      claim(difference === undefined, `S53: turn ${row.turn} is decided otherwise: ${difference?.why}`);
      run = applyTurn(run, row);
    }
  }

  get ids(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  runOf(id: string): Run {
    return this.#accounts.get(id)?.run ?? emptyRun;
  }

  booksOf(id: string): Books | undefined {
    return this.#accounts.get(id)?.books;
  }

  programOf(id: string): Program {
    return this.#program(this.runOf(id).digest);
  }

  /** By digest; before a run is there, the one it would be started with. */
  #program(digest: string): Program {
    const [first] = this.#programs.values();
    const program = this.#programs.get(digest) ?? first;
    claim(program !== undefined, "no program");
    return program;
  }

  /** The journal names the very request that the model answered. */
  #hash(program: Program, run: Run, { step, outcome, hash }: Answered): void {
    const ask = run.open[step]?.ask;
    if (ask?.kind !== "model" || (!outcome.ok && hash === undefined)) return;
    const text = JSON.stringify(this.#subject.modelRequest(program, run, ask));
    const expected = createHash("sha256").update(text).digest("hex");
    claim(hash !== undefined && expected.startsWith(hash), "the answer is to another request");
    claim(hash.length === 32, "the hash of a request is cut short");
  }

  #record(record: RunRecord, { books, run }: Account): void {
    const timers = books.openOf("timer").map(([, { ask }]) => (ask.kind === "timer" ? ask.due : 0));
    const due = timers.length === 0 ? null : Math.min(...timers);
    claim(
      record.open.join() === [...books.open.keys()].join(),
      "I2: the record's open steps are not the asks",
    );
    claim(record.status === books.status, `I2: the record says ${record.status}, the books ${books.status}`);
    claim(record.due === due, `I2: the record has ${record.due} for the timers ${timers.join()}`);
    claim(
      record.turn === books.turn && record.visits === books.used.visits,
      "I2: the record's counts are off",
    );
    for (const [step, { hold, sent, handle, input }] of books.open) {
      const open = run.open[step];
      const told = { hold: open?.hold, sent: open?.sent === true, later: open?.later };
      claim(told.hold === hold && told.sent === sent, `S46: step ${step} stands otherwise`);
      claim(same(told.later?.handle, handle), "the run has another handle for a call than the journal");
      claim(same(told.later?.input, input), "the run has another input for a call than the journal");
    }
    claim(run.held?.by === books.heldBy, "a run is held by another, or by nobody");
    claim(
      record.held === (books.heldBy !== undefined),
      "I2: the record does not know whether the run is held",
    );
    claim(this.#subject.statusOf(run) === books.status, "S1: the status is not that of the open asks");
    claim(run.used.activeMs === books.activeMs, "S12: active time is miscounted");
    claim(run.used.toolCalls === books.used.toolCalls, "S11: calls are miscounted");
  }

  /** A model that is asked hears an answer to everything it called, once. */
  #request(program: Program, run: Run): void {
    for (const { ask } of Object.values(run.open)) {
      if (ask.kind !== "model") continue;
      const { messages } = this.#subject.modelRequest(program, run, ask);
      const called: string[] = [];
      const answered: string[] = [];
      for (const message of messages) {
        if (message.role === "assistant") called.push(...message.calls.map((call) => call.id));
        else if (message.role === "tool") answered.push(message.call);
      }
      claim(called.join() === answered.join(), "S25: a model is shown calls without results");
      claim(messages[0]?.role === "user", "S24: a conversation does not begin with the task");
    }
  }
}

/**
 * Equal as JSON would say it: what is undefined is not there, and of a shared list only its own items count.
 */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, i) => same(one, b[i]))
    );
  }
  const [left, right] = [a as Plain, b as Plain];
  if (Array.isArray(left["cells"]) && Array.isArray(right["cells"]))
    return left["length"] === right["length"] && same(itemsOf(left), itemsOf(right));
  const keys = Object.keys(left).filter((key) => left[key] !== undefined);
  const others = Object.keys(right).filter((key) => right[key] !== undefined);
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(right, key) && same(left[key], right[key]))
  );
}

type Plain = Readonly<Record<string, unknown>>;

const itemsOf = ({ cells, length }: Plain): readonly unknown[] =>
  (cells as readonly unknown[]).slice(0, Number(length));
