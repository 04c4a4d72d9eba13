// Who may come in: the address that was asked for, the page that asks, how often, and with which token. Every
// request passes here before anything of it is read.

import { isIP } from "node:net";
import { Problem } from "./problem.ts";
import { mayUse, type Principal, type Scope, somebodyHere } from "./scope.ts";

export interface Caller {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
  readonly authorization: string | undefined;
  /** Of the other end of the connection. */
  readonly address: string;
}

export interface GateOptions {
  /** Names by which this server may be asked for, beside addresses and `localhost`. */
  readonly hosts: readonly string[];
  readonly tokenNeeded: boolean;
  /** Whom a token belongs to. */
  readonly principalOf: (token: string) => Principal | undefined;
  readonly rate: RateLimit;
}

/** A name that leads to another machine's page now and to this server later is refused by its Host header. */
function checkHost({ host }: Caller, names: readonly string[]): void {
  const name = hostName(host ?? "");
  const isOurs = isIP(name) !== 0 || name === "localhost" || names.includes(name);
  if (isOurs) return;
  const message = `\`${(host ?? "").slice(0, 200)}\` is not a name of this server (see --allow-host)`;
  throw new Problem("host-refused", message);
}

/** Without its port and brackets. */
function hostName(host: string): string {
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec(host.toLowerCase());
  return match?.[1] ?? match?.[2] ?? "";
}

/** Pages of other sites may neither read nor write; programs send no Origin. */
function checkOrigin({ origin, site, host }: Caller): void {
  const own = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  if (own && (site === undefined || site === "same-origin" || site === "none")) return;
  throw new Problem(
    "origin-refused",
    `requests from \`${(origin ?? site ?? "").slice(0, 200)}\` are refused`,
  );
}

export class Gate {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Who it is, or a problem. */
  admit(caller: Caller, scope: Scope | null): Principal {
    const { hosts, rate } = this.#options;
    checkHost(caller, hosts);
    checkOrigin(caller);
    const principal = this.#principal(caller);
    rate.take(principal?.name ?? caller.address);
    if (scope === null) return principal ?? { name: null, scopes: [] };
    if (principal === undefined) throw unauthenticated("this server asks for a token");
    if (mayUse(principal, scope)) return principal;
    throw new Problem("scope-missing", `the token lacks the scope \`${scope}\``, {
      extras: { scope },
      headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
    });
  }

  /** A token that is given must be right, also where none is needed. */
  #principal({ authorization, address }: Caller): Principal | undefined {
    const { tokenNeeded, principalOf, rate } = this.#options;
    if (authorization === undefined) return tokenNeeded ? undefined : somebodyHere;
    const token = /^Bearer ([\w~+/.-]+=*)$/i.exec(authorization)?.[1];
    const principal = token === undefined ? undefined : principalOf(token);
    if (principal !== undefined) return principal;
    rate.take(address);
    throw unauthenticated("the token is not known here, or was revoked");
  }
}

const unauthenticated = (why: string): Problem =>
  new Problem("unauthenticated", `${why} (send Authorization: Bearer TOKEN; see packloop token)`, {
    headers: { "www-authenticate": "Bearer" },
  });

/** Callers that are remembered; the one seen longest ago is forgotten first. */
const CALLERS_MAX = 10_000;

export interface RateOptions {
  readonly perSecond: number;
  readonly burst: number;
  readonly now: () => number;
}

/** So many requests at once, and so many a second in the long run, for each caller. */
export class RateLimit {
  readonly #options: RateOptions;
  readonly #left = new Map<string, { tokens: number; at: number }>();

  constructor(options: RateOptions) {
    this.#options = options;
  }

  take(caller: string): void {
    const { perSecond, burst, now } = this.#options;
    const at = now();
    const known = this.#left.get(caller) ?? { tokens: burst, at };
    const tokens = Math.min(burst, known.tokens + ((at - known.at) / 1000) * perSecond);
    this.#left.delete(caller);
    this.#left.set(caller, { tokens: Math.max(0, tokens - 1), at });
    if (this.#left.size > CALLERS_MAX) this.#left.delete(this.#left.keys().next().value ?? "");
    if (tokens >= 1) return;
    const seconds = String(Math.max(1, Math.ceil((1 - tokens) / perSecond)));
    throw new Problem("rate-limited", `more than ${perSecond} requests a second`, {
      headers: { "retry-after": seconds },
      extras: { limit: perSecond },
    });
  }
}
