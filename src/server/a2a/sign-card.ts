// Signs cards: a JWS over the card in canonical form (A2A §8.4, RFC 8785). The same card is signed once, so
// that its tag stays the same.

import { type AgentCard, canonicalizeAgentCard } from "@a2a-js/sdk";
import type { CardKey } from "./card-key.ts";

/** Cards differ by the address they were asked for at, which is the client's to choose. */
const SIGNED_MAX = 500;

/** Where the public half of the key is. */
export const KEYS_PATH = "/.well-known/jwks.json";

export class CardSigner {
  readonly #key: CardKey;
  readonly #signed = new Map<string, AgentCard["signatures"]>();

  constructor(key: CardKey) {
    this.#key = key;
  }

  /** `base` is what addresses of this server begin with. */
  sign(card: AgentCard, base: string): AgentCard {
    const payload = canonicalizeAgentCard(card);
    let signatures = this.#signed.get(payload);
    if (signatures === undefined) {
      if (this.#signed.size >= SIGNED_MAX) this.#signed.delete(this.#signed.keys().next().value ?? "");
      signatures = [{ ...this.#key.sign(payload, { jku: `${base}${KEYS_PATH}` }), header: undefined }];
      this.#signed.set(payload, signatures);
    }
    return { ...card, signatures };
  }
}
