// Seeds in bulk, and planted bugs that they must find. `SIM_SEEDS` raises the number of seeds.

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";

const SEEDS = Number(process.env["SIM_SEEDS"] ?? 60);
const MINUTES = 60_000;
const root = fileURLToPath(new URL("../..", import.meta.url));
const program = fileURLToPath(new URL("./run.ts", import.meta.url));

const mutants = [
  {
    name: "a call leaves for a run that was lost while it waited",
    file: "engine/lease.ts",
    from: "if (!wasSure && !signal.aborted) {",
    to: "if (!wasSure) return true;\n    if (!wasSure && !signal.aborted) {",
  },
  {
    name: "a run that is not ours is kept in memory",
    file: "engine/door.ts",
    from: "const isOurs = this.#store.shared?.isOurs(id) ?? true;",
    to: "const isOurs = true;",
  },
  {
    name: "a run that others have moved is not looked at",
    file: "engine/shared-driver.ts",
    from: "new Set([...moved, ...again])",
    to: "new Set(again)",
  },
  {
    name: "a run that others have moved is looked at as it was",
    file: "engine/engine.ts",
    from: "    this.#door.forget(id);\n    const run = await this.#door.latest(id);",
    to: "    const run = await this.#door.latest(id);",
  },
  {
    name: "a run that was claimed is not resumed",
    file: "engine/shared-driver.ts",
    from: "of await shared.claim(runs - shared.held, clock.now())) this.#resume(run);",
    to: "of await shared.claim(runs - shared.held, clock.now())) void run;",
  },
  {
    name: "a call whose step another process closed goes on",
    file: "engine/dispatcher.ts",
    from: "    this.#abortAll(id, stepClosed, run.open);\n",
    to: "",
  },
  {
    name: "a call leaves from a process that stood still until others had its runs",
    file: "engine/lease.ts",
    from: "const wasSure = shared.isSure;",
    to: "const wasSure = true;\n    if (wasSure) return true;",
  },
  {
    name: "a retried call is put in doubt by who takes the run up",
    file: "core/apply.ts",
    from: "{ later, sent: _sent, ...open }: OpenAsk",
    to: "{ later, ...open }: OpenAsk",
  },
] as const;

test("however several processes die, dawdle and miss news, every run ends as it would alone", {
  timeout: 10 * MINUTES,
}, async () => {
  expect(await said(["--seeds", String(SEEDS)])).toBe(`${SEEDS} seeds, nothing wrong\n`);
});

describe("the seeds notice that", () => {
  const saidOf = new Map<string, string>();
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "packloop-shared-"));
    try {
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      const sources = mutants.map((_, index) => plant(index, join(folder, `m${index}`)));
      const lines = await said(["--seeds", String(SEEDS), ...sources.flatMap((one) => ["--src", one])]);
      for (const [index, line] of lines.split("\n").entries()) saidOf.set(mutants[index]?.name ?? "", line);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 10 * MINUTES);

  test.for(mutants)("$name", ({ name }) => {
    expect(saidOf.get(name)).toMatch(/^seed \d+: /);
  });
});

function plant(index: number, sources: string): string {
  const { name, file, from, to } = mutants[index] as (typeof mutants)[number];
  for (const part of ["base", "core", "engine"])
    cpSync(join(root, "src", part), join(sources, part), { recursive: true });
  const path = join(sources, file);
  const before = readFileSync(path, "utf8");
  const places = before.split(from).length - 1;
  if (places !== 1) throw new Error(`${name}: ${places} places in ${file}`);
  writeFileSync(
    path,
    before.replace(from, () => to),
  );
  return sources;
}

function said(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  return text(child.stdout);
}
