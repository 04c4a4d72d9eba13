// Finds a plugin on the disk and decides whether to trust it: its entrypoint is a program of its own folder,
// and nobody else can put another in its place.

import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { parse } from "yaml";
import type { Json } from "../base/json.ts";
import { type PluginManifest, readManifest } from "./plugin-manifest.ts";

export interface PluginFolder {
  readonly manifest: PluginManifest;
  /** The program, resolved. */
  readonly program: string;
}

const WRITABLE_BY_ALL = 0o002;
const MANIFEST_BYTES_MAX = 1_000_000;

/** A text says why the plugin is not used. Strictly read, a manifest has what the newer protocol asks for. */
export function openPlugin(folder: string, { isStrict = false } = {}): PluginFolder | string {
  try {
    const home = realpathSync(folder);
    const path = join(home, "manifest.yaml");
    if (statSync(path).size > MANIFEST_BYTES_MAX) return "its manifest is too large";
    const manifest = readManifest(parse(readFileSync(path, "utf8")) as Json, { isStrict });
    if (typeof manifest === "string") return manifest;
    const program = realpathSync(join(home, manifest.entrypoint));
    if (!program.startsWith(home + sep)) return "its entrypoint is a link that leads out of its folder";
    if ((statSync(home).mode & WRITABLE_BY_ALL) !== 0) return "everybody may write to its folder";
    if (!statSync(program).isFile()) return "its entrypoint is not a file";
    accessSync(program, constants.X_OK);
    return { manifest, program };
  } catch (error) {
    const { code, syscall, name, message } = error as NodeJS.ErrnoException;
    // The second is what aliases are refused with that multiply, or lead nowhere.
    if (name === "YAMLParseError" || name === "ReferenceError")
      return `its manifest cannot be read: ${message.split("\n", 1)[0]}`;
    if (code === "ENOENT") return "its folder, `manifest.yaml` or entrypoint is missing";
    if (code === "EACCES")
      return syscall === "access" ? "its entrypoint is not executable" : "it may not be read";
    if (code !== undefined) return `it cannot be read (${code})`;
    throw error;
  }
}
