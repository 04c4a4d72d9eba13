// The command line as a user has it: a process, its streams, its exit code.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

export function packloop(args: readonly string[], options: RunOptions = {}): Ran {
  const env = { ...process.env, NO_COLOR: "1", ...options.env };
  const result = spawnSync(process.execPath, [bin, ...args], {
    cwd: options.cwd,
    input: options.input ?? "",
    env,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** A folder of its own with these files in it; removed by `using`. */
export function folderWith(
  files: Readonly<Record<string, string | Buffer>>,
): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "packloop-cli-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Started {
  /** Resolves when both streams together satisfy the condition. */
  until(done: (text: string) => boolean): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<string>;
  code(): number | null;
}

/** A command that goes on until it is stopped. */
export function startPackloop(args: readonly string[], cwd: string): Started {
  const child = spawn(process.execPath, [bin, ...args], { cwd, env: { ...process.env, NO_COLOR: "1" } });
  let text = "";
  const listeners = new Set<() => void>();
  const heard = (chunk: Buffer) => {
    text += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on("data", heard);
  child.stderr.on("data", heard);
  const exited = once(child, "exit");
  return {
    until: (done) =>
      new Promise((resolve) => {
        const look = () => {
          if (!done(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
    async stop(signal) {
      child.kill(signal);
      await exited;
      return text;
    },
    code: () => child.exitCode,
  };
}
