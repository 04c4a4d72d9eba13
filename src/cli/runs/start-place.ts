// Where a run begins, by flags: with a prompt, as an agent of the pack, or where the pack says.

import { suggest } from "../../base/suggest.ts";
import { agentKeys, agentStart } from "../../core/agent-start.ts";
import type { StartInput } from "../../core/input.ts";
import type { Program } from "../../core/program.ts";
import { usageError } from "../exit.ts";

export interface PlaceFlags {
  readonly prompt?: string;
  readonly agent?: string;
}

export type StartPlace = Pick<StartInput, "prompt" | "state">;

export function startPlace(program: Program, { prompt, agent }: PlaceFlags): StartPlace {
  if (prompt !== undefined && agent !== undefined) throw usageError("give --prompt or --agent, not both");
  if (agent === undefined) return prompt === undefined ? {} : { prompt };
  const place = agentStart(program, agent);
  if (place !== undefined) return place;
  const known = agentKeys(program);
  const meant = suggest(agent, known);
  const hint = meant === undefined ? `known: ${known.join(", ") || "none"}` : `did you mean \`${meant}\`?`;
  throw usageError(`\`${agent}\` is not an agent of the pack (${hint})`);
}
