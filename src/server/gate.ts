// Who may come in: the address that was asked for, the page that asks, how often, and with which token. Every
// request passes here before anything of it is read.

import { isIP } from "node:net";
import { demandScope } from "./demand-scope.ts";
import { Problem } from "./problem.ts";
import { looking, type Principal, type Scope, somebodyHere } from "./scope.ts";
import type { Session } from "./sessions.ts";

export interface Caller {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
  readonly authorization: string | undefined;
  /** In place of a token, for those who can send no header. */
  readonly ticket?: string;
  /** A browser's cookies, and the key that shows that our page sends them. */
  readonly cookies?: string | undefined;
  readonly pageKey?: string | undefined;
  /** Whether the request may change something. */
  readonly changes?: boolean;
  /** Somebody follows a link to a page, wherever the link stands. */
  readonly visits?: boolean;
  /** Of the other end of the connection. */
  readonly address: string;
}

export interface GateOptions {
  /** Names by which this server may be asked for, beside addresses and `localhost`. */
  readonly hosts: readonly string[];
  /** Where our own page is, when it is seen through a proxy. */
  readonly publicOrigin?: string | undefined;
  readonly tokenNeeded: boolean;
  /** Nobody may change anything. */
  readonly readOnly?: boolean;
  /** Whom a token belongs to. */
  readonly principalOf: (token: string) => Principal | undefined;
  /** Whom a ticket was given to; it is good for this once. */
  readonly ticketOwner: (ticket: string) => Principal | undefined;
  readonly sessionOf: (cookies: string | undefined) => Session | undefined;
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
function checkOrigin({ origin, site, host, visits }: Caller, publicOrigin: string | undefined): void {
  if (visits === true && origin === undefined) return;
  const own = origin === undefined || [`http://${host}`, `https://${host}`, publicOrigin].includes(origin);
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
  admit(caller: Caller, scope: Scope | "any" | null): Principal {
    const { hosts, rate, publicOrigin, readOnly } = this.#options;
    checkHost(caller, hosts);
    checkOrigin(caller, publicOrigin);
    const known = this.#principal(caller);
    const principal = known !== undefined && readOnly === true ? looking(known) : known;
    rate.take(principal?.name ?? caller.address);
    if (scope === null) return principal ?? { name: null, scopes: [] };
    if (principal === undefined) throw unauthenticated("this server asks for a token");
    if (scope !== "any") demandScope(principal, scope);
    return principal;
  }

  /** A token that is given must be right, also where none is needed. */
  #principal(caller: Caller): Principal | undefined {
    const { authorization, address, ticket } = caller;
    const { tokenNeeded, principalOf, ticketOwner, rate } = this.#options;
    if (ticket !== undefined && authorization === undefined) {
      const owner = ticketOwner(ticket);
      if (owner !== undefined) return owner;
      rate.take(address);
      throw unauthenticated("the ticket is not known here, was used, or is too old");
    }
    if (authorization === undefined)
      return this.#byCookie(caller) ?? (tokenNeeded ? undefined : somebodyHere);
    const token = /^Bearer ([\w~+/.-]+=*)$/i.exec(authorization)?.[1];
    const principal = token === undefined ? undefined : principalOf(token);
    if (principal !== undefined) return principal;
    rate.take(address);
    throw unauthenticated("the token is not known here, or was revoked");
  }

  /** A cookie that is not known any more is as good as none. */
  #byCookie({ cookies, pageKey, changes }: Caller): Principal | undefined {
    const session = cookies === undefined ? undefined : this.#options.sessionOf(cookies);
    if (session === undefined || changes !== true || pageKey === session.key) return session?.principal;
    throw new Problem("origin-refused", "a change with a cookie needs the key of its page (X-Packloop-Key)");
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
    // A clock that goes back takes nothing from anybody.
    const passedMs = Math.max(0, at - known.at);
    const tokens = Math.min(burst, known.tokens + (passedMs / 1000) * perSecond);
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
