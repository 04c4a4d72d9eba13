// A PostgreSQL server of our own for tests: a fresh cluster in a temporary folder, reached by a socket in it, so
// that no port is taken and nothing is left behind.

import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readdirSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";

const execute = promisify(execFile);

export interface PostgresServer extends AsyncDisposable {
  /** Of a database that exists already; as the owner of everything unless a role is named. */
  readonly url: (place?: { readonly database?: string; readonly role?: string }) => string;
  /** Runs statements as the owner. */
  readonly run: (sql: string, database?: string) => Promise<void>;
  /** Ends the server without a farewell, as a crash would. */
  readonly crash: () => Promise<void>;
}

/** Why there can be no server here; undefined when there can. */
export function postgresMissing(): string | undefined {
  if (programFolder() === undefined) return "PostgreSQL's programs are not installed";
  if (process.getuid?.() === 0 && otherUser() === undefined) return "PostgreSQL does not run as root";
  return undefined;
}

export async function startPostgres(): Promise<PostgresServer> {
  const programs = programFolder();
  if (programs === undefined) throw new Error("PostgreSQL's programs are not installed");
  const folder = await mkdtemp(join(tmpdir(), "pg-"));
  const user = process.getuid?.() === 0 ? otherUser() : undefined;
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const as = { cwd: folder, env: { PATH: process.env["PATH"], LC_ALL: "C.UTF-8", TZ: "UTC" }, ...user };
  const data = join(folder, "data");
  const initial = ["-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"];
  await execute(join(programs, "initdb"), initial, as);
  const settings = {
    listen_addresses: "",
    unix_socket_directories: folder,
    fsync: "off",
    max_connections: "100",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(programs, "postgres"), ["-D", data, ...args], {
    ...as,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url: PostgresServer["url"] = ({ database = "postgres", role = "owner" } = {}) =>
    `postgresql://${role}@localhost/${database}?host=${encodeURIComponent(folder)}`;
  await ready(server);
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode === null && server.signalCode === null && server.kill(signal))
      await once(server, "exit");
  };
  return {
    url,
    run: async (sql, database) => {
      const client = new Client({ connectionString: url(database === undefined ? {} : { database }) });
      await client.connect();
      try {
        await client.query(sql);
      } finally {
        await client.end();
      }
    },
    crash: () => end("SIGQUIT"),
    [Symbol.asyncDispose]: async () => {
      // Fast, not smart: connections that are still open do not hold it up.
      await end("SIGINT");
      await rm(folder, { recursive: true, force: true });
    },
  };
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
    if (said.includes("ready to accept connections")) resolve();
  });
  server.once("exit", (code) => reject(new Error(`PostgreSQL ended with code ${code}: ${said}`)));
  return promise;
}
