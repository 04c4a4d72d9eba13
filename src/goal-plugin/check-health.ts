// `health`: what is wrong with the configuration, and what looks as if nobody polls. It calls no model and
// changes nothing.

import type { ReadConfig } from "../goal/loop-config.ts";
import type { TurnEnd } from "../goal/response.ts";
import { activeRuns, blobBytes } from "../goal/state-blob.ts";
import { schemaFault } from "./judge-answer.ts";
import type { LoopTurn } from "./loop-turn.ts";

export function checkHealth(turn: LoopTurn, { problems, noTools }: ReadConfig): TurnEnd {
  const { config, blob, now } = turn;
  const schemas = config.tools.flatMap((tool) => {
    const { inputSchema } = config.toolSpec(tool);
    const fault = inputSchema && schemaFault(inputSchema);
    return fault === undefined ? [] : [`the input schema of \`${tool}\` cannot be used: ${fault}`];
  });
  const all = [...problems, ...schemas];
  if (noTools !== undefined) return turn.refused("no-tools", [noTools, ...all].join("; "), { retry: false });
  if (all.length > 0) return turn.refused("bad-config", all.join("; "), { retry: false });
  if (config.model.kind === "none") turn.log("warn", "no model is configured (set `model`)");
  const active = activeRuns(blob);
  const longest = Math.max(...config.tools.map((tool) => config.toolDeadlineMs(tool)));
  const last = blob.lastPollAt === null ? 0 : Date.parse(blob.lastPollAt);
  if (active > 0 && !(now - last <= 2 * longest))
    turn.log("warn", "runs are under way and nobody has polled for long (schedule `poll`)");
  return turn.said(`${active} runs under way, ${blob.runs.size} kept, ${blobBytes(blob)} bytes of state`);
}
