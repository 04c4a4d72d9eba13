// Worker processes that a test starts, kills and starts again.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./ledger-worker.ts", import.meta.url));

export interface WorkersOptions {
  readonly url: string;
  readonly ledger: string;
  readonly count: number;
  /** Runs that each takes at most. */
  readonly runs?: number;
}

export class Workers implements AsyncDisposable {
  readonly #options: WorkersOptions;
  readonly #alive: ChildProcess[] = [];
  kills = 0;

  private constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Resolves when all of them work. */
  static async start(options: WorkersOptions): Promise<Workers> {
    const workers = new Workers(options);
    await Promise.all(Array.from({ length: options.count }, () => workers.add()));
    return workers;
  }

  get pids(): readonly number[] {
    return this.#alive.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  async add(): Promise<void> {
    const { url, ledger, runs = 64 } = this.#options;
    const child = spawn(process.execPath, [program, url, ledger, String(runs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#alive.push(child);
    const [said] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    if (!Buffer.isBuffer(said)) throw new Error(`a worker ended with ${String(said)} before it worked`);
  }

  /** Dead when it resolves. */
  async kill(pid: number): Promise<void> {
    const at = this.#alive.findIndex((child) => child.pid === pid);
    const [child] = at < 0 ? [] : this.#alive.splice(at, 1);
    if (child === undefined) throw new Error(`${pid} is none of these workers`);
    this.kills++;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  signal(pid: number, signal: "SIGSTOP" | "SIGCONT"): void {
    this.#alive.find((child) => child.pid === pid)?.kill(signal);
  }

  /** Asks it to leave in order, and resolves with its exit code. */
  async end(pid: number): Promise<number | null> {
    const at = this.#alive.findIndex((child) => child.pid === pid);
    const [child] = at < 0 ? [] : this.#alive.splice(at, 1);
    if (child === undefined) throw new Error(`${pid} is none of these workers`);
    const ended = once(child, "exit") as Promise<[number | null]>;
    child.kill("SIGTERM");
    return (await ended)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.pids) await this.kill(pid);
  }
}
