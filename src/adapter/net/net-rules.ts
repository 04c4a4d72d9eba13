// What a request may be sent to: the scheme, the name and the addresses of a URL, judged before anything
// leaves.

import { isIP } from "node:net";
import { blockedReason } from "./blocked-address.ts";

export interface NetRules {
  /** When given, no other host is asked: `example.org`, or `*.example.org` for all names below it. */
  readonly allowHosts?: readonly string[];
  /** Deliberate exceptions, `host:port`: these may have any address. */
  readonly allowPrivate?: readonly string[];
}

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Finds every address of a name. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** A request that does not leave. Nothing about it gets better by waiting. */
export interface NetRefusal {
  readonly ok: false;
  readonly code: NetRefusalCode;
  readonly message: string;
}

export type NetRefusalCode =
  | "bad_url"
  | "url_credentials"
  | "host_not_allowed"
  | "address_refused"
  | "redirect_refused"
  | "encoding_refused";

export const netRefusal = (code: NetRefusalCode, message: string): NetRefusal => ({
  ok: false,
  code,
  message,
});

/** The URL of a target whose scheme and name are allowed. Its addresses are judged by `addressesOf`. */
export function readTarget(
  text: string,
  { base, rules }: { base?: URL; rules: NetRules },
): { readonly ok: true; readonly url: URL } | NetRefusal {
  const url = URL.parse(text, base?.href);
  if (url === null) return netRefusal("bad_url", `\`${short(text)}\` is not a URL`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return netRefusal("bad_url", `\`${url.protocol}\` is not a scheme to fetch from (use http or https)`);
  }
  if (url.username !== "" || url.password !== "") {
    return netRefusal(
      "url_credentials",
      "the URL carries a user name or password (configure a header instead)",
    );
  }
  const host = hostOf(url);
  if (host === "") return netRefusal("bad_url", `\`${short(text)}\` names no host`);
  if (rules.allowHosts !== undefined && !rules.allowHosts.some((pattern) => matches(host, pattern))) {
    return netRefusal(
      "host_not_allowed",
      `\`${host}\` is not one of the hosts this tool may ask (\`allow_hosts\`)`,
    );
  }
  return { ok: true, url };
}

/** Every address the name has, when all of them may be asked. One that may not refuses the name. */
export async function addressesOf(
  url: URL,
  { rules, resolve }: { rules: NetRules; resolve: Resolve },
): Promise<{ readonly ok: true; readonly addresses: readonly Address[] } | NetRefusal> {
  const host = hostOf(url);
  const family = isIP(host);
  const addresses: readonly Address[] =
    family === 0 ? await resolve(host) : [{ address: host, family: family === 4 ? 4 : 6 }];
  if (isException(url, rules)) return { ok: true, addresses };
  for (const { address } of addresses) {
    const reason = blockedReason(address);
    if (reason === undefined) continue;
    const where = address === host ? `\`${host}\`` : `\`${host}\` is \`${address}\`, which`;
    const rest = "this tool may not ask it (list `host:port` in `allow_private` if it is meant)";
    return netRefusal("address_refused", `${where} is not a public address (${reason}); ${rest}`);
  }
  return { ok: true, addresses };
}

/** The name or address without brackets and without the dot of a complete name. */
export function hostOf(url: URL): string {
  return plainHost(url.hostname);
}

const plainHost = (host: string): string => host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");

const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);

/** `host:port` as the lists of exceptions have it. */
export function placeOf(url: URL): string {
  const host = hostOf(url);
  return `${host.includes(":") ? `[${host}]` : host}:${portOf(url)}`;
}

/** One of the lists names it. */
export const isNamed = (url: URL, rules: NetRules): boolean =>
  (rules.allowHosts ?? []).some((pattern) => matches(hostOf(url), pattern)) || isException(url, rules);

const isException = (url: URL, { allowPrivate = [] }: NetRules): boolean =>
  allowPrivate.some((entry) => {
    const exception = readException(entry);
    return exception?.host === hostOf(url) && exception.port === portOf(url);
  });

/** `host:port` in the spelling URLs are compared in; undefined when it is not of that form. */
export function readException(entry: string): { readonly host: string; readonly port: number } | undefined {
  const port = /:(\d{1,5})$/.exec(entry)?.[1];
  const url = port === undefined || entry.includes("/") ? null : URL.parse(`http://${entry}`);
  if (url === null || url.username !== "" || hostOf(url) === "") return undefined;
  return { host: hostOf(url), port: Number(port) };
}

function matches(host: string, pattern: string): boolean {
  const allowed = readHostPattern(pattern);
  if (allowed === undefined) return false;
  return allowed.below ? host.endsWith(`.${allowed.name}`) : host === allowed.name;
}

/** An entry of `allowHosts` in the spelling hosts are compared in; undefined when it names no host. */
export function readHostPattern(
  entry: string,
): { readonly name: string; readonly below: boolean } | undefined {
  const below = entry.startsWith("*.");
  const name = below ? entry.slice(2) : entry;
  const url = /[/@?#*]|:\d*$/.test(name) && !/^\[.*\]$/.test(name) ? null : URL.parse(`http://${name}`);
  return url === null || hostOf(url) === "" ? undefined : { name: hostOf(url), below };
}

const short = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
