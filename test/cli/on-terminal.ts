// packloop on a pseudo-terminal of util-linux's `script`: keys go in, and what the terminal then shows comes
// out.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Terminal } from "./terminal.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

/** Other systems have other programs of that name. */
export const hasTerminal =
  process.platform === "linux" && /util-linux/.test(String(spawnSync("script", ["--version"]).stdout));

export interface OnTerminal {
  /** Resolves when the screen satisfies the condition; rejects when the program ends before. */
  readonly until: (done: (screen: string) => boolean) => Promise<void>;
  readonly keys: (text: string) => void;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly screen: Terminal;
    readonly bytes: string;
  }>;
}

export function onTerminal(
  args: readonly string[],
  { cwd, columns, env = {} }: { cwd: string; columns: number; env?: Readonly<Record<string, string>> },
): OnTerminal {
  const words = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
  const { NO_COLOR: _none, FORCE_COLOR: _force, ...clean } = process.env;
  const child = spawn(
    "script",
    ["-qec", `stty cols ${columns} rows 30; exec ${words.join(" ")}`, "/dev/null"],
    {
      cwd,
      env: { ...clean, TERM: "xterm-256color", ...env },
    },
  );
  let bytes = "";
  let isOver = false;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    bytes += chunk;
    tell();
  });
  const screen = () => new Terminal({ columns }).write(whole(bytes));
  const ended = once(child, "close").then(([code]) => {
    isOver = true;
    tell();
    return { code: code as number | null, screen: screen(), bytes };
  });
  return {
    ended,
    keys: (text) => child.stdin.write(text),
    until: (done) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const shown = screen().lines().join("\n");
          const isDone = done(shown);
          if (!isDone && !isOver) return;
          listeners.delete(look);
          if (isDone) resolve();
          else reject(new Error(`it ended, showing:\n${shown}`));
        };
        listeners.add(look);
        look();
      }),
  };
}

/** An escape that has arrived in part is left for later. */
const whole = (bytes: string): string => bytes.replace(/(?![\r\n])\p{Cc}(\[[?\d]*)?$/u, "");
