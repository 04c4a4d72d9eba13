// The pack a request means: its text, or the digest of one that is known here.

import { get } from "../base/json.ts";
import type { Program } from "../core/program.ts";
import { diagnosticJson } from "../host/pack-view.ts";
import { type GoodPack, openPack } from "../pack/open-pack.ts";
import { Problem } from "./problem.ts";
import type { ServerParts } from "./server-parts.ts";

export interface PackChoice {
  readonly pack?: string | undefined;
  readonly digest?: string | undefined;
  readonly file?: string | undefined;
}

export interface ChosenPack {
  readonly program: Program;
  readonly digest: string;
  readonly source: string;
  readonly file: string;
}

export async function chosenPack(parts: ServerParts, choice: PackChoice): Promise<ChosenPack> {
  const { pack, digest, file = "pack.yaml" } = choice;
  if ((pack === undefined) === (digest === undefined))
    throw new Problem("bad-request", "give either `pack`, a pack's text, or `digest`");
  if (pack === undefined) return storedPack(parts, digest ?? "");
  const opened = goodPack(pack, file);
  return { program: opened.program, digest: opened.digest, source: pack, file };
}

/** Its program, or a problem with every diagnostic. */
export function goodPack(source: string, file: string): GoodPack {
  const opened = openPack(source, { file });
  if (opened.ok) return opened;
  const errors = opened.diagnostics.filter(({ severity }) => severity === "error");
  const message = `the pack has ${errors.length} ${errors.length === 1 ? "error" : "errors"}`;
  throw new Problem("pack-invalid", message, {
    extras: { diagnostics: opened.diagnostics.map(diagnosticJson) },
  });
}

/** Registered here, or the pack of a run. */
export async function storedPack({ store, side }: ServerParts, digest: string): Promise<ChosenPack> {
  const kept = side.pack(digest);
  if (kept !== undefined) {
    const { program } = goodPack(kept.source, kept.file);
    return { program, digest, source: kept.source, file: kept.file };
  }
  const stored = await store.program(digest);
  if (stored === undefined) throw new Problem("unknown-pack", `there is no pack \`${digest.slice(0, 100)}\``);
  const program = stored.program as unknown as Program;
  return { program, digest, source: stored.source, file: "pack.yaml" };
}

/** Where a member of the pack's agents starts: its state, or the prompt it is. */
export function agentStart(
  program: Program,
  agent: string,
): { readonly state?: string; readonly prompt?: string } {
  const members = program.agents?.members ?? {};
  if (!Object.hasOwn(members, agent)) {
    const known = Object.keys(members);
    const message = `\`${agent}\` is not an agent of the pack (known: ${known.join(", ") || "none"})`;
    throw new Problem("unknown-agent", message, { extras: { known } });
  }
  const state = get(members[agent] as never, "state");
  return typeof state === "string" ? { state } : { prompt: agent };
}
