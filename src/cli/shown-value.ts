// Settings as they may be shown: a file holds only names of secrets, but who knows what somebody wrote into
// it. Known values and forms of credentials go, and so does whatever stands where a secret would.

import { isSecretHeader } from "../adapter/net/secret-header.ts";
import { isObject, type Json, put } from "../base/json.ts";
import type { Redaction } from "../engine/redaction.ts";

export const NOT_SHOWN = "[not shown]";

export const shownValue = (value: Json, redaction: Redaction): Json =>
  redaction.json(withoutSecrets(value, ""));

/** `key` is what the value is written under. */
function withoutSecrets(value: Json, key: string): Json {
  if (typeof value === "string") return isSecretKey(key) ? NOT_SHOWN : withoutAccess(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => withoutSecrets(item, key));
  if (!isObject(value)) return value;
  const fields: Record<string, Json> = {};
  for (const [name, item] of Object.entries(value))
    put(fields, name, withoutSecrets(item, NAMES.test(key) ? "" : name));
  return fields;
}

/** Under such a key stand names of variables, which are no secrets. */
const NAMES = /(^|_)env$/i;

const isSecretKey = (key: string): boolean =>
  !NAMES.test(key) &&
  (/(^|[_-])(password|passwd|pwd|credentials?)$/i.test(key) || isSecretHeader(dashed(key)));

const dashed = (key: string): string => key.replaceAll("_", "-");

/** What of a database's address is no secret, beside its place. */
const PLAIN = new Set(["host", "port", "schema", "sslmode"]);

/** An address without its password, and without a query that may hold a token. */
function withoutAccess(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return text;
  const isDatabase = /^postgres(ql)?:$/.test(url.protocol);
  const query = [...url.searchParams].map(([name, value]) =>
    isDatabase && PLAIN.has(name) ? `${name}=${value}` : `${name}=${NOT_SHOWN}`,
  );
  if (url.password === "" && query.length === 0) return text;
  const access = url.password === "" ? url.username : `${url.username}:${NOT_SHOWN}`;
  const place = `${url.protocol}//${access === "" ? "" : `${access}@`}${url.host}${url.pathname}`;
  return query.length === 0 ? place : `${place}?${query.join("&")}`;
}
