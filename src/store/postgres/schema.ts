// The tables of a store in PostgreSQL: as in SQLite, with large texts left to the database's own compression.
// `run` holds what a run was created with and `turn` its journal: neither is ever changed. `head` holds where
// each journal stands and who drives the run; `worker` holds who is alive.

/** Each entry brings a database from the version of its index to the next. An entry is never changed. */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE program (
  digest text PRIMARY KEY,
  program text NOT NULL,
  source text NOT NULL,
  sum text NOT NULL,
  put_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  key text COLLATE "C" UNIQUE,
  digest text NOT NULL,
  pack_id text NOT NULL,
  pack_version text NOT NULL,
  setup text NOT NULL,
  parent text COLLATE "C",
  started_at double precision NOT NULL,
  sum text NOT NULL
);
CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;
CREATE TABLE run_program (
  run bigint NOT NULL,
  digest text NOT NULL,
  PRIMARY KEY (run, digest)
);

CREATE TABLE turn (
  run bigint NOT NULL,
  turn integer NOT NULL,
  at double precision NOT NULL,
  v integer NOT NULL,
  bytes bigint NOT NULL,
  standing text NOT NULL,
  summary text NOT NULL,
  facts text NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (run, turn)
);

-- Rewritten by every turn. Room in each page and no index on what every turn changes: the new row then stays
-- on the page of the old one and no index is touched.
CREATE TABLE head (
  run bigint PRIMARY KEY,
  turn integer NOT NULL,
  hash bytea NOT NULL,
  bytes bigint NOT NULL,
  status text NOT NULL,
  work boolean NOT NULL,
  due double precision,
  driver text,
  -- When it began to ask somebody for something; null while it does not.
  since double precision
) WITH (fillfactor = 40);
CREATE INDEX head_status ON head (status, run);
CREATE INDEX head_free ON head (run) WHERE work AND driver IS NULL;
CREATE INDEX head_due ON head (due) WHERE due IS NOT NULL;
CREATE INDEX head_driver ON head (driver) WHERE driver IS NOT NULL;
CREATE INDEX head_since ON head (since) WHERE since IS NOT NULL;

CREATE TABLE snapshot (
  run bigint NOT NULL,
  turn integer NOT NULL,
  fold integer NOT NULL,
  bytes bigint NOT NULL,
  covers bigint NOT NULL,
  data bytea NOT NULL,
  sum text NOT NULL,
  PRIMARY KEY (run, turn)
);

CREATE TABLE worker (
  id text PRIMARY KEY,
  place text NOT NULL,
  beat timestamptz NOT NULL
);

CREATE FUNCTION is_never_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME;
END $$;
-- A run is removed whole, by who says so for the length of a transaction.
CREATE FUNCTION goes_with_its_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('packloop.removing', true), '') <> 'on' THEN
    RAISE EXCEPTION 'rows of % are only removed with their run', TG_TABLE_NAME;
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER turn_is_never_changed BEFORE UPDATE ON turn FOR EACH ROW EXECUTE FUNCTION is_never_changed();
CREATE TRIGGER run_is_never_changed BEFORE UPDATE ON run FOR EACH ROW EXECUTE FUNCTION is_never_changed();
CREATE TRIGGER turn_goes_with_its_run BEFORE DELETE ON turn FOR EACH ROW EXECUTE FUNCTION goes_with_its_run();
CREATE TRIGGER run_goes_whole BEFORE DELETE ON run FOR EACH ROW EXECUTE FUNCTION goes_with_its_run();
`,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Everybody who changes tables of a schema waits here; the number has no meaning. */
export const MIGRATION_LOCK = 0x50_4b_4c_50;

/** Runs with longer names are not told of: the server takes no longer news. */
export const NEWS_BYTES = 8_000;
