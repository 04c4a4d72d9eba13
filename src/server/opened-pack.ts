// The pack a request means: its text, or the digest of one that is known here.

import { type AgentStart, agentKeys, agentStart as placeOfAgent } from "../core/agent-start.ts";
import type { Program } from "../core/program.ts";
import { besideOf, openPackWith, type PackBeside, unnamedPath } from "../host/pack-beside.ts";
import { diagnosticJson } from "../host/pack-view.ts";
import type { GoodPack, OpenedPack } from "../pack/open-pack.ts";
import { Problem } from "./problem.ts";
import type { ServerParts } from "./server-parts.ts";
import type { KeptPack } from "./side-file.ts";

export interface PackChoice {
  readonly pack?: string | undefined;
  readonly digest?: string | undefined;
  readonly file?: string | undefined;
  /** Goes with the text. */
  readonly beside?: PackBeside | undefined;
}

export interface ChosenPack {
  readonly program: Program;
  readonly digest: string;
  readonly source: string;
  readonly file: string;
}

export async function chosenPack(parts: ServerParts, choice: PackChoice): Promise<ChosenPack> {
  const { pack, digest, file = "pack.yaml", beside } = choice;
  if ((pack === undefined) === (digest === undefined))
    throw new Problem("bad-request", "give either `pack`, a pack's text, or `digest`");
  if (pack === undefined) {
    if (beside === undefined) return storedPack(parts, digest ?? "");
    throw new Problem("bad-request", "`beside` goes with the text of a pack");
  }
  const opened = goodPack(pack, file, beside);
  return { program: opened.program, digest: opened.digest, source: pack, file };
}

/** Its program, or a problem with every diagnostic. */
export function goodPack(source: string, file: string, beside: PackBeside = {}): GoodPack {
  const opened = openPackWith(source, file, beside);
  if (opened.ok) {
    const unnamed = unnamedPath(opened.program, beside);
    if (unnamed === undefined) return opened;
    throw new Problem("bad-request", `the pack does not name \`${unnamed.slice(0, 200)}\` (at /beside)`);
  }
  const errors = opened.diagnostics.filter(({ severity }) => severity === "error");
  const message = `the pack has ${errors.length} ${errors.length === 1 ? "error" : "errors"}`;
  throw new Problem("pack-invalid", message, {
    extras: { diagnostics: opened.diagnostics.map(diagnosticJson) },
  });
}

/** Registered here, or the pack of a run. */
export async function storedPack({ store, side }: ServerParts, digest: string): Promise<ChosenPack> {
  const kept = side.pack(digest);
  // Reading a program that some run was started with costs a fraction of checking its pack again.
  const stored = await store.program(digest);
  if (stored !== undefined) {
    const program = stored.program as unknown as Program;
    return { program, digest, source: kept?.source ?? stored.source, file: kept?.file ?? "pack.yaml" };
  }
  if (kept === undefined) throw new Problem("unknown-pack", `there is no pack \`${digest.slice(0, 100)}\``);
  const { program } = goodPack(kept.source, kept.file, keptBeside(kept));
  return { program, digest, source: kept.source, file: kept.file };
}

const keptBeside = ({ beside }: KeptPack): PackBeside =>
  beside === null ? {} : (JSON.parse(beside) as PackBeside);

/** What `packloop check` says of a pack that is known here. */
export const checkedPack = ({ source, file, program }: ChosenPack): OpenedPack =>
  openPackWith(source, file, besideOf(program));

/** The one of this id that was registered last. */
export function packById({ side }: ServerParts, id: string): KeptPack {
  const kept = side.newestPack(id);
  if (kept !== undefined) return kept;
  throw new Problem("unknown-pack", `no pack \`${id.slice(0, 100)}\` is registered here`);
}

/** Where a member of the pack's agents starts: its state, or the prompt it is. */
export function agentStart(program: Program, agent: string): AgentStart {
  const start = placeOfAgent(program, agent);
  if (start !== undefined) return start;
  const known = agentKeys(program);
  const message = `\`${agent}\` is not an agent of the pack (known: ${known.join(", ") || "none"})`;
  throw new Problem("unknown-agent", message, { extras: { known } });
}
