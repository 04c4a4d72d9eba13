// Plays seeds by hand: `npx node test/shared/run.ts --seed 7` one, `--seeds 500` many; `--src FOLDER` plays other
// copies of the sources, one after the other.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Engine } from "../../src/engine/engine.ts";
import { play, type SharedSubject } from "./play.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "100" },
    src: { type: "string", multiple: true },
  },
});
const first = Number(values.seed ?? 1);
const last = values.seed === undefined ? Number(values.seeds) : first;

async function all(subject: SharedSubject): Promise<string> {
  for (let seed = first; seed <= last; seed++) {
    try {
      await play(seed, subject);
    } catch (error) {
      process.exitCode = 1;
      return `seed ${seed}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return `${last - first + 1} seeds, nothing wrong`;
}

const print = (line: string) => process.stdout.write(`${line}\n`);
if (values.src === undefined) print(await all({ Engine }));
for (const folder of values.src ?? [])
  print(
    await all((await import(`${pathToFileURL(resolve(folder)).href}/engine/engine.ts`)) as SharedSubject),
  );
