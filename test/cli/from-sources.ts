// The command line as a process, from the sources: what is built may be older. The environment says nothing by
// itself of packloop, of providers or of telemetry.

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Ran } from "./run-cli.ts";

const main = new URL("../../src/cli/main.ts", import.meta.url).href;
const start = `import(${JSON.stringify(main)}).then(m=>m.main(process.argv.slice(1))).then(c=>{process.exitCode=c})`;
const OURS = /^(PACKLOOP|OTEL|ANTHROPIC|OPENAI|GOOGLE|GEMINI)_/;

export interface Ways {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function packloopFromSources(args: readonly string[], { cwd, env = {} }: Ways): Promise<Ran> {
  const clean = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  const child = spawn(process.execPath, ["-e", start, "--", ...args], {
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
