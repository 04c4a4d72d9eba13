// Runs as people name them: shortened to a unique prefix, `@` for the last one, `RUN@TURN`.

import type { Store } from "../../engine/ports.ts";
import { ExitError, exits, usageError } from "../exit.ts";

/** Runs among which the newest is looked for at first. */
const LOOKED_AT = 100;

/** Runs that are named when a prefix fits several. */
const SHOWN = 5;

export interface RunAt {
  readonly run: string;
  /** The turn after `@`, when one was given. */
  readonly turn: number | undefined;
}

/** `RUN`, `RUN@TURN`, `@` and `@@TURN`, any run shortened to a unique prefix. */
export async function findRun(store: Store, given: string): Promise<RunAt> {
  const match = /^(@|[^@]+)(?:@(\d+))?$/.exec(given);
  if (match === null) throw usageError(`\`${given}\` is not a run (expected RUN or RUN@TURN)`);
  const turn = match[2] === undefined ? undefined : Number(match[2]);
  const name = match[1] as string;
  const fitting = name === "@" ? await newest(store) : await named(store, name);
  const [only] = fitting;
  if (only === undefined) {
    const what = name === "@" ? "there is no run yet" : `run \`${name}\` does not exist`;
    throw new ExitError(`${what} (see packloop ls)`, exits.notFound);
  }
  if (fitting.length > 1)
    throw usageError(`\`${name}\` may be ${fitting.slice(0, SHOWN).join(", ")}; write more of it`);
  return { run: only, turn };
}

/** The newest that was started for itself: whoever says `@` means what they started, not its agents. */
async function newest(store: Store): Promise<readonly string[]> {
  for (const limit of [LOOKED_AT, Number.MAX_SAFE_INTEGER]) {
    const names = await store.names({ prefix: "", limit });
    const found = names.find((name) => !name.includes("/")) ?? (names.length < limit ? names[0] : undefined);
    if (found !== undefined || names.length < limit) return found === undefined ? [] : [found];
  }
  return [];
}

/** The run of exactly this name, else those it is the beginning of; `r_` may be left out. */
async function named(store: Store, name: string): Promise<readonly string[]> {
  const fitting = await store.names({ prefix: name, limit: Number.MAX_SAFE_INTEGER });
  if (fitting.includes(name)) return [name];
  return [...fitting, ...(await store.names({ prefix: `r_${name}`, limit: SHOWN }))];
}
