// A PostgreSQL server of our own for tests: a fresh cluster in a temporary folder, reached by a socket in it, so
// that no port is taken and nothing is left behind.

import { type ChildProcess, type ExecFileOptions, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readdirSync } from "node:fs";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";

const execute = promisify(execFile);

export interface PostgresServer extends AsyncDisposable {
  /** Of a database that exists already; as the owner of everything unless a role is named. */
  readonly url: (place?: { readonly database?: string; readonly role?: string }) => string;
  /** Where it is reached; for a proxy in between. */
  readonly socket: string;
  /** Of the process that all others of the server are children of. */
  readonly pid: () => number;
  /** Runs statements as the owner. */
  readonly run: (sql: string, database?: string) => Promise<void>;
  /** Ends the server without a farewell, as a crash would. */
  readonly crash: () => Promise<void>;
  /** Ends the server in order, whoever is connected. */
  readonly stop: () => Promise<void>;
  /** Starts it again after either. */
  readonly start: () => Promise<void>;
  /** Ends every connection. */
  readonly cut: () => Promise<void>;
  /** A server that follows this one and can only be read. */
  readonly standby: () => Promise<PostgresServer>;
}

export interface PostgresOptions {
  /** For figures: as a server that keeps its promises after a loss of power. */
  readonly fsync?: boolean;
  /** Lines of `pg_hba.conf` ahead of the one that trusts everybody. */
  readonly access?: readonly string[];
}

/** Why there can be no server here; undefined when there can. */
export function postgresMissing(): string | undefined {
  if (programFolder() === undefined) return "PostgreSQL's programs are not installed";
  if (process.getuid?.() === 0 && otherUser() === undefined) return "PostgreSQL does not run as root";
  return undefined;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const place = await newPlace();
  const initial = ["-D", place.data, "-U", "owner", "-A", "trust", "-E", "UTF8"];
  await execute(join(place.programs, "initdb"), [...initial, "--no-sync", "--no-instructions"], place.as);
  const access = join(place.data, "pg_hba.conf");
  const lines = [...(options.access ?? []), await readFile(access, "utf8")];
  await writeFile(access, lines.join("\n"));
  return serverIn(place, options);
}

interface Place {
  readonly programs: string;
  readonly folder: string;
  readonly data: string;
  readonly as: ExecFileOptions;
}

async function newPlace(): Promise<Place> {
  const programs = programFolder();
  if (programs === undefined) throw new Error("PostgreSQL's programs are not installed");
  const folder = await mkdtemp(join(tmpdir(), "pg-"));
  const user = process.getuid?.() === 0 ? otherUser() : undefined;
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const as = { cwd: folder, env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", TZ: "UTC" }, ...user };
  return { programs, folder, data: join(folder, "data"), as };
}

async function serverIn(place: Place, { fsync = false }: PostgresOptions): Promise<PostgresServer> {
  const { folder } = place;
  const settings = {
    listen_addresses: "",
    unix_socket_directories: folder,
    fsync: fsync ? "on" : "off",
    max_connections: "100",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const begin = async () => {
    const started = spawn(join(place.programs, "postgres"), ["-D", place.data, ...args], {
      ...place.as,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await ready(started);
    return started;
  };
  let server = await begin();
  const url: PostgresServer["url"] = ({ database = "postgres", role = "owner" } = {}) =>
    `postgresql://${role}@localhost/${database}?host=${encodeURIComponent(folder)}`;
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode === null && server.signalCode === null && server.kill(signal))
      await once(server, "exit");
  };
  const run: PostgresServer["run"] = async (sql, database) => {
    const client = new Client({ connectionString: url(database === undefined ? {} : { database }) });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  return {
    ...{ url, run, socket: join(folder, ".s.PGSQL.5432"), pid: () => server.pid ?? 0 },
    crash: () => end("SIGQUIT"),
    // Fast, not smart: connections that are still open do not hold it up.
    stop: () => end("SIGINT"),
    start: async () => {
      server = await begin();
    },
    cut: () => run(CUT),
    standby: () => standbyOf(place),
    [Symbol.asyncDispose]: async () => {
      await end("SIGINT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

async function standbyOf(origin: Place): Promise<PostgresServer> {
  const place = await newPlace();
  const copy = ["-D", place.data, "-h", origin.folder, "-U", "owner", "-R", "--no-sync", "-c", "fast"];
  await execute(join(place.programs, "pg_basebackup"), copy, place.as);
  return serverIn(place, {});
}

function programFolder(): string | undefined {
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const versions = "/usr/lib/postgresql";
  const installed = isReadable(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  // The version's own folder first: a link to `postgres` elsewhere may not find what belongs to it.
  const folders = [...installed.map((version) => join(versions, version, "bin")), ...path];
  return folders.find((folder) => ["initdb", "postgres"].every((name) => isReadable(join(folder, name))));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function otherUser(): { readonly uid: number; readonly gid: number } | undefined {
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) =>
        Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // There is no such user: try the next.
    }
  }
  return undefined;
}

function ready(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = "";
  server.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-4000);
    if (/ready to accept (read-only )?connections/.test(said)) resolve();
  });
  server.once("exit", (code) => reject(new Error(`PostgreSQL ended with code ${code}: ${said}`)));
  return promise;
}
