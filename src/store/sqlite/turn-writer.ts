// Appends turns: the first of a new run, the next of one that is there, and the first own turn of a fork.
// Runs inside the transaction of its group. A turn is taken when the one before it is there and it is not:
// the key `(run, turn)` is the lock.

import type { DatabaseSync } from "node:sqlite";
import { assert } from "../../base/assert.ts";
import { overdue, type RunColumns, runSum, standingOf } from "../journal/run-record.ts";
import { squeeze } from "../journal/squeeze.ts";
import { NO_HASH, textHash, turnHash } from "../journal/turn-hash.ts";
import { packText } from "../journal/turn-text.ts";
import type { CommitRequest, ForkRequest, TurnReply, TurnWrite } from "./requests.ts";
import { keyOf, newestTurn, TURN_BITS, TURN_MAX } from "./schema.ts";
import { type NewestSnapshot, SnapshotWriter } from "./snapshot-writer.ts";

/** Facts that weigh more are kept in `blob`. */
const ROW_BYTES_MAX = 16 * 1024;

/** A run at work has its `head` brought up to date every so many turns. */
const HEAD_TURNS = 64;

const taken: TurnReply = { kind: "turn", written: false, overdue: 0 };
const ordinary: TurnReply = { kind: "turn", written: true, overdue: 0 };

/** A turn that is there, as far as the next one goes by it. */
interface Position {
  readonly run: number;
  readonly hash: string;
  readonly bytes: number;
  readonly standing: string;
}

interface Written extends Position {
  readonly turn: number;
  /** Of the run's newest snapshot; undefined until somebody looks. */
  readonly newest: NewestSnapshot | undefined;
}

/** Runs whose newest turn is kept in mind. */
const WRITTEN_MAX = 1_000;

export class TurnWriter {
  readonly #sql: ReturnType<typeof statements>;
  readonly #snapshots: SnapshotWriter;
  /** The newest turns that this writer has written, by run. True as long as nobody else writes. */
  readonly #written = new Map<string, Written>();

  constructor(db: DatabaseSync) {
    this.#sql = statements(db);
    this.#snapshots = new SnapshotWriter(db);
  }

  /**
   * The turn after the one written last, when that is all there is to write: a single insert, which is its
   * own transaction. Undefined when there is more to it.
   */
  next(request: CommitRequest): TurnReply | undefined {
    const { run, turn, standing, create, snapshot, facts } = request;
    const last = this.#written.get(run);
    if (last === undefined || last.turn !== turn - 1) return undefined;
    if (create !== undefined || snapshot !== undefined || isLarge(facts)) return undefined;
    if (last.standing !== standing || turn % HEAD_TURNS === 0 || standingOf(standing).work === 0)
      return undefined;
    const after = this.#append(last, request);
    return after && this.#replyTo(request, after);
  }

  /** To be called when another connection has written, and when what was written is taken back. */
  forget(): void {
    this.#written.clear();
  }

  commit(request: CommitRequest): TurnReply {
    if (request.create !== undefined) return this.#begin(request, request.create, { run: 0, cut: 0 });
    const before = this.#position(request.run, request.turn - 1);
    if (before === undefined) return taken;
    const after = this.#append(before, request);
    if (after === undefined) return taken;
    const { snapshot } = request;
    this.#keepHead(before, after, request);
    if (snapshot === undefined) return this.#replyTo(request, after);
    const written = this.#snapshots.write(after, request.turn, snapshot);
    return { ...this.#replyTo(request, { ...after, newest: undefined }), snapshot: written };
  }

  fork(request: ForkRequest): TurnReply {
    const cut = request.turn - 1;
    const origin = this.#position(request.from, cut);
    return origin === undefined ? taken : this.#begin(request, request.create, { run: origin.run, cut });
  }

  /** The run needs this program, too, for as long as it is here. */
  use(run: string, digest: string): void {
    this.#sql.insertUseByName.run(run, digest);
  }

  /** Brings every `head` up to date that a run at work has left behind. */
  settle(): void {
    this.#sql.settle.run();
  }

  #begin(request: TurnWrite, create: RunColumns, origin: { run: number; cut: number }): TurnReply {
    const { name, key, digest, pack_id: id, pack_version: version, setup, parent, started_at: at } = create;
    const made = this.#sql.insertRun.run(name, key, digest, id, version, setup, parent, at, runSum(create));
    if (made.changes === 0) return taken;
    const run = Number(made.lastInsertRowid);
    this.#sql.insertUse.run(run, digest);
    const start: Position = { run, hash: NO_HASH, bytes: 0, standing: "" };
    const before = origin.cut === 0 ? start : this.#copy(origin, run);
    const after = this.#append(before, request);
    assert(after !== undefined, "a new run has no turn yet");
    this.#putHead(after, request);
    return this.#replyTo(request, after);
  }

  #remember(name: string, written: Written): void {
    if (this.#written.size >= WRITTEN_MAX) this.#written.clear();
    this.#written.set(name, written);
  }

