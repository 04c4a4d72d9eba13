// Runs in a folder of their own, through the command line: what a command printed, and what the run then is.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fact, TurnRow } from "../../src/core/facts.ts";
import type { Summary } from "../../src/core/summary.ts";
import type { TraceRow } from "../../src/core/trace.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { folderWith, packloop, type Ran, type RunOptions } from "./run-cli.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

export const seed = (name: string): string =>
  fileURLToPath(new URL(`../../testdata/packs/seeds/${name}`, import.meta.url));

export interface RunFolder extends Disposable {
  readonly path: string;
  readonly store: string;
  readonly cli: (args: readonly string[], options?: RunOptions) => Ran;
  /** A command with --json: its exit code and the last line, which is the summary. */
  readonly summary: (args: readonly string[], options?: RunOptions) => Ran & { readonly summary: Summary };
  readonly trace: (run?: string) => readonly TraceRow[];
  readonly journal: (run: string) => Promise<readonly TurnRow[]>;
}

export function runFolder(files: Readonly<Record<string, string>> = {}): RunFolder {
  const folder = folderWith(files);
  const store = join(folder.path, ".packloop", "runs.db");
  const cli = (args: readonly string[], options: RunOptions = {}) =>
    packloop(args, { cwd: folder.path, ...options });
  return {
    path: folder.path,
    store,
    cli,
    summary(args, options) {
      const ran = cli([...args, "--json"], options);
      const last = ran.stdout.trimEnd().split("\n").at(-1) ?? "";
      if (last === "") throw new Error(`no summary, exit ${ran.code}: ${ran.stderr}`);
      return { ...ran, summary: JSON.parse(last) as Summary };
    },
    trace(run = "@") {
      const ran = cli(["trace", run, "--format", "json"]);
      if (ran.code !== 0) throw new Error(ran.stderr);
      return JSON.parse(ran.stdout) as readonly TraceRow[];
    },
    journal: (run) => journalOf(store, run),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** A run's journal, read beside whoever writes. */
async function journalOf(path: string, run: string): Promise<readonly TurnRow[]> {
  await using store = await openSqliteStore(path, { readOnly: true });
  return await store.rows(run, { from: 1, to: 1_000_000, limit: 1_000_000 });
}

export function factsOf(rows: readonly TurnRow[]): readonly Fact[] {
  return rows.flatMap((row) => row.facts);
}

/** The way of a trace in one line. */
export const pathOf = (rows: readonly TraceRow[]): string => rows.map((row) => row.to).join(" → ");

export interface Live {
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when the text of both streams satisfies the condition, or the process has ended. */
  readonly until: (done: (text: string) => boolean) => Promise<void>;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly text: string;
  }>;
}

/** A command that goes on beside the test. */
export function live(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Live {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  let over = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      tell();
    });
  }
  const ended = once(child, "close").then(([code, signal]) => {
    over = true;
    tell();
    return { code: code as number | null, signal: signal as string | null, text };
  });
  return {
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    ended,
    until: (done) =>
      new Promise((resolve) => {
        const look = () => {
          if (!over && !done(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
  };
}
