// Writes beside the turns of runs at work: new runs, forks, journals from elsewhere, programs, snapshots, and
// the removal of runs. Each is one transaction; after a lost connection it looks whether it was kept.

import { must } from "../../base/assert.ts";
import type { JsonObject } from "../../base/json.ts";
import { itemsOf } from "../../base/log.ts";
import { applyTurn } from "../../core/apply.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import type { Commit, ForkCommit, RunCreation, TakenJournal } from "../../engine/ports.ts";
import { runColumns, runSum, standingOf } from "../journal/run-record.ts";
import { FOLD_VERSION, logsOf, withoutLogs } from "../journal/snapshot.ts";
import { squeeze } from "../journal/squeeze.ts";
import { sumOf } from "../journal/turn-hash.ts";
import { digestsOf, recordOf } from "../record.ts";
import type { Connections, Query } from "./connections.ts";
import type { Head } from "./head-memory.ts";
import { NEWS_BYTES } from "./schema.ts";
import { type Position, START, type TurnValues, toText, toTextOrNull, turnValues } from "./turn-columns.ts";

/** Where a journal stands that was begun, and who drives its run. */
export interface Begun extends Head {
  readonly driver: string | null;
}

export class JournalWriter {
  readonly #connections: Connections;
  readonly #driver: () => string | null;

  constructor(connections: Connections, driver: () => string | null) {
    this.#connections = connections;
    this.#driver = driver;
  }

  /** A new run with its first turn; undefined when the name or the key is taken. */
  create({
    run: name,
    row,
    after,
    create,
  }: Commit & { readonly create: RunCreation }): Promise<Begun | undefined> {
    const values = turnValues(START, row, after);
    return this.#write(name, values, async (query) => {
      const run = await insertRun(query, { name, create, after });
      return run === undefined ? undefined : this.#begin(query, run, values);
    });
  }

  fork({ from, turn, run: name, row, after, create }: ForkCommit): Promise<Begun | undefined> {
    // Its values depend on the origin, which is read in the same transaction; the hash is known only then.
    const known: { values?: TurnValues } = {};
    const work = async (query: Query) => {
      const origin = await position(query, from, turn);
      if (origin === undefined) return undefined;
      const run = await insertRun(query, { name, create, after });
      if (run === undefined) return undefined;
      for (const text of COPY) await query.query(text, [run, origin.run, turn]);
      known.values = turnValues(origin, row, after);
      return this.#begin(query, run, known.values);
    };
    return this.#transaction(name, () => known.values, work);
  }

  async take({ run: name, rows, shared, end, create }: TakenJournal): Promise<Begun | undefined> {
    let folded: Run = emptyRun;
    const turns = rows.map((row) => {
      folded = applyTurn(folded, row);
      return { row, after: folded };
    });
    const known: { values?: TurnValues } = {};
    const work = async (query: Query) => {
      const before = shared === 0 ? START : await position(query, name, shared, "newest");
      if (before === undefined) return undefined;
      const isThere = "run" in before;
      const run = isThere ? (before.run as string) : await insertRun(query, { name, create, after: end });
      if (run === undefined) return undefined;
      let at: Position = before;
      for (const { row, after } of turns.slice(shared)) {
        const values = turnValues(at, row, after);
        if (known.values !== undefined && known.values.turn === values.turn - 1)
          await insertTurns(query, run, [known.values]);
        known.values = values;
        at = values;
      }
      for (const digest of digestsOf(rows)) await query.query(USE, [run, toText(digest)]);
      return this.#begin(query, run, must(known.values, "a journal that is taken has turns"));
    };
    return this.#transaction(name, () => known.values, work);
  }

  async putProgram(digest: string, program: JsonObject, source: string): Promise<void> {
    const texts = [JSON.stringify(program), toText(source)] as const;
    const values = [toText(digest), ...texts, sumOf([digest, ...texts])];
    await this.#connections.read((query) =>
      query.query(
        `INSERT INTO program (digest, program, source, sum) VALUES ($1, $2, $3, $4)
          ON CONFLICT (digest) DO UPDATE SET put_at = now()`,
        values,
      ),
    );
  }

  /** A cache: written beside the turns, and only if the turn it stands for is there. */
  async snapshot({ run, turn, hash, bytes: covers }: Head, after: Run): Promise<number> {
    const logs = logsOf(after).map((log) => itemsOf(log));
    const data = squeeze(JSON.stringify({ run: JSON.stringify(withoutLogs(after)), logs }));
    await this.#connections.read((query) =>
      query.query(
        `INSERT INTO snapshot (run, turn, fold, bytes, covers, data, sum)
          SELECT $1, $2, $3, $4, $5, $6, $7 FROM turn WHERE run = $1 AND turn = $2 AND hash = decode($8, 'hex')
          ON CONFLICT DO NOTHING`,
        [run, turn, FOLD_VERSION, data.length, covers, data, sumOf([FOLD_VERSION, covers, hash], data), hash],
      ),
    );
    return data.length;
  }

  async remove(names: readonly string[]): Promise<void> {
    const work = async (query: Query) => {
      await query.query("SET LOCAL packloop.removing = 'on'");
      const found = await query.query<{ id: string }>(
        "SELECT id::text FROM run WHERE name = ANY($1::text[])",
        [names.map(toText)],
      );
      const runs = [found.rows.map(({ id }) => id)];
      // Its head first: a turn that is being written to it then finds nothing to go on from.
      for (const table of ["head", "turn", "snapshot", "run_program"])
        await query.query(`DELETE FROM ${table} WHERE run = ANY($1::bigint[])`, runs);
      await query.query("DELETE FROM run WHERE id = ANY($1::bigint[])", runs);
      return true;
    };
    await this.#connections.transaction(work, async () => undefined);
  }

  /**
   * Programs that no run needs; bytes of their texts. One that was put lately, here or in another process, is
   * for a run that is about to start.
   */
  async collect(keep: Iterable<string>, latelyMs: number): Promise<number> {
    const { rows } = await this.#connections.read((query) =>
      query.query<{ bytes: number | null }>(
        `WITH gone AS (DELETE FROM program p WHERE put_at <= now() - $1 * interval '1 ms' AND digest <> ALL ($2::text[])
            AND NOT EXISTS (SELECT 1 FROM run_program u WHERE u.digest = p.digest)
            RETURNING octet_length(program) + octet_length(source) AS bytes)
          SELECT sum(bytes)::float8 AS bytes FROM gone`,
        [latelyMs, [...keep].map(toText)],
      ),
    );
    return rows[0]?.bytes ?? 0;
  }

  #write(
    name: string,
    values: TurnValues,
    work: (query: Query) => Promise<Begun | undefined>,
  ): Promise<Begun | undefined> {
    return this.#transaction(name, () => values, work);
  }

  async #transaction(
    name: string,
    values: () => TurnValues | undefined,
    work: (query: Query) => Promise<Begun | undefined>,
  ): Promise<Begun | undefined> {
    const { head } = await this.#connections.transaction(
      async (query) => ({ head: await work(query) }),
      async (query) => {
        const written = values();
        const found = written && (await position(query, name, written.turn));
        return found !== undefined && found.hash === written?.hash
          ? { head: { ...found, covers: 0, snapshot: 0 } }
          : undefined;
      },
    );
    return head;
  }

  async #begin(query: Query, run: string, values: TurnValues): Promise<Begun> {
    await insertTurns(query, run, [values]);
    const { turn, hash, bytes, status, work, due, at, standing } = values;
    const driver = work ? this.#driver() : null;
    await query.query({
      name: "head",
      text: `INSERT INTO head (run, turn, hash, bytes, status, work, due, driver, since)
        VALUES ($1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8, $9)
        ON CONFLICT (run) DO UPDATE SET turn = excluded.turn, hash = excluded.hash, bytes = excluded.bytes,
          status = excluded.status, work = excluded.work, due = excluded.due, driver = excluded.driver,
          since = excluded.since`,
      values: [run, turn, hash, bytes, status, work, due, driver, standingOf(standing).asks ? at : null],
    });
    await query.query(
      `SELECT pg_notify('packloop', name) FROM run WHERE id = $1 AND octet_length(name) < ${NEWS_BYTES}`,
      [run],
    );
    return { run, turn, hash, bytes, covers: 0, snapshot: 0, driver };
  }
}

