// `packloop serve` as a process of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

export interface ServeProcess {
  readonly url: string;
  readonly pid: number;
  /** What it wrote so far. */
  text(): string;
  /** Its exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | string>;
  /** How it ended by itself. */
  readonly ended: Promise<number | string>;
}

export const serveProcess = (folder: string, ...args: readonly string[]): Promise<ServeProcess> =>
  serveWith({}, folder, args);

/** With these variables in its environment. */
export async function serveWith(
  env: Readonly<Record<string, string>>,
  folder: string,
  args: readonly string[] = [],
): Promise<ServeProcess> {
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const child = spawn(process.execPath, [bin, "serve", "--port", "0", ...args], options);
  let text = "";
  let url: string | undefined;
  const heard = Promise.withResolvers<void>();
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const hear = (chunk: Buffer) => {
    text += chunk.toString("utf8");
    url = / at (http:\/\/\S+)\n/.exec(text)?.[1];
    if (url !== undefined) heard.resolve();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  exited.then(
    () => heard.resolve(),
    () => undefined,
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  await heard.promise;
  if (url === undefined) throw new Error(`it did not start: ${text}`);
  return {
    url,
    pid: child.pid ?? 0,
    text: () => text,
    ended: exited.then(([code, by]) => code ?? by ?? ""),
    async stop(signal) {
      child.kill(signal);
      const [code, by] = await exited;
      return code ?? by ?? "";
    },
  };
}
