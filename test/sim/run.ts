// Plays seeds by hand: `npx node test/sim/run.ts --seed 4711 --trace` repeats one exactly;
// `--seeds 1000 [--from 1] [--coverage]` plays many; `--src FOLDER` plays other copies of the sources, one
// after the other; `--compositions` plays packs whose states run compositions, `--spending` packs whose agents
// spend what is left.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { compositionProgram } from "./composition-packs.ts";
import { simulate } from "./sim.ts";
import { spendingProgram } from "./spending-packs.ts";
import { product, type Subject, subjectIn } from "./subject.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
    coverage: { type: "boolean", default: false },
    src: { type: "string", multiple: true },
    compositions: { type: "boolean", default: false },
    spending: { type: "boolean", default: false },
  },
});

const first = Number(values.seed ?? values.from);
const last = values.seed === undefined ? first + Number(values.seeds) - 1 : first;
const coverage = new Map<string, number>();
const print = (line: string) => process.stdout.write(`${line}\n`);

async function play(subject: Subject): Promise<string> {
  try {
    for (let seed = first; seed <= last; seed++)
      await simulate(seed, {
        subject,
        coverage,
        ...(values.compositions && { programs: compositionProgram }),
        ...(values.spending && { programs: spendingProgram }),
        ...(values.trace && { trace: print }),
      });
    return `${last - first + 1} seeds, nothing wrong`;
  } catch (error) {
    process.exitCode = 1;
    return error instanceof Error ? error.message : String(error);
  }
}

if (values.src === undefined) print(await play(product));
for (const folder of values.src ?? [])
  print(await play(await subjectIn(pathToFileURL(`${resolve(folder)}/`))));
if (values.coverage)
  for (const [what, times] of [...coverage].sort(([a], [b]) => a.localeCompare(b)))
    print(`${times}\t${what}`);
