// Runs packloop under strace, which kills it at a chosen system call or lets that call fail. Only calls on the
// files of the store and, when it is asked for, on standard output count, so that a point is the same call in
// every run.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

/** Everything by which a store changes its files. */
export const CALLS = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "unlink"] as const;
export type Call = (typeof CALLS)[number];

/** The name by which a call on standard output is known. */
export const OUT = "out";

/** `SIGKILL` kills at the call; an error number makes it fail, once or from then on. */
export interface Point {
  readonly call: Call;
  readonly nth: number;
  readonly with: "SIGKILL" | "ENOSPC" | "EIO";
  readonly on?: true;
}

/** Also how a point is named on the command line: `pwrite64:12:ENOSPC+`. */
export const nameOf = ({ call, nth, with: what, on }: Point): string =>
  `${call}:${nth}:${what}${on === true ? "+" : ""}`;

/** A call that was made; `injected` when it did not get through. */
export interface MadeCall {
  readonly thread: string;
  readonly call: string;
  readonly file: string;
  readonly injected: boolean;
}

export interface Process {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: readonly MadeCall[];
}

/** Why no process can be traced here; undefined when it can. */
export function noStrace(): string | undefined {
  const probe = spawnSync("strace", ["-qq", "-o", "/dev/null", "-e", "trace=write", "true"], {
    encoding: "utf8",
  });
  if (probe.error !== undefined) return `strace cannot be started (${probe.error.message})`;
  return probe.status === 0 ? undefined : `strace cannot trace here: ${probe.stderr.trim()}`;
}

export interface TraceOptions {
  readonly store: string;
  readonly point?: Point;
  /** Telling of a turn is a call like another. */
  readonly stdout?: true;
}

/** One packloop process under strace, with its streams in files: a file is always written at once. */
export async function traced(args: readonly string[], options: TraceOptions): Promise<Process> {
  const folder = mkdtempSync(join(tmpdir(), "packloop-traced-"));
  const [log, out, err] = ["log", OUT, "err"].map((name) => join(folder, name)) as [string, string, string];
  const streams = [openSync(out, "w"), openSync(err, "w")] as const;
  try {
    const child = spawn(
      "strace",
      [
        ...["-f", "-y", "-qq", "-s", "0", "-o", log, "-e", `trace=${CALLS.map((call) => `?${call}`).join()}`],
        ...watched(options, out).flatMap((path) => ["-P", path]),
        ...(options.point === undefined ? [] : ["-e", injection(options.point)]),
        ...[process.execPath, bin, ...args],
      ],
      { stdio: ["ignore", ...streams], env: environment(), cwd: dirname(options.store) },
    );
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    const [stdout, stderr] = [readFileSync(out, "utf8"), readFileSync(err, "utf8")];
    return { code, signal, stdout, stderr, calls: callsIn(readFileSync(log, "utf8")) };
  } finally {
    for (const stream of streams) closeSync(stream);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The compile cache is written whenever somebody comes first; without it every run makes the same calls. */
const environment = () => ({ ...process.env, NO_COLOR: "1", NODE_DISABLE_COMPILE_CACHE: "1" });

function watched({ store, stdout }: TraceOptions, out: string): readonly string[] {
  const endings = ["", "-wal", "-shm", "-journal", "-owner", "-lock", "-lock-journal"];
  return [...endings.map((ending) => store + ending), dirname(store), ...(stdout === true ? [out] : [])];
}

const injection = ({ call, nth, with: what, on }: Point): string =>
  `inject=${call}:${what === "SIGKILL" ? `signal=${what}` : `error=${what}`}:when=${nth}${on === true ? "+" : ""}`;

/** A call another thread interrupted stands in two lines, its beginning and its end. */
function callsIn(log: string): readonly MadeCall[] {
  const begun = new Map<string, { call: string; file: string }>();
  const calls: MadeCall[] = [];
  for (const line of log.split("\n")) {
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, call, byNumber, byName] = /^(\w+)\((?:\d+<([^>]*)>|"([^"]*)")/.exec(rest) ?? [];
    if (call !== undefined) begun.set(thread, { call, file: basename(byNumber ?? byName ?? "") });
    const made = begun.get(thread);
    if (made === undefined || rest.endsWith("<unfinished ...>")) continue;
    calls.push({ thread, ...made, injected: rest.endsWith("(INJECTED)") });
    begun.delete(thread);
  }
  return calls;
}

/** By so much two undisturbed runs may differ in how often they make a call. */
const SPREAD = 8;

/**
 * How many pages a run writes depends a little on its name and times, so the last points of the reference may
 * not come up. Then an earlier one is tried: a trial in which nothing happened would prove nothing.
 */
export async function atOrBefore(point: Point, reaches: (point: Point) => Promise<boolean>): Promise<void> {
  for (let back = 0; back < Math.min(SPREAD, point.nth); back++)
    if (await reaches({ ...point, nth: point.nth - back })) return;
  throw new Error(`the call ${nameOf(point)} was never made`);
}

/**
 * The points of a run that made these calls. strace counts for each thread, so a number stands for the calls
 * of every thread that got so far.
 */
export function pointsOf(calls: readonly MadeCall[], what: Point["with"]): readonly Point[] {
  const counts = new Map<string, number>();
  const points = new Map<string, Point>();
  for (const { thread, call: name } of calls) {
    const nth = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, nth);
    const call = CALLS.find((one) => one === name);
    if (call !== undefined) points.set(`${name} ${nth}`, { call, nth, with: what });
  }
  return [...points.values()];
}
