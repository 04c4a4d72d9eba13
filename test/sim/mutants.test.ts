// Every planted bug must be found within a thousand seeds or so.

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { callMutants } from "./call-mutants.ts";
import { compositionMutants } from "./composition-mutants.ts";
import { grantMutants } from "./grant-mutants.ts";
import { holdMutants } from "./hold-mutants.ts";
import { type Mutant, mutants } from "./mutants.ts";

const SEEDS = 1_200;
/** Starting costs more than playing, so each process plays many. */
const PROCESSES = 2;
const root = fileURLToPath(new URL("../..", import.meta.url));
const all: readonly Mutant[] = [...mutants, ...callMutants, ...holdMutants];
/** These are found by packs that have compositions. */
const COMPOSED_SEEDS = 200;
/** And these by packs whose agents spend. */
const SPENDING_SEEDS = 250;
const NONE: Mutant = { name: "nothing", file: "core/decide.ts", from: "", to: "" };
const saidOf = new Map<string, string>();

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "packloop-mutants-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const planted = [...all, NONE].map((mutant, index) => {
      return { name: mutant.name, sources: plant(mutant, join(folder, `m${index}`)) };
    });
    const batches = Array.from({ length: PROCESSES }, (_, batch) =>
      planted.filter((_, index) => index % PROCESSES === batch),
    );
    const composed = compositionMutants.map((mutant, index) => {
      return { name: mutant.name, sources: plant(mutant, join(folder, `c${index}`)) };
    });
    const spending = grantMutants.map((mutant, index) => {
      return { name: mutant.name, sources: plant(mutant, join(folder, `g${index}`)) };
    });
    const tell = async (batch: typeof planted, flags: readonly string[]) => {
      const lines = await play(
        batch.map(({ sources }) => sources),
        flags,
      );
      for (const [index, { name }] of batch.entries()) saidOf.set(name, lines[index] ?? "");
    };
    await Promise.all([
      ...batches.map((batch) => tell(batch, ["--seeds", String(SEEDS)])),
      tell(composed, ["--seeds", String(COMPOSED_SEEDS), "--compositions"]),
      tell(spending, ["--seeds", String(SPENDING_SEEDS), "--spending"]),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 360_000);

describe("the simulator notices that", () => {
  test.for([...all, ...compositionMutants, ...grantMutants])("$name", ({ name }) => {
    expect(saidOf.get(name)).toMatch(/^seed \d+: /);
  });
});

test("a copy without a planted bug passes", () => {
  expect(saidOf.get(NONE.name)).toBe(`${SEEDS} seeds, nothing wrong`);
});

/** A copy of the parts of the sources that are simulated, with the bug in it. */
function plant(mutant: Mutant, sources: string): string {
  for (const part of ["base", "core", "engine", "store"])
    cpSync(join(root, "src", part), join(sources, part), { recursive: true });
  if (mutant.from === "") return sources;
  const path = join(sources, mutant.file);
  const text = readFileSync(path, "utf8");
  const places = text.split(mutant.from).length - 1;
  if (places !== 1) throw new Error(`${mutant.name}: ${places} places in ${mutant.file}`);
  writeFileSync(
    path,
    text.replace(mutant.from, () => mutant.to),
  );
  return sources;
}

/** What the simulator says of each folder, in order. */
function play(folders: readonly string[], flags: readonly string[]): Promise<readonly string[]> {
  const args = [join(root, "test/sim/run.ts"), ...flags, ...folders.flatMap((one) => ["--src", one])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (data: Buffer) => {
    said += data.toString();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(said.split("\n")));
  });
}
