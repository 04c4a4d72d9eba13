// Names of runs: new ones sort by time; given ones may be shortened to a unique prefix, `@` is the last run.

import { randomBytes } from "node:crypto";
import type { Store } from "../../engine/ports.ts";
import { ExitError, exits, usageError } from "../exit.ts";

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** `r_` and 16 digits: nine of time, seven of chance. */
export function newRunId(nowMs: number): string {
  let time = "";
  for (let left = nowMs; time.length < 9; left = Math.floor(left / 32)) time = DIGITS[left % 32] + time;
  const chance = [...randomBytes(7)].map((byte) => DIGITS[byte % 32]).join("");
  return `r_${time}${chance}`;
}

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
  if (name !== "@" && (await store.record(name)) !== undefined) return { run: name, turn };
  const runs = (await store.list({ limit: 10_000 })).map((record) => record.run);
  const fitting =
    name === "@"
      ? runs.slice(0, 1)
      : runs.filter((run) => run.startsWith(name) || run.startsWith(`r_${name}`));
  const [only] = fitting;
  if (only === undefined) {
    const what = name === "@" ? "there is no run yet" : `run \`${name}\` does not exist`;
    throw new ExitError(`${what} (see packloop ls)`, exits.notFound);
  }
  if (fitting.length > 1)
    throw usageError(`\`${name}\` may be ${fitting.slice(0, 5).join(", ")}; write more of it`);
  return { run: only, turn };
}
