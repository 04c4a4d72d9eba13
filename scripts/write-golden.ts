// Writes test/golden/VERSION: journals of this release, made by running examples under a clock that counts,
// and what they fold to. Once per release: what is written there is never written again (`--again` before it
// is released).

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { readScript } from "../src/adapter/script/read-script.ts";
import { noTools, scriptedEvent, scriptedModel, scriptedTools } from "../src/adapter/script/scripted.ts";
import { must } from "../src/base/assert.ts";
import type { Json } from "../src/base/json.ts";
import type { TurnRow } from "../src/core/facts.ts";
import { Engine } from "../src/engine/engine.ts";
import type { Clock } from "../src/engine/ports.ts";
import { openPack } from "../src/pack/open-pack.ts";
import { memoryStore } from "../src/store/memory.ts";
import { sampleJournal } from "../src/store/sample-journal.ts";
import { type ExampleRun, exampleRuns } from "../test/cli/example-runs.ts";
import { type Golden, goldenOf } from "../test/golden/folded.ts";
import { journalsByHand } from "./golden-by-hand.ts";

const CHOSEN: readonly string[] = [
  "codegen/script.yaml",
  "codegen/script-give-up.yaml",
  "etl/script.yaml",
  "plan/script.yaml",
  "remediate/script-rejected.yaml",
  "remediate/script-waits.yaml",
  "research/script.yaml",
  "triage/script.yaml",
];

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const folder = new URL(`../test/golden/${version}/`, import.meta.url);
if (existsSync(folder) && !process.argv.includes("--again")) {
  process.stderr.write(`error: the journals of ${version} are written already and stay as they are\n`);
  process.exitCode = 2;
} else {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const digests: Record<string, Golden> = {};
  for (const run of exampleRuns().filter(({ name }) => CHOSEN.includes(name)))
    keep(digests, run.name.replace("/", "-").replace(".yaml", ""), await play(run));
  for (const [name, rows] of Object.entries(journalsByHand())) keep(digests, name, rows);
  // Texts that break careless code.
  for (const seed of [1, 2, 3])
    keep(
      digests,
      `every-fact-${seed}`,
      sampleJournal(seed, 80).map(({ row }) => row),
    );
  writeFileSync(new URL("digests.json", folder), `${JSON.stringify(digests, null, 2)}\n`);
}

function keep(digests: Record<string, Golden>, name: string, rows: readonly TurnRow[]): void {
  writeFileSync(new URL(`${name}.jsonl`, folder), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  digests[name] = goldenOf(rows);
}

async function play({ name, pack, script: file, variables }: ExampleRun): Promise<readonly TurnRow[]> {
  const source = readFileSync(pack, "utf8");
  const opened = openPack(source, { file: pack });
  if (!opened.ok) throw opened.toError();
  const { script } = readScript(parse(readFileSync(file, "utf8")) as Json);
  const clock = countingClock();
  const store = memoryStore();
  const rows: TurnRow[] = [];
  await using engine = new Engine({
    store,
    clock,
    portsOf: async () => ({
      model: scriptedModel(script, clock),
      tools: scriptedTools(script, clock, noTools),
    }),
    peopleOf: async (_id, run) =>
      Object.values(run.open).some(({ ask }) => ask.kind === "event")
        ? scriptedEvent(script, run, clock.now())
        : undefined,
    onTurn: (_id, row) => rows.push(row),
  });
  const started = await engine.start({
    id: "r_golden",
    program: opened.program,
    digest: opened.digest,
    source,
    setup: {},
    input: { mode: "autonomous", variables, input: "" },
  });
  if (started.kind === "refused") throw new Error(`${name} was refused: ${started.refusal.code}`);
  const run = must(await engine.settled("r_golden"), "a started run is there");
  if (run.turn !== rows.length) throw new Error(`${name}: ${rows.length} of ${run.turn} turns were seen`);
  return rows;
}

/** Each look is a second later; nothing is waited for but timers, which never come. */
function countingClock(): Clock {
  let now = 1_767_225_600_000;
  return {
    now: () => (now += 1_000),
    sleep: (ms, signal) =>
      ms <= 0 || signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
  };
}
