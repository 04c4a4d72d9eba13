// Runs another program once: one text in, one text out.

import { ProcessGroup } from "./process-group.ts";

export interface ProgramStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  /** More output ends the program. */
  readonly stdoutMax: number;
  readonly signal: AbortSignal;
  /** Called with its process before it is told anything, which waits for what this returns. */
  readonly onStarted?: (pid: number) => Promise<void>;
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

const GRACE_MS = 5000;
const DRAIN_MS = 2000;

/** Rejects only when the caller gave up. */
export async function runProgram(start: ProgramStart): Promise<ProgramEnd> {
  const started = startGroup(start);
  if ("reason" in started) return { kind: "not-started", ...started };
  using group = started;
  const said = heard(group, start.stdoutMax);
  const ended = group.ended.catch((error: NodeJS.ErrnoException) => {
    if (start.signal.aborted) throw error;
    return notStarted(error);
  });
  const [end] = await Promise.all([ended, told(group, start)]);
  if ("reason" in end) return { kind: "not-started", ...end };
  const stderr = said.stderr.toString("utf8");
  if (group.stoppedFor !== undefined) return { kind: group.stoppedFor, stderr };
  // The last of it may be read when the program is over already.
  if (said.isTooLarge) return { kind: "too-large", stderr };
  return { kind: "exited", code: end.code, stdout: Buffer.concat(said.stdout), stderr };
}

interface NotStarted {
  readonly reason: string;
  readonly isExecutable: boolean;
}

/** Some errors of starting are thrown at once, like that of a file which somebody is writing. */
function startGroup(start: ProgramStart): ProcessGroup | NotStarted {
  start.signal.throwIfAborted();
  try {
    return new ProcessGroup({ ...start, stdin: "pipe", graceMs: GRACE_MS, drainMs: DRAIN_MS });
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.syscall?.startsWith("spawn") !== true) throw error;
    return notStarted(failure);
  }
}

const notStarted = ({ message, code = "" }: NodeJS.ErrnoException): NotStarted => ({
  reason: message,
  isExecutable: !NOT_EXECUTABLE.has(code),
});

function heard(group: ProcessGroup, stdoutMax: number) {
  const said = { stdout: [] as Buffer[], stderr: Buffer.alloc(0), isTooLarge: false };
  let size = 0;
  group.child.stdout?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > stdoutMax) {
      said.isTooLarge = true;
      group.stop("too-large");
    } else if (group.stoppedFor === undefined) said.stdout.push(chunk);
  });
  group.child.stderr?.on("data", (chunk: Buffer) => {
    said.stderr = Buffer.concat([said.stderr, chunk]).subarray(-STDERR_MAX);
  });
  return said;
}

async function told({ child }: ProcessGroup, { stdin, onStarted }: ProgramStart): Promise<void> {
  // A program that never reads what it is told may still answer.
  child.stdin?.on("error", () => {});
  if (child.pid !== undefined) await onStarted?.(child.pid);
  child.stdin?.end(stdin);
}
