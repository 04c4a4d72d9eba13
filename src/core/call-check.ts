// S48: whether a call may leave at all. Only tools the prompt lists can be called, whatever the model asks
// for, and only with arguments their schema allows.

import { Validator } from "@cfworker/json-schema";
import type { JsonObject } from "../base/json.ts";
import type { ToolCall } from "./facts.ts";
import { isListed } from "./offered-tools.ts";
import type { Program, PromptSpec } from "./program.ts";
import type { Run } from "./run.ts";

interface CallPlace {
  readonly program: Program;
  readonly prompt: PromptSpec;
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

const validators = new WeakMap<JsonObject, Validator>();

function argumentProblem(schema: JsonObject, call: ToolCall): string | undefined {
  let validator = validators.get(schema);
  if (validator === undefined) {
    // The validator writes into the schema it is given; programs are frozen.
    const copy = JSON.parse(JSON.stringify(schema)) as ConstructorParameters<typeof Validator>[0];
    validator = new Validator(copy, "2020-12", false);
    validators.set(schema, validator);
  }
  const checked = validator.validate(call.args);
  if (checked.valid) return undefined;
  // The deepest error says most; those above it only say that something below is wrong.
  const [deepest] = checked.errors.toSorted((a, b) => b.instanceLocation.length - a.instanceLocation.length);
  const where = (deepest?.instanceLocation ?? "#").replace(/^#\/?/, "") || "arguments";
  return `arguments do not fit \`${call.tool}\`: ${where}: ${deepest?.error ?? "not allowed"}`;
}
