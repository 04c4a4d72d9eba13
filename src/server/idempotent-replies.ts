// Requests with an `Idempotency-Key`: the same key and body get the first reply again. A reply that a crash
// kept from being written here is made again from the journal, where the turn of a request carries its name:
// starts and forks are found by their key, what is said to a run by the note it left.

import { createHash } from "node:crypto";
import type { Clock } from "../engine/ports.ts";
import { Problem } from "./problem.ts";
import type { Reply } from "./route.ts";
import type { SideFile } from "./side-file.ts";

const KEPT_MS = 7 * 86_400_000;

/** Dropping old replies is a write of its own; not every request has to pay for it. */
const SWEEP_MS = 3_600_000;

export interface KeyedRequest {
  readonly id: string;
  readonly key: string;
  readonly bodyHash: string;
}

export class IdempotentReplies {
  readonly #side: SideFile;
  readonly #clock: Clock;
  readonly #underWay = new Set<string>();
  #sweptAt = 0;

  constructor(side: SideFile, clock: Clock) {
    this.#side = side;
    this.#clock = clock;
  }

  async once(request: KeyedRequest, answer: () => Promise<Reply | Response>): Promise<Reply | Response> {
    const { id } = request;
    if (this.#underWay.has(id))
      throw new Problem("request-in-flight", "a request with this key is being answered", {
        headers: { "retry-after": "1" },
      });
    const known = this.#side.reply(id);
    if (known !== undefined) {
      if (known.hash !== request.bodyHash) throw keyReused(request.key);
      return { ...known, headers: { ...known.headers, ...REPLAYED } };
    }
    this.#underWay.add(id);
    try {
      const reply = await answer();
      if (!(reply instanceof Response)) this.#keep(id, request.bodyHash, reply);
      return reply;
    } finally {
      this.#underWay.delete(id);
    }
  }

  #keep(id: string, hash: string, { status, headers = {}, body = null }: Reply): void {
    const now = this.#clock.now();
    if (now - this.#sweptAt > SWEEP_MS) {
      this.#side.dropReplies(now - KEPT_MS);
      this.#sweptAt = now;
    }
    this.#side.putReply(id, { hash, status, headers, body }, now);
  }
}

export const REPLAYED = { "idempotency-replayed": "true" } as const;

export const keyReused = (key: string): Problem =>
  new Problem("idempotency-key-reused", `the key \`${key}\` belongs to a request with another body`);

interface Keyed {
  readonly principal: string | null;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

export const requestIdOf = ({ principal, method, path, key }: Keyed): string =>
  createHash("sha256")
    .update(JSON.stringify([principal, method, path, key]))
    .digest("hex");
