// The command line as a process in an environment that says nothing by itself of packloop, of providers or of
// telemetry.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Ran } from "./run-cli.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));
const OURS = /^(PACKLOOP|OTEL|ANTHROPIC|OPENAI|GOOGLE|GEMINI)_/;

export interface Ways {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function packloopAlone(args: readonly string[], { cwd, env = {} }: Ways): Promise<Ran> {
  const clean = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { ...Object.fromEntries(clean), NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}
