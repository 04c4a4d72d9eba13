// Replaces a file whole: a reader sees the old content or the new one, and after a power loss one of the two
// is there.

import { createHash } from "node:crypto";
import type { Place } from "./reach.ts";

/** `key` names the file on its way, so that a repeat after a crash clears what the first attempt left. */
export async function replaceFile(
  { folder, name }: Place,
  { bytes, key, mode }: { readonly bytes: Buffer; readonly key: string; readonly mode: number | undefined },
): Promise<void> {
  const passing = `.packloop-${createHash("sha256").update(key).digest("hex").slice(0, 16)}.tmp`;
  await folder.remove(passing);
  try {
    const file = await folder.newFile(passing);
    try {
      await file.writeFile(bytes);
      await file.chmod((mode ?? 0o666 & ~process.umask()) & 0o777);
      await file.sync();
    } finally {
      await file.close();
    }
    await folder.rename({ from: passing, to: name });
  } catch (error) {
    await folder.remove(passing);
    throw error;
  }
  await folder.sync();
}
