// Interleaved timing. Machines are noisy, so cases take turns and are compared within one run: by medians,
// and as a second opinion by the tenth of the rounds in which others left the machine alone.

import { spawnSync } from "node:child_process";

export interface Timed {
  readonly name: string;
  readonly command: readonly string[];
}

/** Median milliseconds of each command over `repeats` interleaved rounds. */
export function medians(cases: readonly Timed[], repeats: number): ReadonlyMap<string, number> {
  const times = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  for (let round = 0; round <= repeats; round++) {
    for (const { name, command } of cases) {
      const [program, ...args] = command;
      const start = performance.now();
      const result = spawnSync(program as string, args, { stdio: "ignore" });
      const elapsed = performance.now() - start;
      if (result.error !== undefined) throw result.error;
      // The first round warms the disk and the compile cache.
      if (round > 0) times.get(name)?.push(elapsed);
    }
  }
  return new Map([...times].map(([name, list]) => [name, median(list)]));
}

/** `warmUp` rounds are not counted. With `forMs`, the rounds end after that time. */
export interface Rounds {
  readonly rounds: number;
  readonly warmUp: number;
  readonly forMs?: number;
}

/** Milliseconds of each case in each round, all lists equally long. */
export async function interleaved<Name extends string>(
  cases: Readonly<Record<Name, () => unknown>>,
  { rounds, warmUp, forMs = Number.POSITIVE_INFINITY }: Rounds,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const all = Object.entries(cases) as [Name, () => unknown][];
  const times = Object.fromEntries(all.map(([name]) => [name, []])) as unknown as Record<Name, number[]>;
  const until = performance.now() + forMs;
  for (let round = -warmUp; round < rounds && (round < 5 || performance.now() < until); round++) {
    for (const [name, go] of all) {
      const start = performance.now();
      await go();
      if (round >= 0) times[name].push(performance.now() - start);
    }
  }
  return times;
}

export function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** What a tenth of the rounds stayed below. */
export const quickest = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 10)] as number;

/** How the times of `a` compare with those of `b`: round by round, and where each was quickest. */
export function ratio(a: readonly number[], b: readonly number[]): { value: number; quickest: number } {
  const each = a.map((ms, round) => ms / (b[round] as number));
  return { value: median(each), quickest: quickest(a) / quickest(b) };
}
