// S48: whether a call may leave at all. Only tools the prompt lists can be called, whatever the model asks
// for, and only with arguments their schema allows.

import { Validator } from "@cfworker/json-schema";
import type { JsonObject } from "../base/json.ts";
import type { ToolCall } from "./facts.ts";
import type { Program, PromptSpec } from "./program.ts";

/** Why the call is not dispatched, in words for the model; undefined when it may be. */
export function callProblem(program: Program, prompt: PromptSpec, call: ToolCall): string | undefined {
  const listed = prompt.toolChoice === "none" ? [] : prompt.tools;
  if (!listed.some((name) => matches(name, call.tool))) {
    const offered = listed.length === 0 ? "no tool is offered here" : `offered are ${listed.join(", ")}`;
    return `\`${call.tool}\` cannot be called here; ${offered}`;
  }
  const tool = Object.hasOwn(program.tools, call.tool) ? program.tools[call.tool] : undefined;
  return tool === undefined ? undefined : argumentProblem(tool.parameters, call);
}

/** Prompts may list a whole server's tools: `mcp__files__*`. */
function matches(listed: string, tool: string): boolean {
  if (listed === tool || `a2a__${listed}` === tool) return true;
  return listed.endsWith("*") && tool.startsWith(listed.slice(0, -1));
}

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
