// A template in a folder of its own, as `packloop init` makes it.

import { type RunFolder, runFolder } from "./run-folder.ts";

export function templateFolder(name: string): RunFolder {
  const folder = runFolder();
  const ran = folder.cli(["init", name, "."]);
  if (ran.code !== 0 || ran.stderr !== "") throw new Error(`init ${name}: ${ran.stderr}`);
  return folder;
}
