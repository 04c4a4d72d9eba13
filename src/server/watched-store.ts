// News of a store that another process writes to and nobody tells us about: somebody has to look.

import type { SharedRuns, Store } from "../engine/ports.ts";
import { unlessDamaged } from "../host/stored-runs.ts";

export type StoreNews = Pick<SharedRuns, "listen" | "standing">;

/** How often it is looked which runs have moved. Those that somebody follows are looked at more often. */
const LOOK_MS = 1_000;

/** Of the newest runs; an older one shows its turns to those who follow it. */
const LOOKED_AT = 200;

export function watchedStore(store: Store, failed: (error: unknown) => void): StoreNews {
  return {
    listen(heard) {
      const turns = new Map<string, number>();
      let [hasLooked, isLooking] = [false, false];
      const look = async (): Promise<void> => {
        for (const { run, turn } of await store.list({ limit: LOOKED_AT })) {
          if (turns.get(run) !== turn && hasLooked) heard(run);
          turns.set(run, turn);
        }
        // What is there at first is no news.
        hasLooked = true;
      };
      const lookOnce = (): void => {
        // A store that is slow to answer is not asked again meanwhile.
        if (isLooking) return;
        isLooking = true;
        const done = () => {
          isLooking = false;
        };
        look().catch(failed).finally(done);
      };
      lookOnce();
      const timer = setInterval(lookOnce, LOOK_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
    async standing(runs) {
      const found = new Map<string, { readonly turn: number; readonly work: boolean }>();
      for (const run of runs) {
        // One that is damaged keeps nobody from the others; who follows it is told when they look.
        const record = await unlessDamaged(() => store.record(run));
        if (record !== undefined) found.set(run, { turn: record.turn, work: record.status === "running" });
      }
      return found;
    },
  };
}
