// Whether a process is the one that was started: its number is used again, its number and start time
// together are not.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Null when there is no such process. */
export function startOf(pid: number): string | null {
  return process.platform === "linux" ? startOnLinux(pid) : startByList(pid);
}

function startOnLinux(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat === undefined) return null;
  // The name in brackets may hold anything; the fields after it are counted from the state on.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Ended, and only not yet collected by its parent.
  if (fields[0] === "Z" || fields[0] === "X") return null;
  return `${textOf("/proc/sys/kernel/random/boot_id")?.trim() ?? ""}:${fields[19] ?? ""}`;
}

function startByList(pid: number): string | null {
  const { status, stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  return status === 0 && stdout.trim() !== "" ? stdout.trim() : null;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH" || code === "EACCES") return undefined;
    throw error;
  }
}

/** Ends the group of a process that an earlier gateway started; false when that one is not there. */
export function endGroup({ pid, started }: { pid: number; started: string }): boolean {
  if (startOf(pid) !== started) return false;
  try {
    process.kill(-pid, "SIGKILL");
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ESRCH" || code === "EPERM") return false;
    throw error;
  }
}
