// Tickets let a browser's EventSource in, which can send no token: each is good once, for a minute, for
// streams only, and for no more than the one who asked for it may do.

import { createHash, randomBytes } from "node:crypto";
import type { Principal } from "./scope.ts";

export const TICKET_MS = 60_000;

/** Unused tickets that are remembered; the oldest are forgotten first. */
const TICKETS_MAX = 10_000;

export class Tickets {
  readonly #now: () => number;
  readonly #open = new Map<string, { readonly principal: Principal; readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  issue(principal: Principal): { readonly ticket: string; readonly until: number } {
    const ticket = `plk_${randomBytes(24).toString("base64url")}`;
    const until = this.#now() + TICKET_MS;
    this.#open.set(hashOf(ticket), { principal, until });
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= TICKETS_MAX) break;
      this.#open.delete(oldest);
    }
    return { ticket, until };
  }

  /** Whom it was given to, once. */
  take(ticket: string): Principal | undefined {
    const hash = hashOf(ticket);
    const found = this.#open.get(hash);
    this.#open.delete(hash);
    return found !== undefined && found.until > this.#now() ? found.principal : undefined;
  }
}

/** Looked up by its hash, so that the time it takes says nothing about a ticket. */
const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("hex");
