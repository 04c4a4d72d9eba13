// A program that leads a process group of its own, so that all of it can be ended at once: when its time is
// up, when nobody waits for it any more, and whatever is left of it when it is over.

import { type ChildProcess, spawn } from "node:child_process";

export interface GroupStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: "pipe" | "ignore";
  readonly timeoutMs: number;
  /** Between being asked to stop and being stopped. */
  readonly graceMs: number;
  /** How long output is awaited after the end, when something left behind holds it open. */
  readonly drainMs: number;
  readonly signal: AbortSignal;
}

export interface GroupEnd {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  readonly durationMs: number;
}

/** The longest a timer of Node can be: a longer one would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

export class ProcessGroup implements Disposable {
  readonly child: ChildProcess;
  /** Rejects when the program cannot be started, and with the signal's reason when it aborts. */
  readonly ended: Promise<GroupEnd>;
  /** Why it was told to stop. */
  stoppedFor: "timeout" | "too-large" | undefined;
  readonly #start: GroupStart;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #abandon: () => void;

  constructor(start: GroupStart) {
    const { argv, cwd, env, stdin, signal, timeoutMs, drainMs } = start;
    signal.throwIfAborted();
    const began = performance.now();
    const [file = "", ...args] = argv;
    const stdio = [stdin, "pipe", "pipe"] as const;
    this.#start = start;
    this.child = spawn(file, args, {
      ...{ cwd, env, stdio: [...stdio], detached: true, shell: false, windowsHide: true },
    });
    const { promise, resolve, reject } = Promise.withResolvers<GroupEnd>();
    this.ended = promise;
    this.child.once("error", reject);
    this.child.once("exit", (code, killedBy) => {
      const durationMs = Math.round(performance.now() - began);
      const done = (): void => resolve({ code, killedBy, durationMs });
      this.#later(drainMs, done);
      this.child.once("close", done);
    });
    this.#abandon = () => {
      this.#kill("SIGKILL");
      reject(signal.reason);
    };
    signal.addEventListener("abort", this.#abandon, { once: true });
    this.#later(timeoutMs, () => this.stop("timeout"));
  }

  stop(why: "timeout" | "too-large"): void {
    // A program that ended before its time was up has done its work, even if the timer is heard first.
    const { exitCode, signalCode } = this.child;
    if (this.stoppedFor !== undefined || exitCode !== null || signalCode !== null) return;
    this.stoppedFor = why;
    this.#kill("SIGTERM");
    this.#later(this.#start.graceMs, () => this.#kill("SIGKILL"));
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#start.signal.removeEventListener("abort", this.#abandon);
    this.#kill("SIGKILL");
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  #later(ms: number, act: () => void): void {
    const wait = Math.min(ms, TIMER_MAX_MS);
    this.#timers.push(setTimeout(() => (wait === ms ? act() : this.#later(ms - wait, act)), wait));
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid !== undefined) killQuietly(-pid, signal);
  }
}

/** Nobody is left, only one that is over and not yet collected, or one that is no longer ours to end. */
export function killQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
