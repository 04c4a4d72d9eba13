// A store that keeps nothing but its programs: what is left of a round with it is the engine's own.

import type { Store } from "../src/engine/ports.ts";

export function voidStore(): Store {
  const programs = new Map<string, { program: never; source: string }>();
  const nothing = async () => undefined;
  const none = async () => [];
  const taken = Promise.resolve(true);
  return {
    load: nothing,
    loadAt: nothing,
    rows: none,
    commit: () => taken,
    fork: () => taken,
    take: () => taken,
    runnable: none,
    nextDue: nothing,
    find: nothing,
    list: none,
    names: none,
    asking: none,
    record: nothing,
    putProgram: async (digest, program, source) => {
      programs.set(digest, { program: program as never, source });
    },
    program: async (digest) => programs.get(digest),
    remove: nothing,
    collect: async () => 0,
    verify: none,
    [Symbol.asyncDispose]: nothing,
  };
}
