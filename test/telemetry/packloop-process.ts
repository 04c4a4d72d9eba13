// `packloop` as a process.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { folderWith } from "../cli/run-cli.ts";
import { type Collector, startCollector } from "./collector.ts";
import { text } from "./looping-pack.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Ways {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly node?: readonly string[];
  /** What is typed. */
  readonly input?: string;
}

/** In an environment that says nothing of telemetry by itself. */
export const commandLine = (args: readonly string[], { env = {}, node = [] }: Omit<Ways, "cwd">) => {
  const clean = Object.entries(process.env).filter(([name]) => !/^OTEL_|^TRACE|^PACKLOOP_/.test(name));
  return {
    command: process.execPath,
    args: [...node, bin, ...args],
    env: { ...(Object.fromEntries(clean) as Record<string, string>), NO_COLOR: "1", ...env },
  };
};

export interface Going {
  readonly child: ChildProcess;
  /** Everything it has written. */
  readonly said: () => string;
  readonly ran: Promise<Ran>;
}

export function begun(args: readonly string[], ways: Ways): Going {
  const { command, args: all, env } = commandLine(args, ways);
  const child = spawn(command, all, { cwd: ways.cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.end(ways.input ?? "");
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ran = once(child, "close").then((ended) => {
    const [code, signal] = ended as [number | null, string | null];
    return { code, signal, stdout, stderr };
  });
  return { child, said: () => stdout + stderr, ran };
}

export const packloop = (args: readonly string[], ways: Ways): Promise<Ran> => begun(args, ways).ran;

const script = `states:
  work: [{ event: Again }, { event: Done }]
  end: [{ text: Goodbye. }]
`;

/** With the looping pack and a script. */
export function packFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = folderWith({ "looping.pack.yaml": text, "script.yaml": script, ...files });
  onTestFinished(() => folder[Symbol.dispose]());
  return folder.path;
}

export async function collectorHere(options?: { answers: boolean }): Promise<Collector> {
  const collector = await startCollector(options);
  onTestFinished(() => collector[Symbol.asyncDispose]());
  return collector;
}

export const running = [
  ...["run", "looping.pack.yaml", "--script", "script.yaml"],
  ...["--var", "task=canary-7d1e", "--json"],
];

export const idOf = ({ stdout }: Ran): string =>
  (JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as { run: string }).run;