const USE = `INSERT INTO run_program (run, digest) SELECT $1::bigint, digest FROM program WHERE digest = $2
  ON CONFLICT DO NOTHING`;

const TURN = "at, v, bytes, standing, summary, facts, hash";

const COPY = [
  `INSERT INTO turn (run, turn, ${TURN}) SELECT $1::bigint, turn, ${TURN} FROM turn WHERE run = $2 AND turn <= $3`,
  `INSERT INTO snapshot (run, turn, fold, bytes, covers, data, sum)
    SELECT $1::bigint, turn, fold, bytes, covers, data, sum FROM snapshot WHERE run = $2 AND turn <= $3`,
  `INSERT INTO run_program (run, digest)
    SELECT $1::bigint, digest FROM run_program WHERE run = $2 AND $3::int >= 0 ON CONFLICT DO NOTHING`,
];

async function position(
  query: Query,
  name: string,
  turn: number,
  newest?: "newest",
): Promise<(Position & Pick<Begun, "run" | "driver">) | undefined> {
  const { rows } = await query.query<Position & Pick<Begun, "run" | "driver"> & { newest: number }>(
    `SELECT r.id::text AS run, t.turn, encode(t.hash, 'hex') AS hash, t.bytes::float8 AS bytes, h.turn AS newest,
        h.driver
      FROM run r JOIN head h ON h.run = r.id JOIN turn t ON t.run = r.id AND t.turn = $2
      WHERE r.name = $1 FOR UPDATE OF h`,
    [toText(name), turn],
  );
  const [found] = rows;
  if (found === undefined || (newest !== undefined && found.newest !== turn)) return undefined;
  const { newest: _newest, ...place } = found;
  return place;
}

async function insertRun(
  query: Query,
  { name, create, after }: { readonly name: string; readonly create: RunCreation; readonly after: Run },
): Promise<string | undefined> {
  const columns = runColumns(recordOf(name, create, after));
  const texts = {
    ...columns,
    name: toText(name),
    key: toTextOrNull(create.key ?? null),
    digest: toText(create.digest),
    pack_id: toText(create.packId),
    pack_version: toText(create.packVersion),
    parent: toTextOrNull(after.parent?.run ?? null),
  };
  const { key, digest, pack_id: pack, pack_version: version, setup, parent, started_at: at } = texts;
  const { rows } = await query.query<{ id: string }>({
    name: "run",
    text: `INSERT INTO run (name, key, digest, pack_id, pack_version, setup, parent, started_at, sum)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id::text`,
    values: [texts.name, key, digest, pack, version, setup, parent, at, runSum(texts)],
  });
  const run = rows[0]?.id;
  if (run !== undefined) await query.query(USE, [run, digest]);
  return run;
}

async function insertTurns(query: Query, run: string, turns: readonly TurnValues[]): Promise<void> {
  for (const { turn, at, v, bytes, standing, summary, facts, hash } of turns)
    await query.query({
      name: "turn",
      text: `INSERT INTO turn (run, turn, ${TURN}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, decode($9, 'hex'))`,
      values: [run, turn, at, v, bytes, standing, summary, facts, hash],
    });
}