  #position(name: string, turn: number): Position | Written | undefined {
    const written = this.#written.get(name);
    if (written?.turn === turn) return written;
    return this.#sql.position.get(turn, name) as Position | undefined;
  }

  /** Turns and snapshots up to the cut, as rows of another run. */
  #copy({ run, cut }: { run: number; cut: number }, to: number): Position {
    const range = [keyOf(to, 0) - keyOf(run, 0), keyOf(run, 1), keyOf(run, cut)] as const;
    this.#sql.copyTurns.run(...range);
    this.#sql.copySnapshots.run(...range);
    this.#sql.copyPrograms.run(to, run);
    return this.#sql.copied.get(keyOf(to, cut)) as unknown as Position;
  }

  #append(before: Position | Written, request: TurnWrite): Written | undefined {
    const { turn, at, v, facts, standing, summary } = request;
    assert(turn <= TURN_MAX, `a run has at most ${TURN_MAX} turns`);
    const large = isLarge(facts);
    const content = large ? textHash(facts) : packText(facts);
    const blob = large ? squeeze(facts) : undefined;
    const bytes = before.bytes + (blob?.length ?? Buffer.byteLength(content));
    const hash = turnHash(before.hash, { turn, at, v, bytes, standing, summary, content });
    const [text, name] = large ? [null, content] : [content, null];
    const key = keyOf(before.run, turn);
    const done = this.#sql.insertTurn.run(key, at, v, bytes, standing, summary, text, name, hash);
    if (done.changes === 0) return undefined;
    if (blob !== undefined) this.#sql.insertBlob.run(content, blob);
    const newest = "newest" in before ? before.newest : undefined;
    const after = { run: before.run, turn, hash, bytes, standing, newest };
    this.#remember(request.run, after);
    return after;
  }

  #replyTo({ run }: TurnWrite, after: Written): TurnReply {
    const newest = after.newest ?? this.#snapshots.newest(after.run);
    if (newest !== after.newest) this.#remember(run, { ...after, newest });
    const waits = overdue({ bytes: after.bytes, ...newest });
    return waits === 0 ? ordinary : { kind: "turn", written: true, overdue: waits };
  }

  /**
   * Only a run at work may run ahead of its `head`, and not far: a lost last turn of any other is noticed.
   */
  #keepHead(before: Position, after: Position, { turn, at }: TurnWrite): void {
    if (before.standing !== after.standing) this.#putHead(after, { turn, at });
    else if (turn % HEAD_TURNS === 0 || standingOf(after.standing).work === 0) {
      this.#sql.moveHead.run(turn, after.hash, after.run);
    }
  }

  #putHead({ run, hash, standing }: Position, { turn, at }: Pick<TurnWrite, "turn" | "at">): void {
    const { status, work, asks, due } = standingOf(standing);
    this.#sql.putHead.run(run, turn, hash, status, work, due);
    if (asks) this.#sql.ask.run(run, at);
    else this.#sql.askNoMore.run(run);
  }
}

/** UTF-8 takes at most three bytes for each unit of a string. */
const isLarge = (text: string): boolean =>
  text.length * 3 > ROW_BYTES_MAX && Buffer.byteLength(text) > ROW_BYTES_MAX;

function statements(db: DatabaseSync) {
  const position = `t.id >> ${TURN_BITS} AS run, lower(hex(t.hash)) AS hash, t.bytes, t.standing`;
  const first = `(r.id << ${TURN_BITS})`;
  const turn = "at, v, bytes, standing, summary, facts, blob, hash";
  return {
    position: db.prepare(`SELECT ${position} FROM run r JOIN turn t ON t.id = ${first} + ? WHERE r.name = ?`),
    copied: db.prepare(`SELECT ${position} FROM turn t WHERE t.id = ?`),
    insertRun: db.prepare(`INSERT INTO run
      (name, key, digest, pack_id, pack_version, setup, parent, started_at, sum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, unhex(?)) ON CONFLICT DO NOTHING`),
    insertUse: db.prepare(
      "INSERT INTO run_program (run, digest) SELECT ?, digest FROM program WHERE digest = ?",
    ),
    insertUseByName: db.prepare(`INSERT INTO run_program (run, digest)
      SELECT r.id, p.digest FROM run r, program p WHERE r.name = ? AND p.digest = ? ON CONFLICT DO NOTHING`),
    insertTurn: db.prepare(`INSERT INTO turn (id, ${turn})
      VALUES (?, ?, ?, ?, ?, ?, ?, unhex(?), unhex(?)) ON CONFLICT DO NOTHING`),
    insertBlob: db.prepare("INSERT INTO blob (hash, data) VALUES (unhex(?), ?) ON CONFLICT DO NOTHING"),
    putHead:
      db.prepare(`INSERT INTO head (run, turn, hash, status, work, due) VALUES (?, ?, unhex(?), ?, ?, ?)
      ON CONFLICT (run) DO UPDATE SET turn = excluded.turn, hash = excluded.hash, status = excluded.status,
      work = excluded.work, due = excluded.due`),
    ask: db.prepare("INSERT INTO inbox (run, since) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    askNoMore: db.prepare("DELETE FROM inbox WHERE run = ?"),
    moveHead: db.prepare("UPDATE head SET turn = ?, hash = unhex(?) WHERE run = ?"),
    settle: db.prepare(`UPDATE head SET turn = last.turn, hash = last.hash FROM turn AS last
      WHERE head.work = 1 AND last.id = ${newestTurn("head.run")} AND head.turn < last.turn`),
    copyTurns: db.prepare(`INSERT INTO turn (id, ${turn})
      SELECT id + ?, ${turn} FROM turn WHERE id BETWEEN ? AND ?`),
    copySnapshots: db.prepare(`INSERT INTO snapshot (id, fold, bytes, covers, logs, data, sum)
      SELECT id + ?, fold, bytes, covers, logs, data, sum FROM snapshot WHERE id BETWEEN ? AND ?`),
    copyPrograms: db.prepare(`INSERT INTO run_program (run, digest)
      SELECT ?, digest FROM run_program WHERE run = ? ON CONFLICT DO NOTHING`),
  };
}
