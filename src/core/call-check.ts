// S48: whether a call may leave at all. Only tools the prompt lists can be called, whatever the model asks
// for, and only with arguments their schema allows.

import type { JsonObject } from "../base/json.ts";
import type { ToolCall } from "./facts.ts";
import { isListed } from "./offered-tools.ts";
import type { Program, PromptSpec } from "./program.ts";
import type { Run } from "./run.ts";
import { schemaProblem } from "./schema-problem.ts";

interface CallPlace {
  readonly program: Program;
  readonly prompt: Pick<PromptSpec, "tools" | "toolChoice">;
  readonly run: Run;
}

/** Why the call is not dispatched, in words for the model; undefined when it may be. */
export function callProblem(place: CallPlace, call: ToolCall): string | undefined {
  const { program, prompt, run } = place;
  const listed = prompt.toolChoice === "none" ? [] : prompt.tools;
  if (!listed.some((name) => isMeant(place, name, call.tool))) {
    const offered = listed.length === 0 ? "no tool is offered here" : `offered are ${listed.join(", ")}`;
    return `\`${call.tool}\` cannot be called here; ${offered}`;
  }
  const known = Object.hasOwn(program.tools, call.tool) ? program.tools : (run.host ?? {});
  const tool = Object.hasOwn(known, call.tool) ? known[call.tool] : undefined;
  return tool === undefined ? undefined : argumentProblem(tool.parameters, call);
}

/**
 * A name means itself. Whatever else it stands for must be known since the start: a pattern does not mean a
 * tool that a server has made up since, or knows under another spelling, for nobody was asked about those.
 */
function isMeant({ program, run }: CallPlace, listed: string, tool: string): boolean {
  if (tool.endsWith("*") || !isListed(listed, tool)) return false;
  if (listed === tool) return true;
  const members = program.agents?.members ?? {};
  if (Object.hasOwn(members, bareName(tool))) return true;
  return listed.endsWith("*") && (Object.hasOwn(program.tools, tool) || Object.hasOwn(run.host ?? {}, tool));
}

/** S31: gates name a tool, an agent by either of its names, or many by a pattern. */
export function isGated(gates: readonly string[], tool: string): boolean {
  const bare = bareName(tool);
  return gates.some((gate) => [tool, bare, `a2a__${bare}`].some((name) => isListed(gate, name)));
}

const bareName = (tool: string): string => tool.replace(/^a2a__/, "");

function argumentProblem(schema: JsonObject, call: ToolCall): string | undefined {
  const problem = schemaProblem(schema, call.args);
  if (problem === undefined) return undefined;
  return `arguments do not fit \`${call.tool}\`: ${problem.where || "arguments"}: ${problem.error}`;
}
