// `packloop serve` as a process of its own, so that what it takes is not mixed with what asking takes.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../bin/packloop", import.meta.url));

export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(folder: string, store: string): Promise<ServerProcess> {
    const args = [bin, "serve", "--port", "0", "--store", store, "--log-level", "error", "--rate", "100000"];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const [chunk] = (await Promise.race([once(child.stdout, "data"), once(child, "exit")])) as [
      Buffer | number,
    ];
    const url = / at (http:\/\/\S+)/.exec(String(chunk))?.[1];
    if (url === undefined) throw new Error(`the server did not start: ${String(chunk)}`);
    return new ServerProcess(child, url);
  }

  /** Resident, in MiB. */
  get memory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
  }

  async json(path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.url}${path}`, {
      ...(body !== undefined && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    const value = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(value)}`);
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await closed;
  }
}
