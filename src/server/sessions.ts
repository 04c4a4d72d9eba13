// Sessions of browsers: a token is exchanged for a cookie that scripts cannot read. Who changes something
// with the cookie also shows a key that only the page could read, so that no other page acts with it. Kept
// in memory: after a restart people sign in again.

import { createHash, randomBytes } from "node:crypto";
import type { Principal } from "./scope.ts";

const SESSION_MS = 12 * 3_600_000;
const COOKIE = "packloop_session";

/** The oldest are forgotten first. */
const SESSIONS_MAX = 10_000;

export interface Session {
  readonly principal: Principal;
  readonly key: string;
}

export interface SessionOptions {
  readonly now: () => number;
  /** Asked every time: a token that was revoked ends its sessions. */
  readonly principalOf: (token: string) => Principal | undefined;
}

export class Sessions {
  readonly #options: SessionOptions;
  readonly #open = new Map<
    string,
    { readonly token: string; readonly key: string; readonly until: number }
  >();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Undefined when the token is wrong. `cookie` is the header that sets it. */
  begin(token: string): (Session & { readonly cookie: string }) | undefined {
    const principal = this.#options.principalOf(token);
    if (principal === undefined) return undefined;
    const id = randomBytes(24).toString("base64url");
    const key = randomBytes(24).toString("base64url");
    this.#open.set(hashOf(id), { token, key, until: this.#options.now() + SESSION_MS });
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= SESSIONS_MAX) break;
      this.#open.delete(oldest);
    }
    return { principal, key, cookie: cookieText(id, SESSION_MS / 1000) };
  }

  find(cookies: string | undefined): Session | undefined {
    const id = idIn(cookies);
    const found = id === undefined ? undefined : this.#open.get(hashOf(id));
    if (found === undefined || found.until <= this.#options.now()) return undefined;
    const principal = this.#options.principalOf(found.token);
    return principal === undefined ? undefined : { principal, key: found.key };
  }

  /** The header that takes the cookie away. */
  end(cookies: string | undefined): string {
    const id = idIn(cookies);
    if (id !== undefined) this.#open.delete(hashOf(id));
    return cookieText("", 0);
  }
}

const cookieText = (id: string, seconds: number): string =>
  `${COOKIE}=${id}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;

function idIn(cookies: string | undefined): string | undefined {
  return /(?:^|;\s*)packloop_session=([\w-]{10,100})(?:;|$)/.exec(cookies ?? "")?.[1];
}

const hashOf = (id: string): string => createHash("sha256").update(id).digest("hex");
