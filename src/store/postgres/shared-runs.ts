// Which runs of a database are whose. Each process that drives runs says every moment that it lives; the runs
// of one that has not for a while are free. To have a run is an economy: two that both think they have it
// cannot both write its next turn.

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { RunStanding, SharedRuns } from "../../engine/ports.ts";
import type { TurnWritten } from "./commit-groups.ts";
import type { Connections } from "./connections.ts";
import type { HeadMemory } from "./head-memory.ts";
import { fromText, toText } from "./turn-columns.ts";

/** Without a sign of life for so long, a process has lost its runs. */
const DEAD_AFTER_MS = 5_000;

/** So long after a sign of life nobody can have taken them, with a moment for what is done next. */
const SURE_MS = 4_000;

/** A sign of life that is not acknowledged by then went to a connection that nobody is at the end of. */
const BEAT_ANSWER_MS = 5_000;

/**
 * Who has been away itself waits so long before it judges others: after an outage all of them come back, and
 * the first must not take the runs of the rest.
 */
const STEADY_MS = 2_500;

/** How soon a connection that listens is replaced when it is lost. */
const LISTEN_AGAIN_MS = 1_000;

export interface SharedRunsOptions {
  readonly connections: Connections;
  readonly heads: HeadMemory;
}

export class PostgresSharedRuns implements SharedRuns {
  readonly id = `${hostname()}-${process.pid}-${randomBytes(6).toString("hex")}`;
  readonly #options: SharedRunsOptions;
  readonly #ours = new Set<string>();
  /** Those of them that were taken while they wanted nothing. */
  readonly #quiet = new Set<string>();
  /**
   * The turns up to which this process knows what its runs ask. To have read a turn of somebody else is not
   * enough: only who writes a turn, or resumes the run, performs what it asks.
   */
  readonly #turns = new Map<string, number>();
  readonly #listeners = new Set<(run: string | undefined) => void>();
  #listening: Promise<(() => void) | undefined> | undefined;
  #again: NodeJS.Timeout | undefined;
  /** From its first sign of life on this process drives runs; before it only listens. */
  #drives = false;
  #closed = false;
  #beats = 0;
  #beatAt = Number.NEGATIVE_INFINITY;
  #sureSince = Number.NEGATIVE_INFINITY;
  /** The server's time when this process began, by its own clock that never jumps. */
  #epoch = Date.now() - performance.now();
  /** Since when every sign of life came in time. */
  #steadySince = 0;

  constructor(options: SharedRunsOptions) {
    this.#options = options;
  }

  /** Who takes on what this process gives work to. */
  get driver(): string | null {
    return this.#drives && !this.#closed ? this.id : null;
  }

  get ours(): Iterable<string> {
    return [...this.#ours];
  }

  get held(): number {
    return this.#ours.size - this.#quiet.size;
  }

  get isSure(): boolean {
    return performance.now() - this.#sureSince < SURE_MS;
  }

  now(): number {
    return this.#epoch + performance.now();
  }

  /** Looks at the server's clock. */
  async setClock(connections: Connections): Promise<void> {
    const sent = performance.now();
    const { rows } = await connections.read((query) => query.query<{ now: number }>(`SELECT ${NOW} AS now`));
    this.#told(sent, rows[0]?.now);
  }

  /** Between the two looks at our own clock it was then; a difference within that may be none. */
  #told(sent: number, now: number | undefined): void {
    if (now === undefined) return;
    const half = (performance.now() - sent) / 2;
    const epoch = now - sent - half;
    if (Math.abs(epoch - this.#epoch) > half + CLOCK_MS) this.#epoch = epoch;
  }

  isOurs(run: string): boolean {
    return this.#ours.has(run);
  }

  /** What a turn of ours found, or made, of who has the run. */
  wrote(name: string, turn: number, { driver, left }: Pick<TurnWritten, "driver" | "left">): void {
    const isNew = !this.#ours.has(name);
    this.#heard(name, driver);
    if (driver !== this.id) this.#turns.delete(name);
    // Behind a turn of somebody else there may be something that we have not looked at.
    else if (isNew ? !left : this.#turns.get(name) === turn - 1) this.#turns.set(name, turn);
  }

  #heard(name: string, driver: string | null): void {
    this.#quiet.delete(name);
    if (driver === this.id) this.#ours.add(name);
    else this.#ours.delete(name);
  }

  async claim(limit: number, now: number): Promise<readonly string[]> {
    if (limit <= 0 || this.driver === null) return [];
    return this.#claimed(
      `SELECT run FROM head WHERE work AND driver IS NULL
        UNION SELECT run FROM head WHERE due <= $2 AND driver IS NULL ORDER BY run LIMIT $3`,
      [now, limit],
    );
  }

  /** One that has ended and owes nobody anything is not to be had: nobody would ever let it go. */
  async claimOne(run: string): Promise<boolean> {
    if (this.isOurs(run)) return true;
    if (this.driver === null) return false;
    const found = await this.#claimed(
      `SELECT r.id AS run FROM run r JOIN head h ON h.run = r.id
        WHERE r.name = $2 AND (h.work OR h.status IN ('running', 'waiting'))`,
      [toText(run)],
    );
    return found.length > 0;
  }

