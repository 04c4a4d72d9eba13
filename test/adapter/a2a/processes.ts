// packloop and an agent as processes beside a test.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { root } from "../../tidy/source-files.ts";

export interface Beside {
  text(): string;
  /** Resolves when what it wrote satisfies the condition, or it has ended. */
  until(done: (text: string) => boolean): Promise<void>;
  /** What it wrote, once it has ended. */
  readonly ended: Promise<string>;
  kill(): Promise<void>;
}

export function startProgram(file: string, args: readonly string[], cwd: string): Beside {
  const program = join(root, "test/adapter/a2a", file);
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...process.env, NO_COLOR: "1" } });
  let text = "";
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const heard = (chunk: Buffer): void => {
    text += chunk.toString();
    tell();
  };
  child.stdout.on("data", heard);
  child.stderr.on("data", heard);
  let over = false;
  const ended = once(child, "close").then(() => {
    over = true;
    tell();
    return text;
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    text: () => text,
    until: (done) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!done(text) && !over) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The agent of agent-program.ts; its address stays the same when it is started again at its port. */
export async function startAgent(folder: string, port = 0): Promise<Beside & { url: string; port: number }> {
  const program = startProgram("agent-program.ts", [folder, String(port)], folder);
  await program.until((text) => /at http\S+\n/.test(text));
  const url = /at (http\S+)\n/.exec(program.text())?.[1];
  if (url === undefined) throw new Error(`it did not start: ${program.text()}`);
  return { ...program, url, port: Number(new URL(url).port) };
}

export const packloop = (args: readonly string[], cwd: string): Beside =>
  startProgram("driver-program.ts", args, cwd);
