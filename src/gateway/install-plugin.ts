// Writes a plugin that comes with the package into a folder of plugins: its manifest and its one program, and
// nothing else. It is copied, because a link that leads out of the folder is trusted by no gateway.

import { chmodSync, copyFileSync, existsSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolder } from "../engine/make-folder.ts";
import { openPlugin } from "../process/plugin-folder.ts";

/** The files written, or why there are none. */
export function installPlugin({ from, to }: { from: string; to: string }): readonly string[] | string {
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(basename(from)) || !existsSync(join(from, "manifest.yaml")))
    return "it is not a plugin of this package";
  const opened = openPlugin(from);
  if (typeof opened === "string") return opened;
  const { name, entrypoint } = opened.manifest;
  const home = join(to, name);
  const program = join(home, entrypoint);
  const manifest = join(home, "manifest.yaml");
  try {
    makeFolder(dirname(program));
    chmodSync(home, 0o755);
    put({ from: opened.program, to: program, mode: 0o755 });
    put({ from: join(from, "manifest.yaml"), to: manifest, mode: 0o644 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return `the folder \`${to}\` cannot be written (${code})`;
  }
  return [program, manifest];
}

/** By renaming, so that a gateway that is running never sees half of it. */
function put({ from, to, mode }: { from: string; to: string; mode: number }): void {
  const made = `${to}.${process.pid}.new`;
  copyFileSync(from, made);
  chmodSync(made, mode);
  renameSync(made, to);
}