  async #claimed(candidates: string, values: readonly unknown[]): Promise<readonly string[]> {
    const { rows } = await this.#options.connections.read((query) =>
      query.query<{ name: string; turn: number; quiet: boolean }>(
        `WITH wanted AS MATERIALIZED (${candidates}), free AS MATERIALIZED (
            SELECT h.run FROM head h JOIN wanted USING (run) WHERE h.driver IS NULL
            FOR UPDATE OF h SKIP LOCKED)
          UPDATE head h SET driver = $1 FROM free, run r WHERE h.run = free.run AND r.id = h.run
          RETURNING r.name, h.turn, NOT h.work AND coalesce(h.due > ${NOW}, true) AS quiet`,
        [this.id, ...values],
      ),
    );
    return rows.map(({ name, turn, quiet }) => {
      const claimed = fromText(name);
      this.#heard(claimed, this.id);
      // Who only waits is no load, however many of them are here.
      if (quiet) this.#quiet.add(claimed);
      this.#turns.set(claimed, turn);
      // Others have moved it since we last knew it.
      this.#options.heads.forget(claimed);
      return claimed;
    });
  }

  async letGo(runs: readonly string[]): Promise<void> {
    if (runs.length === 0) return;
    await this.#options.connections.read((query) => query.query(LET_GO, [this.id, runs.map(toText)]));
    for (const run of runs) this.#heard(run, null);
    for (const run of runs) this.#turns.delete(run);
  }

  async beat(): Promise<{ readonly moved: readonly string[]; readonly lost: readonly string[] }> {
    if (this.#closed) return { moved: [], lost: [] };
    const { connections, heads } = this.#options;
    const before = new Set(this.#ours);
    const place = `${hostname()} ${process.pid}`;
    const judges = this.#isSteady();
    const said = await connections.read(async (query) => {
      const sent = performance.now();
      const values = [this.id, place, judges ? DEAD_AFTER_MS : null];
      const beat = { name: "beat", text: BEAT, values, query_timeout: BEAT_ANSWER_MS };
      const { rows } = await query.query<{ now: number }>(beat);
      return { sent, now: rows[0]?.now };
    });
    this.#told(said.sent, said.now);
    this.#beatAt = performance.now();
    this.#drives = true;
    if (judges && this.#beats++ % ORPHANS_EVERY === 0)
      await connections.read((query) => query.query(ORPHANS));
    const { rows } = await connections.read((query) =>
      query.query<{ name: string; turn: number }>(
        `SELECT r.name, h.turn FROM head h JOIN run r ON r.id = h.run WHERE h.driver = $1`,
        [this.id],
      ),
    );
    const held = new Map(rows.map(({ name, turn }) => [fromText(name), turn]));
    for (const name of held.keys()) this.#ours.add(name);
    // From here on it is known which are ours still.
    this.#sureSince = said.sent;
    const moved = [...held].filter(([name, turn]) => (this.#turns.get(name) ?? 0) < turn);
    for (const [name, turn] of moved) {
      heads.forget(name);
      this.#turns.set(name, turn);
      this.#quiet.delete(name);
    }
    // Those that were let go by a turn of ours meanwhile are not lost.
    const lost = [...before].filter((name) => !held.has(name) && this.#ours.has(name));
    for (const name of lost) {
      this.#heard(name, null);
      this.#turns.delete(name);
    }
    return { moved: moved.map(([name]) => name), lost };
  }

  #isSteady(): boolean {
    const now = performance.now();
    if (now - this.#beatAt > STEADY_MS) this.#steadySince = now;
    return now - this.#steadySince >= STEADY_MS;
  }

  listen(heard: (run: string | undefined) => void): () => void {
    this.#listeners.add(heard);
    this.#listening ??= this.#connect();
    return () => this.#listeners.delete(heard);
  }

  async standing(runs: readonly string[]): Promise<ReadonlyMap<string, RunStanding>> {
    const { rows } = await this.#options.connections.read((query) =>
      query.query<{ name: string; turn: number; work: boolean }>(
        "SELECT r.name, h.turn, h.work FROM run r JOIN head h ON h.run = r.id WHERE r.name = ANY($1::text[])",
        [runs.map(toText)],
      ),
    );
    return new Map(rows.map(({ name, turn, work }) => [fromText(name), { turn, work }]));
  }

  /** Runs that were driven here are free for others at once. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#again);
    (await this.#listening)?.();
    if (!this.#drives) return;
    // Whoever cannot say farewell is missed after a while.
    await this.#options.connections.once((query) => query.query(FAREWELL, [this.id])).catch(() => undefined);
  }

  /** Gives what lets go of the connection. */
  async #connect(): Promise<(() => void) | undefined> {
    if (this.#closed) return undefined;
    let leave: (() => void) | undefined;
    try {
      const client = await this.#options.connections.own();
      let isLeft = false;
      leave = () => {
        if (!isLeft) client.release(true);
        isLeft = true;
      };
      const lost = () => {
        // One loss may be told several times.
        if (isLeft) return;
        leave?.();
        this.#connectAgain();
      };
      client.on("notification", ({ payload = "" }) =>
        this.#tell(payload === "" ? undefined : fromText(payload)),
      );
      client.on("error", lost).on("end", lost);
      await client.query("LISTEN packloop");
      // What happened before is not told; who listens looks around.
      this.#tell(undefined);
      return leave;
    } catch {
      // Being told is a comfort: who listens also looks by itself.
      leave?.();
      this.#connectAgain();
      return undefined;
    }
  }

  #connectAgain(): void {
    if (this.#closed || this.#again !== undefined) return;
    this.#again = setTimeout(() => {
      this.#again = undefined;
      this.#listening = this.#connect();
    }, LISTEN_AGAIN_MS);
    this.#again.unref();
  }

  #tell(run: string | undefined): void {
    for (const listener of this.#listeners) listener(run);
  }
}

/** Milliseconds since 1970 by the server's clock. */
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::float8";

/** Clocks that differ by less are the same. */
const CLOCK_MS = 2;

/** Says that we live, and frees the runs of those who do not; without a limit nobody is judged. */
const BEAT = `WITH me AS (
  INSERT INTO worker (id, place, beat) VALUES ($1, $2, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET beat = excluded.beat
), dead AS (
  DELETE FROM worker WHERE beat < clock_timestamp() - $3::float8 * interval '1 ms' AND id <> $1 RETURNING id
), freed AS (
  UPDATE head SET driver = NULL FROM dead WHERE head.driver = dead.id RETURNING head.run
), told AS (
  SELECT count(pg_notify('packloop', '')) FROM (SELECT FROM freed LIMIT 1) AS one
)
SELECT ${NOW} AS now FROM told`;

const LET_GO = `WITH freed AS (
  UPDATE head h SET driver = NULL FROM run r
    WHERE r.id = h.run AND h.driver = $1 AND r.name = ANY($2::text[]) RETURNING h.run
)
SELECT pg_notify('packloop', '') FROM freed LIMIT 1`;

/** Somebody who was given up and lived on may have had runs and died then. */
const ORPHANS = `UPDATE head SET driver = NULL WHERE driver IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM worker WHERE worker.id = head.driver)`;

/** Beats between looks for such runs. */
const ORPHANS_EVERY = 10;

const FAREWELL = `WITH me AS (DELETE FROM worker WHERE id = $1),
  freed AS (UPDATE head SET driver = NULL WHERE driver = $1 RETURNING run)
SELECT pg_notify('packloop', '') FROM freed LIMIT 1`;
