// The packs that MCP clients are shown. Of packs with the same id the one registered last speaks.

import { createHash } from "node:crypto";
import { kept } from "../../base/kept.ts";
import type { Program } from "../../core/program.ts";
import { openPack } from "../../pack/open-pack.ts";
import type { KeptPack, SideFile } from "../side-file.ts";

/** Packs that are looked through, the newest first. */
const PACKS_MAX = 200;
/** Clients take names of up to 64 characters. */
const NAME_MAX = 64;

export interface SpeakingPack {
  readonly digest: string;
  readonly program: Program;
}

/** By digest, which says all about a pack. Null is one that an older version took and this one does not. */
const openedByDigest = new WeakMap<SideFile, Map<string, SpeakingPack | null>>();

/** In the order of their ids. */
function speakingPacks(side: SideFile): readonly SpeakingPack[] {
  const known = kept(openedByDigest, side, () => new Map<string, SpeakingPack | null>());
  const newest = new Map<string, KeptPack>();
  for (const pack of side.packs({ before: undefined, limit: PACKS_MAX }))
    if (!newest.has(pack.id)) newest.set(pack.id, pack);
  const digests = new Set([...newest.values()].map(({ digest }) => digest));
  for (const digest of known.keys()) if (!digests.has(digest)) known.delete(digest);
  return [...newest.keys()].sort().flatMap((id) => {
    const pack = newest.get(id) as KeptPack;
    return kept(known, pack.digest, () => opened(pack)) ?? [];
  });
}

function opened({ source, file, digest }: KeptPack): SpeakingPack | null {
  const pack = openPack(source, { file });
  return pack.ok ? { digest, program: pack.program } : null;
}

/** What each pack offers under names, in the order of the names; `made` holds what was worked out before. */
export function offeredByPacks<T extends { readonly name: string }>(
  side: SideFile,
  made: WeakMap<SpeakingPack, readonly T[]>,
  make: (pack: SpeakingPack) => readonly T[],
): readonly T[] {
  const byName = new Map<string, T>();
  // Names that clients cannot tell apart go to the pack whose id comes first.
  for (const pack of speakingPacks(side))
    for (const one of kept(made, pack, () => make(pack)))
      if (!byName.has(one.name)) byName.set(one.name, one);
  return [...byName.keys()].sort().map((name) => byName.get(name) as T);
}

/** A name as clients take it. */
export function clientName(whole: string): string {
  const plain = whole.replaceAll(/[^\w-]+/g, "-");
  if (plain.length <= NAME_MAX && plain === whole) return plain;
  // Two names that only differ in what is left out stay two names.
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${plain.slice(0, NAME_MAX - 9)}-${hash}`;
}
