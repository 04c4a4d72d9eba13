// Runs another program once: one text in, one text out. It leads a process group of its own, and whatever is
// left of the group when it is over, or when its time is up, is ended.

import { type ChildProcess, spawn } from "node:child_process";

export interface ProgramStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  /** More output ends the program. */
  readonly stdoutMax: number;
  readonly signal: AbortSignal;
  /** Called with its process before it is told anything. */
  readonly onStarted?: (pid: number) => void;
}

export type ProgramEnd =
  | {
      readonly kind: "exited";
      readonly code: number | null;
      readonly stdout: Buffer;
      readonly stderr: string;
    }
  | { readonly kind: "timeout"; readonly stderr: string }
  | { readonly kind: "too-large"; readonly stderr: string }
  | { readonly kind: "not-started"; readonly reason: string; readonly isExecutable: boolean };

/** Errors of starting a file that is there and will never run. */
const NOT_EXECUTABLE = new Set(["EACCES", "ENOEXEC", "EPERM"]);

/** Of what a program says to people, the end is kept. */
const STDERR_MAX = 64 * 1024;

/** Between being asked to stop and being stopped. */
const GRACE_MS = 5000;

/** How long output is awaited after the end, when something left behind holds it open. */
const DRAIN_MS = 2000;

/** Rejects only when the caller gave up. */
export function runProgram(start: ProgramStart): Promise<ProgramEnd> {
  start.signal.throwIfAborted();
  const [file = "", ...args] = start.argv;
  const { cwd, env } = start;
  const child = spawn(file, args, {
    cwd,
    env,
    stdio: "pipe",
    detached: true,
    shell: false,
    windowsHide: true,
  });
  return new Running(child, start).end;
}

class Running {
  readonly end: Promise<ProgramEnd>;
  readonly #child: ChildProcess;
  readonly #start: ProgramStart;
  readonly #stdout: Buffer[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #size = 0;
  #stderr = Buffer.alloc(0);
  /** Why it was told to stop. */
  #stopped: "timeout" | "too-large" | undefined;
  #settle: (end: ProgramEnd) => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(child: ChildProcess, start: ProgramStart) {
    this.#child = child;
    this.#start = start;
    const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd>();
    this.#settle = resolve;
    this.#fail = reject;
    this.end = promise.finally(() => this.#clean());
    this.#listen();
    this.#later(start.timeoutMs, () => this.#stop("timeout"));
    start.signal.addEventListener("abort", this.#aborted, { once: true });
  }

  #listen(): void {
    const { stdin, stdout, stderr } = this.#child;
    this.#child.once("error", (error: NodeJS.ErrnoException) => {
      const isExecutable = !NOT_EXECUTABLE.has(error.code ?? "");
      this.#settle({ kind: "not-started", reason: error.message, isExecutable });
    });
    this.#child.once("exit", (code) => {
      this.#later(DRAIN_MS, () => this.#finish(code));
      this.#child.once("close", () => this.#finish(code));
    });
    stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-STDERR_MAX);
    });
    // A program that never reads what it is told may still answer.
    stdin?.on("error", () => {});
    if (this.#child.pid !== undefined) this.#start.onStarted?.(this.#child.pid);
    stdin?.end(this.#start.stdin);
  }

  #take(chunk: Buffer): void {
    if (this.#stopped !== undefined) return;
    this.#size += chunk.length;
    if (this.#size > this.#start.stdoutMax) this.#stop("too-large");
    else this.#stdout.push(chunk);
  }

  #stop(why: "timeout" | "too-large"): void {
    // A program that ended before its time was up has done its work, even if the timer is heard first.
    const { exitCode, signalCode } = this.#child;
    if (this.#stopped !== undefined || exitCode !== null || signalCode !== null) return;
    this.#stopped = why;
    this.#kill("SIGTERM");
    this.#later(GRACE_MS, () => this.#kill("SIGKILL"));
  }

  #finish(code: number | null): void {
    const stderr = this.#stderr.toString("utf8");
    if (this.#stopped !== undefined) this.#settle({ kind: this.#stopped, stderr });
    else this.#settle({ kind: "exited", code, stdout: Buffer.concat(this.#stdout), stderr });
  }

  readonly #aborted = (): void => {
    this.#kill("SIGKILL");
    this.#fail(this.#start.signal.reason);
  };

  #clean(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#start.signal.removeEventListener("abort", this.#aborted);
    this.#kill("SIGKILL");
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #later(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms));
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      // Nobody of the group is left, or only one that is over and not yet collected.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ESRCH" && code !== "EPERM") throw error;
    }
  }
}
