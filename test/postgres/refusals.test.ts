// What is wrong with a database is said in one line, whoever is asked; and what a role needs to be let in.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { sampleJournal } from "../../src/store/sample-journal.ts";
import { commitAll } from "../../src/store/stored-journal.ts";
import { folderWith, packloop } from "../cli/run-cli.ts";
import { files, start } from "../cli/work-pack.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "../postgres-server.ts";

/** The statements of docs/postgres.md: what a role needs, and how the journal is partitioned. */
const page = readFileSync(new URL("../../docs/postgres.md", import.meta.url), "utf8");
const [GRANTS = "", PARTITIONS = ""] = [...page.matchAll(/```sql\n([^`]*)```/g)].map(([, sql = ""]) => sql);

const FROZEN =
  /^`\S+` can only be read: `default_transaction_read_only` is on \(turn it off for this role or database\)$/;

describe.skipIf(postgresMissing() !== undefined)("a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({
      access: ["local all locked scram-sha-256", "local replication all trust"],
    });
    for (const sql of [
      "CREATE ROLE locked LOGIN PASSWORD 'right'",
      "CREATE ROLE nobody LOGIN",
      "CREATE ROLE driver LOGIN",
      "CREATE ROLE reader LOGIN",
      "CREATE DATABASE newer",
      "CREATE DATABASE bare",
      "CREATE DATABASE frozen",
      "ALTER DATABASE frozen SET default_transaction_read_only = on",
      "CREATE ROLE looker LOGIN SUPERUSER",
      "ALTER ROLE looker SET default_transaction_read_only = on",
      "CREATE ROLE late LOGIN CONNECTION LIMIT 0",
    ])
      await server.run(sql);
    for (const database of ["postgres", "newer"])
      await (await openPostgresStore(server.url({ database })))[Symbol.asyncDispose]();
    await server.run("UPDATE packloop.meta SET value = '99' WHERE name = 'version'", "newer");
    await server.run(GRANTS);
    await server.run(
      "GRANT USAGE ON SCHEMA packloop TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA packloop TO reader",
    );
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** What `run` says with this store. */
  function said(store: string, args: readonly string[] = start) {
    using folder = folderWith(files);
    const { code, stdout, stderr } = packloop([...args, "--store", store], { cwd: folder.path });
    return { code, stdout, stderr };
  }

  const withPassword = (url: string, password: string) => url.replace("locked@", `locked:${password}@`);
  const cases: readonly (readonly [what: string, url: () => string, line: RegExp])[] = [
    [
      "an address that is none",
      () => "postgres://[here",
      /^the store's address is not a URL \(postgres:\/\/\S+\)$/,
    ],
    [
      "a schema that is none",
      () => `${server.url()}&schema=a-b`,
      /^`a-b` is not a name for a schema \(a-z, 0-9, _\)$/,
    ],
    [
      "a port where nobody listens",
      () => "postgres://me:secret@127.0.0.1:1/db",
      /^the database `127\.0\.0\.1:1\/db` cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1$/,
    ],
    [
      "a host that there is not",
      () => "postgres://me:secret@nowhere.invalid/db",
      /^the database `nowhere\.invalid\/db` cannot be reached: getaddrinfo (ENOTFOUND|EAI_AGAIN) nowhere\.invalid$/,
    ],
    [
      "a wrong password",
      () => withPassword(server.url({ role: "locked" }), "wrong"),
      /^the database `\S+` refuses the user or password \(password authentication failed for user "locked"\)$/,
    ],
    [
      "no password",
      () => server.url({ role: "locked" }),
      /^the database `\S+` wants a password, and the address has none that fits \(SASL.*\)$/,
    ],
    [
      "a role that there is not",
      () => server.url({ role: "ghost" }),
      /^the database `\S+` refuses this user from here \(role "ghost" does not exist\)$/,
    ],
    [
      "a database that there is not",
      () => server.url({ database: "missing" }),
      /^there is no such database: `\S+\/missing` \(create it first\)$/,
    ],
    [
      "a role without rights",
      () => server.url({ role: "nobody" }),
      /^missing rights in `\S+`: permission denied for schema packloop \(docs\/postgres\.md lists what a role needs\)$/,
    ],
    [
      "a role that may not make the tables",
      () => server.url({ role: "nobody", database: "bare" }),
      /^missing rights in `\S+`: permission denied for database bare \(docs\/postgres\.md lists what a role needs\)$/,
    ],
    [
      "tables of a newer packloop",
      () => server.url({ database: "newer" }),
      /^the tables were made by a newer packloop \(version 99, this one knows 1\): update packloop$/,
    ],
    ["a database that may only be read", () => server.url({ database: "frozen" }), FROZEN],
    ["a role that may only read, where there are tables", () => server.url({ role: "looker" }), FROZEN],
    [
      "a role that has all its connections",
      () => server.url({ role: "late" }),
      /^the database `\S+` cannot be reached: too many connections for role "late"$/,
    ],
    [
      "an sslmode that is none",
      () => `${server.url()}&sslmode=always`,
      /^`always` is not an sslmode \(one of disable, .*, no-verify\)$/,
    ],
    [
      "a certificate that is not there",
      () => `${server.url()}&sslrootcert=missing.pem`,
      /^the store's address cannot be used: ENOENT: no such file or directory, open 'missing\.pem'$/,
    ],
    [
      "a password that is not encoded",
      () => "postgres://me:secret%ff@127.0.0.1:1/db",
      /^the store's address cannot be used: URI malformed$/,
    ],
    [
      "an address without a database",
      () => "postgres://me:secret@127.0.0.1:1",
      /^the database `127\.0\.0\.1:1\/me` cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1$/,
    ],
    [
      "a socket that there is not",
      () => "postgres://me:secret@/db?host=/nowhere",
      /^the database `\/nowhere\/db` cannot be reached: connect ENOENT \/nowhere\/\.s\.PGSQL\.5432$/,
    ],
    [
      "another kind of database",
      () => "mysql://me:secret@127.0.0.1/db",
      /^`mysql:\/\/` is no store \(a path, or postgres:\/\/USER@HOST\/DATABASE\)$/,
    ],
    [
      "an address in capitals",
      () => "POSTGRES://me:secret@127.0.0.1:1/db",
      /^the database `127\.0\.0\.1:1\/db` cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1$/,
    ],
  ];
  /** What whoever writes the command has to write otherwise; all else is the world's. */
  const USAGE = /newer packloop|not a URL|not a name|not an sslmode|cannot be used|is no store/;

  test.for(cases)("%s is refused in one line", ([, url, line]) => {
    const { code, stdout, stderr } = said(url());
    expect([code, stdout, stderr.split("\n").length]).toEqual([USAGE.test(stderr) ? 2 : 3, "", 2]);
    expect(stderr.trim().replace(/^error: /, "")).toMatch(line);
    expect(stderr).not.toMatch(/secret|wrong@/);
  });

  test("a role that may only read is told so before a server says that it serves", () => {
    const { code, stdout, stderr } = said(server.url({ role: "reader" }), ["serve", "--port", "0"]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/^error: missing rights in `\S+`: permission denied for table worker \(.*\)\n$/);
  });

  test("settings in the address are kept, and the tables stay where they belong", async () => {
    const url = `${server.url({ database: "settings" })}&options=${encodeURIComponent("-c statement_timeout=9s")}`;
    await server.run("CREATE DATABASE settings");
    await using store = await openPostgresStore(`${url}&schema=elsewhere`);
    await commitAll(store, "r", sampleJournal(1, 2));
    await server.run("SELECT name FROM elsewhere.run", "settings");
  });

  const commands = ["ls", "send r Yes --by me", "inbox", "worker", "serve --port 0", "verify --all"];
  test.for(commands)("`%s` says the same of a database that cannot be reached", (command) => {
    const { code, stdout, stderr } = said("postgres://me:secret@127.0.0.1:1/db", command.split(" "));
    expect([code, stdout, stderr]).toEqual([
      3,
      "",
      "error: the database `127.0.0.1:1/db` cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n",
    ]);
  });

  test("a replica is read, and refuses runs in one line", async () => {
    await using store = await openPostgresStore(server.url());
    await commitAll(store, "r", sampleJournal(1, 3));
    await using replica = await server.standby();
    const seen = said(replica.url(), ["ls", "--json"]);
    expect([seen.code, seen.stderr]).toEqual([0, ""]);
    const { code, stderr } = said(replica.url());
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^error: `\S+` can only be read, as a replica does \(name the primary server\)\n$/,
    );
  });

  test("a role with the documented rights drives runs, and one that may only read looks at them", async () => {
    await using store = await openPostgresStore(server.url({ role: "driver" }));
    await store.shared.beat();
    await store.putProgram("digest", {}, "source");
    await commitAll(store, "driven", sampleJournal(2, 200));
    expect(await store.verify("driven")).toEqual([]);
    expect(await store.shared.beat()).toEqual({ moved: [], lost: [] });
    await using reader = await openPostgresStore(server.url({ role: "reader" }), { readOnly: true });
    expect((await reader.record("driven"))?.turn).toBe(200);
    await store.remove(["driven"]);
    await store.collect();
  });

  test("a journal that is partitioned as the page says keeps runs, and keeps them from being changed", async () => {
    await server.run("CREATE DATABASE parts");
    const url = server.url({ database: "parts" });
    await (await openPostgresStore(url))[Symbol.asyncDispose]();
    await server.run(PARTITIONS, "parts");
    await using store = await openPostgresStore(url);
    await commitAll(store, "r", sampleJournal(2, 20));
    expect(await store.verify("r")).toEqual([]);
    await expect(server.run("UPDATE packloop.turn SET v = 2", "parts")).rejects.toThrow("never changed");
    await expect(server.run("DELETE FROM packloop.turn", "parts")).rejects.toThrow(
      "only removed with their run",
    );
    await store.remove(["r"]);
    expect(await store.names({ prefix: "", limit: 1 })).toEqual([]);
  });

  test("a schema that was made for a role needs no right to make schemas", async () => {
    await server.run("CREATE SCHEMA theirs AUTHORIZATION nobody");
    await using store = await openPostgresStore(`${server.url({ role: "nobody" })}&schema=theirs`);
    expect(await store.list({ limit: 1 })).toEqual([]);
  });

  test("four that come to an empty database at the same moment make its tables once", async () => {
    await server.run("CREATE DATABASE fresh");
    const url = server.url({ database: "fresh" });
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore(url)));
    await commitAll(stores[0] as never, "r", sampleJournal(1, 2));
    for (const store of stores) expect((await store.record("r"))?.turn).toBe(2);
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
    await using again = await openPostgresStore(url);
    expect((await again.record("r"))?.turn).toBe(2);
  });
});
