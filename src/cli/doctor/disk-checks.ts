// Whether the disk under a store keeps what it says it keeps, and has room.

import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Checked, fail, msText, ok, sizeText, warn } from "./checked.ts";

const WARN_BYTES = 500e6;
const FAIL_BYTES = 50e6;

export function diskCheck(folder: string): Checked {
  const { bavail, bsize } = statfsSync(folder);
  return roomCheck(folder, bavail * bsize);
}

export function roomCheck(folder: string, freeBytes: number): Checked {
  const found = `${sizeText(freeBytes)} free in \`${folder}\``;
  const remedy = "make room: packloop gc --keep 30d removes old runs that have ended";
  if (freeBytes < FAIL_BYTES) return fail("disk", { found: `${found}, too little to work with`, remedy });
  return freeBytes < WARN_BYTES ? warn("disk", { found, remedy }) : ok("disk", found);
}

/** File systems on which a sync is not what it is on a disk, by their magic numbers. */
const MEMORY: ReadonlySet<number> = new Set([0x01_02_19_94, 0x85_84_58_f6]);
const NETWORK: ReadonlySet<number> = new Set([0x69_69, 0xff_53_4d_42, 0xfe_53_4d_42, 0x51_7b]);

const SLOW_MS = 50;

export function syncCheck(folder: string): Checked {
  let ms: number;
  try {
    ms = measuredSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const remedy = "give yourself the right to write there, make room, or name another place with --store";
    return fail("sync", { found: `cannot write in \`${folder}\` (${code})`, remedy });
  }
  const found = `${msText(ms)} for each commit in \`${folder}\``;
  const { type } = statfsSync(folder);
  if (MEMORY.has(type)) {
    const remedy = "keep the store on a disk (--store)";
    return warn("sync", { found: `\`${folder}\` is in memory: a loss of power takes all of it`, remedy });
  }
  if (NETWORK.has(type)) {
    const remedy = "keep the store on a local disk, or in PostgreSQL (--store)";
    return warn("sync", { found: `\`${folder}\` is on another machine, where locks may not hold`, remedy });
  }
  if (ms <= SLOW_MS) return ok("sync", found);
  return warn("sync", {
    found: `${found}, which is slow`,
    remedy: "keep the store on a faster disk (--store)",
  });
}

const ROUNDS = 9;
const PAGE = Buffer.alloc(4096, 1);

/** The median of a few; each writes as much as a small turn and waits until the disk has it. */
function measuredSync(folder: string): number {
  const file = join(folder, `.packloop-sync-${process.pid}`);
  const fd = openSync(file, "wx", 0o600);
  try {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      writeSync(fd, PAGE, 0, PAGE.length, round * PAGE.length);
      const began = performance.now();
      fdatasyncSync(fd);
      times.push(performance.now() - began);
    }
    return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number;
  } finally {
    closeSync(fd);
    rmSync(file, { force: true });
  }
}
