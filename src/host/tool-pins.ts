// The lock file beside packloop.yaml: what the tools of MCP servers and the cards of remote agents were when
// they were first seen. What is otherwise later is not called until its entry is removed.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentPins } from "../adapter/a2a/card-pin.ts";
import type { McpPins } from "../adapter/mcp/definition-pin.ts";
import { canonical, isObject, type Json } from "../base/json.ts";
import { Fault } from "../engine/ports.ts";

const LOCK_NAME = "packloop.lock.json";

export interface ToolPins {
  readonly mcp: McpPins;
  readonly a2a: AgentPins;
}

export function readToolPins(folder: string): ToolPins {
  const file = join(folder, LOCK_NAME);
  if (!existsSync(file)) return { mcp: {}, a2a: {} };
  try {
    const value = JSON.parse(readFileSync(file, "utf8")) as Json;
    const { mcp = {}, a2a = {} } = isObject(value) ? value : { mcp: null };
    const isLock = isObject(mcp) && Object.values(mcp).every(isObject) && isObject(a2a);
    if (isLock) return { mcp, a2a } as unknown as ToolPins;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw unreadable(file, error);
  }
  const message = `\`${file}\` is no lock file (restore it, or remove it to trust the tools as they are now)`;
  throw new Fault("bad_lock", message, { retry: "never" });
}

function unreadable(file: string, cause: unknown): Fault {
  const { code = "unknown reason" } = cause as NodeJS.ErrnoException;
  return new Fault("bad_lock", `cannot open the lock file \`${file}\` (${code})`, { retry: "never", cause });
}

/** Writes only what is new: the file is meant to be kept under version control. */
export function keepToolPins(folder: string, pins: ToolPins, warn: (line: string) => void): void {
  const file = join(folder, LOCK_NAME);
  if (canonical(readToolPins(folder) as never) === canonical(pins as never)) return;
  const kept = Object.entries(pins).filter(([, ofKind]) => Object.keys(ofKind).length > 0);
  try {
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    warn(`the definitions of tools could not be pinned in \`${file}\` (${code ?? "unknown reason"})`);
  }
}
