// A disk of its own for a test: a tmpfs of a chosen size in a mount namespace, which needs no privileges where
// user namespaces are allowed. It is gone when its commands are done; what was on it is copied out before.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { folderWith, type Ran } from "../cli/run-cli.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

/** Mounts the disk, or mounts it again with other options; or runs packloop. */
export type Step =
  | { readonly mount: string }
  | { readonly cli: readonly string[]; readonly env?: Readonly<Record<string, string>> };

/** Why there can be no such disk here; undefined when there can. */
export function noOwnDisk(): string | undefined {
  using folder = folderWith({});
  const probe = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", folder.path], {
    encoding: "utf8",
  });
  if (probe.error !== undefined) return `unshare cannot be started (${probe.error.message})`;
  return probe.status === 0 ? undefined : `no disk can be mounted here: ${probe.stderr.trim()}`;
}

export interface OwnDisk {
  /** One for each step that ran packloop. */
  readonly ran: readonly Ran[];
  /** A folder with what was on the disk at the end. */
  readonly left: string;
}

/** `folder` gets `disk`, where the disk is mounted, and what is left of it. */
export function onOwnDisk(folder: string, steps: readonly Step[]): OwnDisk {
  const [disk, left] = [join(folder, "disk"), join(folder, "left")];
  for (const one of [disk, left]) mkdirSync(one);
  const file = (index: number, ending: string) => join(folder, `${index}.${ending}`);
  const lines = steps.map((step, index) => {
    if ("mount" in step) {
      const how = index === 0 ? `-t tmpfs -o ${step.mount} tmpfs` : `-o remount,${step.mount}`;
      return `mount ${how} ${quoted(disk)} || exit 1`;
    }
    const env = Object.entries(step.env ?? {}).map(([name, value]) => `${name}=${value}`);
    const words = ["env", "NO_COLOR=1", ...env, process.execPath, bin, ...step.cli].map(quoted).join(" ");
    return `${words} >${quoted(file(index, "out"))} 2>${quoted(file(index, "err"))}; echo $? >${quoted(file(index, "code"))}`;
  });
  const script = [...lines, `cp -R ${quoted(disk)}/. ${quoted(left)}`].join("\n");
  const { status, stderr } = spawnSync("unshare", ["-rm", "sh", "-c", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the commands on the disk ended with ${status}: ${stderr}`);
  const read = (index: number, ending: string) => readFileSync(file(index, ending), "utf8");
  const ran = steps.flatMap((step, index) =>
    "mount" in step
      ? []
      : [{ code: Number(read(index, "code")), stdout: read(index, "out"), stderr: read(index, "err") }],
  );
  return { ran, left };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
