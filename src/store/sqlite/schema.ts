// The tables of a store. `run` holds what a run was created with and `turn` its journal: neither is ever
// changed. `head` holds what the journal folds to, one row per run, rewritten by every turn; `inbox` has the
// runs that may want something of somebody, in the order they began to. `snapshot`,
// `log` and `log_part` are a cache of folded runs; `blob` holds facts too large for a row; `program` holds
// packs by digest.

/** Read by `file(1)` and by us: "PKLP". */
export const APPLICATION_ID = 0x50_4b_4c_50;

/** 2 has `inbox`, and an index by pack. */
export const SCHEMA_VERSION = 2;

// A turn's key is its run's number and its own in one integer: rows of a run lie side by side in a table
// whose leaves hold rows of up to 4 KB. Keyed by two columns the same journal took a tenth more space.
export const TURN_BITS = 24;
const TURNS_MAX = 2 ** TURN_BITS;

/** Largest turn number of a run: 16,777,215. */
export const TURN_MAX = TURNS_MAX - 1;

export const keyOf = (run: number, turn: number): number => run * TURNS_MAX + Math.min(turn, TURN_MAX);
export const turnOf = (key: number): number => key % TURNS_MAX;

/** SQL for the key of the newest turn of the run whose number `run` gives. */
export const newestTurn = (run: string): string =>
  `(SELECT max(id) FROM turn WHERE id BETWEEN (${run} << ${TURN_BITS}) AND (${run} << ${TURN_BITS}) + ${TURN_MAX})`;

const INBOX = `
CREATE TABLE inbox (run INTEGER PRIMARY KEY, since REAL NOT NULL) STRICT;
CREATE INDEX inbox_since ON inbox (since);
CREATE INDEX run_pack ON run (pack_id);`;

/** From 1 to 2. Whether a run wants somebody shows with its next turn; until then it may. */
export const UPGRADE = `${INBOX}
INSERT INTO inbox (run, since)
  SELECT h.run, t.at FROM head h JOIN turn t ON t.id = (h.run << ${TURN_BITS}) + h.turn
  WHERE h.status IN ('waiting', 'running');
UPDATE meta SET value = 2 WHERE name = 'schema';`;

/** Statements that make an empty store, to be run in one transaction. */
export const SCHEMA = `
PRAGMA application_id = ${APPLICATION_ID};

CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE run (
  -- Numbers are never used again: one that is remembered for a removed run leads nowhere.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  key TEXT UNIQUE,
  digest TEXT NOT NULL,
  pack_id TEXT NOT NULL,
  pack_version TEXT NOT NULL,
  setup TEXT NOT NULL,
  parent TEXT,
  started_at REAL NOT NULL,
  sum BLOB NOT NULL
) STRICT;
CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;

CREATE TABLE turn (
  id INTEGER PRIMARY KEY,
  at REAL NOT NULL,
  v INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  standing TEXT NOT NULL,
  summary TEXT NOT NULL,
  facts TEXT,
  blob BLOB,
  hash BLOB NOT NULL,
  run INTEGER GENERATED ALWAYS AS (id >> ${TURN_BITS}) VIRTUAL,
  turn INTEGER GENERATED ALWAYS AS (id & ${TURN_MAX}) VIRTUAL
) STRICT;
CREATE INDEX turn_blob ON turn (blob) WHERE blob IS NOT NULL;

CREATE TABLE head (
  run INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL,
  hash BLOB NOT NULL,
  status TEXT NOT NULL,
  work INTEGER NOT NULL,
  due REAL
) STRICT;
CREATE INDEX head_status ON head (status);
CREATE INDEX head_work ON head (run) WHERE work = 1;
CREATE INDEX head_due ON head (due) WHERE due IS NOT NULL;

${INBOX}

CREATE TABLE blob (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data BLOB NOT NULL) STRICT;

CREATE TABLE snapshot (
  id INTEGER PRIMARY KEY,
  fold INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  covers INTEGER NOT NULL,
  logs TEXT NOT NULL,
  data BLOB NOT NULL,
  sum BLOB NOT NULL
) STRICT;
CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, length INTEGER NOT NULL) STRICT;
CREATE TABLE log_part (
  log INTEGER NOT NULL,
  start INTEGER NOT NULL,
  items BLOB NOT NULL,
  sum BLOB NOT NULL,
  PRIMARY KEY (log, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE program (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  program BLOB NOT NULL,
  source BLOB NOT NULL,
  sum BLOB NOT NULL
) STRICT;
CREATE TABLE run_program (
  run INTEGER NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (run, digest)
) STRICT, WITHOUT ROWID;

-- A run is removed whole: its number stands here for the length of the transaction that removes it.
CREATE TABLE removing (run INTEGER PRIMARY KEY) STRICT;

CREATE TRIGGER turn_is_not_changed BEFORE UPDATE ON turn
BEGIN SELECT RAISE(ABORT, 'a turn is never changed'); END;
CREATE TRIGGER turn_goes_with_its_run BEFORE DELETE ON turn
WHEN NOT EXISTS (SELECT 1 FROM removing WHERE run = old.id >> ${TURN_BITS})
BEGIN SELECT RAISE(ABORT, 'a turn is only removed with its run'); END;
CREATE TRIGGER run_is_not_changed BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'what a run was created with is never changed'); END;
CREATE TRIGGER run_goes_whole BEFORE DELETE ON run WHEN NOT EXISTS (SELECT 1 FROM removing WHERE run = old.id)
BEGIN SELECT RAISE(ABORT, 'a run is only removed whole'); END;
`;
