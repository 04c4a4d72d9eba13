// The address of a store in PostgreSQL, as libpq reads it: `?schema=` is ours, everything else the driver's.

import { Fault } from "../../engine/ports.ts";

export interface Address {
  /** For the driver. */
  readonly url: string;
  /** Where the tables are; `packloop` unless the address names another. */
  readonly schema: string;
  /** Settings of each connection. */
  readonly options: string;
}

/** Like `require` in the driver's present version; written so, it does not warn of its next one. */
const STRICT = "verify-full";

/** What the driver knows, by what it is to be told. */
const SSL_MODES: Readonly<Record<string, string>> = {
  disable: "disable",
  prefer: STRICT,
  require: STRICT,
  "verify-ca": STRICT,
  "verify-full": STRICT,
  "no-verify": "no-verify",
};

export function readAddress(text: string): Address {
  // Without a host, as for a socket that `?host=` names, it is an address for libpq and none for the web.
  const url = URL.parse(text) ?? URL.parse(text.replace("@/", "@localhost/"));
  if (url === null) throw badAddress("the store's address is not a URL (postgres://USER@HOST/DATABASE)");
  // Messages name the place, and what a password's own signs push into it must not be told.
  if (url.pathname.includes("@"))
    throw badAddress(
      "the store's address has an `@` behind its host (in a password, write @ as %40, / as %2F)",
    );
  const { searchParams: query } = url;
  const schema = query.get("schema") ?? "packloop";
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw badAddress(`\`${schema}\` is not a name for a schema (a-z, 0-9, _)`);
  const given = query.get("options") ?? process.env["PGOPTIONS"] ?? "";
  for (const name of ["schema", "options"]) query.delete(name);
  const mode = query.get("sslmode");
  if (mode !== null && query.get("uselibpqcompat") === null) query.set("sslmode", sslMode(mode));
  // The last word counts: where the tables are and what a commit means is not for the address to say.
  const options = `${given} -c search_path=${schema} -c synchronous_commit=on -c client_min_messages=warning`;
  return { url: url.href, schema, options: options.trim() };
}

function sslMode(mode: string): string {
  if (Object.hasOwn(SSL_MODES, mode)) return SSL_MODES[mode] ?? STRICT;
  throw badAddress(`\`${mode}\` is not an sslmode (one of ${Object.keys(SSL_MODES).join(", ")})`);
}

/** Nothing is wrong with the world: who wrote the address has to write it again. */
export const badAddress = (message: string, cause?: unknown): Fault =>
  new Fault("store-address", message, { retry: "never", cause });
