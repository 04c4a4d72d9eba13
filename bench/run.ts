// `npm run bench`: measures what performance is promised, prints a table and writes bench/results.json.
// `npm run bench -- P1 P6` measures only those; the others keep the results they had.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coldCheck } from "./cold-check.ts";
import { type Figure, heading, isMet, lineOf } from "./figure.ts";
import { gatewayRate } from "./gateway.ts";
import { growth } from "./growth.ts";
import { postgresRate } from "./postgres.ts";
import { rates } from "./rates.ts";
import { resume } from "./resume.ts";
import { rounds } from "./rounds.ts";
import { serverLoad } from "./server-load.ts";
import { serverWaiting } from "./server-waiting.ts";
import { waiting } from "./waiting.ts";
import { wholeTrace } from "./whole-trace.ts";

/** Each gets an empty folder of its own. */
const benches: readonly { ids: readonly string[]; measure: (folder: string) => unknown; isNamed?: true }[] = [
  { ids: ["P1", "P2"], measure: rates },
  { ids: ["P3", "P4"], measure: growth },
  { ids: ["P5"], measure: resume },
  { ids: ["P6"], measure: wholeTrace },
  { ids: ["P7"], measure: coldCheck },
  // Its peers are installed by hand, so it is measured only when it is named.
  { ids: ["P8"], measure: postgresRate, isNamed: true },
  {
    ids: ["P9"],
    measure: async (folder) => [...(await waiting(folder)), ...(await serverWaiting(folder))],
  },
  { ids: ["P10"], measure: rounds },
  { ids: ["S1"], measure: serverLoad },
  { ids: ["P11"], measure: gatewayRate },
];

const say = (line: string) => process.stdout.write(`${line}\n`);
const wanted = process.argv.slice(2).map((id) => id.toUpperCase());
const known = benches.flatMap(({ ids }) => ids);
const strange = wanted.filter((id) => !known.includes(id));
if (strange.length > 0)
  throw new Error(`\`${strange.join(" ")}\` is not measured (known are ${known.join(" ")})`);

const results = new URL("results.json", import.meta.url);
const before = existsSync(results)
  ? (JSON.parse(readFileSync(results, "utf8")) as { figures?: Figure[] })
  : {};
let figures = before.figures ?? [];
say(heading);
for (const { ids, measure, isNamed } of benches) {
  if (!ids.some((id) => wanted.includes(id)) && (wanted.length > 0 || isNamed === true)) continue;
  const folder = mkdtempSync(join(tmpdir(), "packloop-bench-"));
  try {
    const measured = (await measure(folder)) as readonly Figure[];
    for (const figure of measured) say(lineOf(figure));
    figures = [...figures.filter(({ id }) => !ids.includes(id)), ...measured];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const order = (id: string) => Number(id.slice(1)) + (id.startsWith("S") ? 100 : 0);
const all = figures.toSorted((a, b) => order(a.id) - order(b.id)).map((one) => ({ ...one, met: isMet(one) }));
writeFileSync(results, `${JSON.stringify({ node: process.version, figures: all }, null, 2)}\n`);
