// Calls of runs that are held: none leaves until the run is let go. One that was under way to leave, or is
// about to be tried again, waits here; what is out already comes back.

import type { Ask } from "../core/facts.ts";
import type { Run } from "../core/run.ts";
import type { Slots } from "./slots.ts";

type Lease = () => Promise<boolean>;

/** Work that a held run does not begin. Time passes all the same, and what is owed to others is paid. */
export const isHeldBack = ({ held }: Run, { kind }: Ask): boolean =>
  held !== undefined && (kind === "model" || kind === "tool" || kind === "agent");

export class HeldRuns {
  /** Who waits for each run that is held. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #closed = false;

  see(id: string, { held }: Run): void {
    const waiting = this.#waiting.get(id);
    if (held !== undefined) {
      if (waiting === undefined) this.#waiting.set(id, new Set());
    } else if (waiting !== undefined) {
      this.#waiting.delete(id);
      for (const go of waiting) go();
    }
  }

  /** What waits is given up: whoever takes the run up finds it open. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.values()) for (const go of waiting) go();
  }

  /** Whether a call of the run may leave, once that is known; `lease` has its say after us. */
  leaves(
    { id, kind, signal }: { readonly id: string; readonly kind: Ask["kind"]; readonly signal: AbortSignal },
    { slots, lease }: { readonly slots: Slots | undefined; readonly lease: Lease | undefined },
  ): () => Promise<boolean> {
    return async () => {
      for (let waiting = this.#waiting.get(id); waiting !== undefined; waiting = this.#waiting.get(id)) {
        if (this.#closed || signal.aborted) return false;
        const letGo = turnOf(waiting, signal);
        await (slots === undefined ? letGo : slots.aside(kind, signal, () => letGo));
      }
      return lease === undefined || lease();
    };
  }
}

function turnOf(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      waiting.delete(go);
      signal.removeEventListener("abort", go);
      resolve();
    };
    waiting.add(go);
    signal.addEventListener("abort", go);
  });
}
