// Group commit: all turns that wait at a moment go to the database in one statement, which is one transaction
// and one flush. A turn is taken only if the journal stands where it goes on from; the row of `head` is the
// lock.

import { setImmediate } from "node:timers/promises";
import { Fault } from "../../engine/ports.ts";
import type { Connections, Query } from "./connections.ts";
import { NEWS_BYTES } from "./schema.ts";
import type { TurnValues } from "./turn-columns.ts";

export interface NextTurn {
  /** The run's number. */
  readonly run: string;
  readonly values: TurnValues;
}

export interface TurnWritten {
  /** Who drives the run now. */
  readonly driver: string | null;
  /** Before this turn there was work that nobody had: whoever has the run now has not seen it. */
  readonly left: boolean;
}

interface Waiting {
  readonly next: NextTurn;
  readonly resolve: (written: TurnWritten | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Turns in one statement, and bytes of them: its values must stay of a size that is quickly sent. */
const GROUP_MAX = 256;
const GROUP_BYTES = 8 * 1024 * 1024;

export interface GroupOptions {
  readonly connections: Connections;
  /** Who takes on runs that get work and have nobody; null when this process takes none. */
  readonly driver: () => string | null;
}

export class CommitGroups {
  readonly #options: GroupOptions;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  /** Undefined when the journal has moved on, or the run is gone. */
  write(next: NextTurn): Promise<TurnWritten | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ next, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      // Who is about to come in this moment comes along, and so does who was just answered and goes on at
      // once: one large group costs less than two that overlap.
      await setImmediate();
      const count = groupSize(this.#waiting);
      const group = this.#waiting.slice(0, count);
      this.#waiting = this.#waiting.slice(count);
      await this.#writeGroup(group);
    }
    this.#isWriting = false;
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const written = await this.#written(group.map(({ next }) => next));
      for (const { next, resolve } of group) resolve(written.get(next.run));
    } catch (error) {
      // What the database refuses of one turn must not be the end of all the others.
      if (group.length > 1 && !isAway(error)) for (const one of group) await this.#writeGroup([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  /** After a lost connection the hashes tell which turns were kept; the others are sent again. */
  async #written(turns: readonly NextTurn[]): Promise<ReadonlyMap<string, TurnWritten>> {
    const { connections } = this.#options;
    const kept = new Map<string, TurnWritten>();
    const send = async (query: Query) => {
      const left = turns.filter(({ run }) => !kept.has(run));
      if (left.length > 0) for (const [run, written] of await this.#send(query, left)) kept.set(run, written);
      return kept;
    };
    return connections.write(send, async (query) => {
      for (const [run, written] of await find(query, turns)) kept.set(run, written);
      return kept.size === turns.length ? kept : undefined;
    });
  }

  async #send(query: Query, turns: readonly NextTurn[]): Promise<ReadonlyMap<string, TurnWritten>> {
    const column = <T>(value: (next: NextTurn) => T): T[] => turns.map(value);
    const { rows } = await query.query<TurnWritten & { run: string }>({
      name: "commit",
      text: COMMIT,
      values: [
        column(({ run }) => run),
        column(({ values }) => values.turn),
        column(({ values }) => values.at),
        column(({ values }) => values.v),
        column(({ values }) => values.bytes),
        column(({ values }) => values.standing),
        column(({ values }) => values.summary),
        column(({ values }) => values.facts),
        column(({ values }) => values.before),
        column(({ values }) => values.hash),
        column(({ values }) => values.status),
        column(({ values }) => values.work),
        column(({ values }) => values.due),
        this.#options.driver(),
      ],
    });
    return new Map(rows.map(({ run, driver, left }) => [run, { driver, left }]));
  }
}

function groupSize(waiting: readonly Waiting[]): number {
  let bytes = 0;
  const most = Math.min(GROUP_MAX, waiting.length);
  for (let count = 0; count < most; count++) {
    bytes += waiting[count]?.next.values.facts.length ?? 0;
    // One that is larger by itself goes alone.
    if (bytes > GROUP_BYTES && count > 0) return count;
  }
  return most;
}

const isAway = (error: unknown): boolean => error instanceof Fault && error.retry === "later";

/** Turns of the group that are in the journal, as we wrote them. */
async function find(query: Query, turns: readonly NextTurn[]): Promise<ReadonlyMap<string, TurnWritten>> {
  const { rows } = await query.query<{ run: string; driver: string | null }>(
    `SELECT t.run::text AS run, h.driver
      FROM unnest($1::bigint[], $2::int[], $3::text[]) AS g(run, turn, hash)
      JOIN turn t ON t.run = g.run AND t.turn = g.turn AND t.hash = decode(g.hash, 'hex')
      JOIN head h ON h.run = t.run`,
    [
      turns.map(({ run }) => run),
      turns.map(({ values }) => values.turn),
      turns.map(({ values }) => values.hash),
    ],
  );
  // How it was before is not known any more.
  return new Map(rows.map(({ run, driver }) => [run, { driver, left: true }]));
}

/**
 * A run that has no work left is let go by the turn that says so. Who listens is told when a run begins or
 * ends to wait, and when somebody else's run was given work.
 */
const COMMIT = `WITH t AS (
  SELECT * FROM unnest($1::bigint[], $2::int[], $3::float8[], $4::int[], $5::bigint[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::boolean[], $13::float8[])
    AS t(run, turn, at, v, bytes, standing, summary, facts, before, hash, status, work, due)
), old AS (
  SELECT h.run, h.status, h.driver IS NULL AND h.work AS is_left FROM t JOIN head h ON h.run = t.run
    WHERE h.turn = t.turn - 1 AND h.hash = decode(t.before, 'hex') ORDER BY h.run FOR UPDATE OF h
), up AS (
  UPDATE head h SET turn = t.turn, hash = decode(t.hash, 'hex'), bytes = t.bytes, status = t.status,
    work = t.work, due = t.due,
    driver = CASE WHEN t.work THEN coalesce(h.driver, $14) END,
    since = CASE WHEN split_part(t.standing, ' ', 2)::int & 2 = 0 THEN NULL ELSE coalesce(h.since, t.at) END
  FROM t, old WHERE old.run = t.run AND h.run = t.run
  RETURNING h.run, h.turn, h.driver, old.status <> t.status OR h.driver IS DISTINCT FROM $14 AS is_news,
    old.is_left
), put AS (
  INSERT INTO turn (run, turn, at, v, bytes, standing, summary, facts, hash)
  SELECT t.run, t.turn, t.at, t.v, t.bytes, t.standing, t.summary, t.facts, decode(t.hash, 'hex')
  FROM t JOIN up ON up.run = t.run
), news AS (
  SELECT count(pg_notify('packloop', r.name)) AS count FROM up JOIN run r ON r.id = up.run
    WHERE up.is_news AND octet_length(r.name) < ${NEWS_BYTES}
)
SELECT up.run::text AS run, up.driver, up.is_left AS left FROM up, news`;
