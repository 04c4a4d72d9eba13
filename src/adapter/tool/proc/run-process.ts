// Runs one process to its end, or to the end of its time. Whatever it started goes with it: the whole group,
// and processes that left the group, which are known by a mark in their environment.

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode, ToolProblem } from "../tool-problem.ts";
import { OutputWindow } from "./output-window.ts";

export interface ProcessStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Of both streams together. */
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly killedBy: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** Between being asked to stop and being stopped. */
const GRACE_MS = 2000;
/** How long output is awaited after the end of the process, when something it left behind holds it open. */
const DRAIN_MS = 500;
const MARK = "PACKLOOP_CALL";

export async function runProcess(start: ProcessStart): Promise<ProcessEnd> {
  const mark = randomUUID();
  const begun = performance.now();
  const child = await spawned(start, mark);
  const stdout = collected(child.stdout, start.outputBytes / 2);
  const stderr = collected(child.stderr, start.outputBytes / 2);
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(child, "close");
  const reaper = new Reaper(child, mark, start);
  try {
    const [exitCode, killedBy] = await ended;
    const durationMs = Math.round(performance.now() - begun);
    await Promise.race([closed, delay(DRAIN_MS)]);
    await reaper.end();
    start.signal.throwIfAborted();
    const { timedOut } = reaper;
    return { exitCode, killedBy, stdout: stdout.text(), stderr: stderr.text(), timedOut, durationMs };
  } finally {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

async function spawned({ argv, cwd, env, signal }: ProcessStart, mark: string): Promise<ChildProcess> {
  signal.throwIfAborted();
  const [file, ...args] = argv;
  const child = spawn(file ?? "", args, {
    cwd,
    env: { ...env, [MARK]: mark },
    stdio: ["ignore", "pipe", "pipe"],
    // Its own group, so that all of it can be ended at once.
    detached: true,
    shell: false,
    windowsHide: true,
  });
  try {
    await once(child, "spawn");
    return child;
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOENT" && code !== "EACCES") throw error;
    throw new ToolProblem(
      "no_program",
      `\`${file}\` cannot be started (${code}: is it installed and on PATH?)`,
      {
        cause: error,
      },
    );
  }
}

function collected(stream: ChildProcess["stdout"], bytes: number): OutputWindow {
  const output = new OutputWindow(Math.floor(bytes));
  stream?.on("data", (chunk: Buffer) => output.add(chunk));
  return output;
}

/** Ends the process when its time is over or nobody waits for it, and in the end whatever is left of it. */
class Reaper {
  timedOut = false;
  readonly #pid: number;
  readonly #mark: string;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #lastTimer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, mark: string, { timeoutMs, signal }: ProcessStart) {
    this.#pid = child.pid ?? 0;
    this.#mark = mark;
    this.#signal = signal;
    this.#timer = setTimeout(() => {
      this.timedOut = true;
      this.#kill("SIGTERM");
      this.#lastTimer = setTimeout(() => this.#kill("SIGKILL"), GRACE_MS);
    }, timeoutMs);
    signal.addEventListener("abort", this.#aborted);
    if (signal.aborted) this.#aborted();
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#lastTimer);
    this.#signal.removeEventListener("abort", this.#aborted);
    this.#kill("SIGKILL");
    // A stray may have started others while it was looked for; nobody starts processes faster for long.
    for (let round = 0; round < 10; round++) {
      const strays = await marked(this.#mark);
      if (strays.length === 0) return;
      for (const pid of strays) killQuietly(pid, "SIGKILL");
    }
  }

  readonly #aborted = (): void => this.#kill("SIGKILL");

  #kill(signal: NodeJS.Signals): void {
    if (this.#pid > 0) killQuietly(-this.#pid, signal);
  }
}

function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone already, or no longer ours to end.
    if (errorCode(error) !== "ESRCH" && errorCode(error) !== "EPERM") throw error;
  }
}

/** Living processes with the mark in their environment. Other systems than Linux do not show it. */
async function marked(mark: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return [];
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) =>
      (await environmentOf(name)).includes(`${MARK}=${mark}`) ? [Number(name)] : [],
    ),
  );
  return found.flat();
}

async function environmentOf(pid: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/environ`, "latin1");
  } catch (error) {
    // Ended meanwhile, or somebody else's.
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(errorCode(error) ?? "")) return "";
    throw error;
  }
}
