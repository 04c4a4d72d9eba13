// A fault test is one check at many points. All of them are tried, whatever comes of the first, and each that
// fails is named with the command that repeats it alone.
//
// FAULTS_ALL=1 tries every point instead of a sample; FAULT_POINT=NAME tries the one of that name.

import { expect } from "vitest";
import { together } from "./killed-runs.ts";

/** Every point, or as many as CI has time for. */
export const isWhole = process.env["FAULTS_ALL"] === "1";

const only = process.env["FAULT_POINT"];

/** Processes side by side; the machines of CI have two cores. */
const WIDTH = 2;

/** For `describe.skipIf`: says why nothing of the file is tried, when there is a reason. */
export function isSkipped(file: string, reason: string | undefined): boolean {
  if (reason !== undefined) process.stdout.write(`faults ${file}: skipped, ${reason}\n`);
  return reason !== undefined;
}

export interface Trial {
  readonly name: string;
  readonly check: () => Promise<void>;
}

/** `file` is what `npm run faults --` takes. */
export async function sweep(file: string, what: string, trials: readonly Trial[]): Promise<void> {
  const chosen = only === undefined ? trials : trials.filter(({ name }) => name === only);
  const failures: string[] = [];
  await together(
    chosen.map(({ name, check }) => async () => {
      try {
        await check();
      } catch (error) {
        const repeat = `FAULT_POINT='${name}' npm run faults -- ${file}`;
        failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}\n  ${repeat}`);
      }
    }),
    WIDTH,
  );
  const passed = chosen.length - failures.length;
  process.stdout.write(
    `faults ${file}, ${what}: ${chosen.length} points, ${passed} passed, ${failures.length} failed\n`,
  );
  expect(failures.join("\n")).toBe("");
  if (only === undefined) expect(chosen.length, "points").toBeGreaterThan(0);
}

/** So many of them, evenly spread, the first and the last included; all when everything is wanted. */
export function sample<T>(all: readonly T[], most: number): readonly T[] {
  if (isWhole || only !== undefined || all.length <= most) return all;
  const step = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => all[Math.round(index * step)] as T);
}
