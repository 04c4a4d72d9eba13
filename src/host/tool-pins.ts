// The lock file beside packloop.yaml: what the tools of MCP servers were when they were first seen. A tool
// that is defined otherwise later is not called until its entry is removed.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { McpPins } from "../adapter/mcp/definition-pin.ts";
import { canonical, isObject, type Json } from "../base/json.ts";
import { Fault } from "../engine/ports.ts";

const LOCK_NAME = "packloop.lock.json";

export function readToolPins(folder: string): McpPins {
  const file = join(folder, LOCK_NAME);
  if (!existsSync(file)) return {};
  try {
    const value = JSON.parse(readFileSync(file, "utf8")) as Json;
    if (isObject(value) && isObject(value["mcp"] ?? null)) return value["mcp"] as unknown as McpPins;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const message = `\`${file}\` is no lock file (restore it, or remove it to trust the tools as they are now)`;
  throw new Fault("bad_lock", message, { retry: "never" });
}

/** Writes only what is new: the file is meant to be kept under version control. */
export function keepToolPins(folder: string, pins: McpPins, warn: (line: string) => void): void {
  const file = join(folder, LOCK_NAME);
  const text = `${JSON.stringify({ mcp: pins }, null, 2)}\n`;
  if (Object.keys(pins).length === 0 || canonical(readToolPins(folder) as never) === canonical(pins as never))
    return;
  try {
    writeFileSync(file, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    warn(`the definitions of tools could not be pinned in \`${file}\` (${code ?? "unknown reason"})`);
  }
}
