// Interleaved timing of whole commands: machines are noisy, so figures are medians and compared in one run.

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

function median(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
