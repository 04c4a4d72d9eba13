// Why a run with a composition cannot be started. What the checker calls an error never gets here from the
// command line; a program may also come from elsewhere, and a file beside the pack may be missing.

import { compositionNamed, type PartSpec } from "./composition.ts";
import { fragmentNamed, schemaNamed } from "./part-site.ts";
import type { Program } from "./program.ts";
import { type RunStart, reachableStates } from "./reachable-prompts.ts";
import { REDUCERS } from "./reducer.ts";
import { schemaFault } from "./schema-fault.ts";

export function compositionProblem(program: Program, start: RunStart): string | undefined {
  const { workflow } = program;
  if (start.kind === "prompt" || workflow === null) return undefined;
  for (const name of reachableStates(workflow, start.name)) {
    const state = workflow.states[name];
    if (state?.orchestration !== "composition") continue;
    const problem = problemOf(program, state.composition);
    if (problem !== undefined) return `state \`${name}\` runs a composition: ${problem}`;
  }
  return undefined;
}

function problemOf(program: Program, name: string | null): string | undefined {
  const composition = name === null ? undefined : compositionNamed(program, name);
  if (composition === undefined) return "it names none that exists";
  const { parts, partById, inputSchema, outputSchema, output } = composition;
  if (parts.length === 0) return `\`${name}\` has no steps`;
  if (partById.size < parts.length) return `steps of \`${name}\` have the same id`;
  if (output !== null && !partById.has(output)) return `\`${name}\` returns \`${output}\`, which is no step`;
  for (const part of parts) {
    const problem = partProblem(program, part);
    if (problem !== undefined) return `step \`${part.id}\` of \`${name}\` ${problem}`;
  }
  return [inputSchema, outputSchema].map((schema) => schemaProblem(program, schema)).find(isText);
}

function partProblem(program: Program, part: PartSpec): string | undefined {
  switch (part.kind) {
    case "prompt":
    case "agent":
      if (!Object.hasOwn(program.prompts, part.prompt))
        return `asks with prompt \`${part.prompt}\`, which does not exist`;
      return schemaProblem(program, part.outputSchema);
    case "parallel":
      if (REDUCERS.includes(part.strategy)) return undefined;
      return `merges by \`${part.strategy}\` (packloop knows ${REDUCERS.join(", ")})`;
    case "unknown":
      return `has kind \`${part.name}\`, which packloop does not run`;
    default:
      return undefined;
  }
}

function schemaProblem(program: Program, name: string | null): string | undefined {
  if (name === null) return undefined;
  const schema = schemaNamed(program, name);
  if (schema !== undefined) {
    const fault = schemaFault(schema);
    return fault && `wants the schema \`${name}\`, by which nothing can be judged: ${fault}`;
  }
  const where = fragmentNamed(name) === undefined ? "in the folder of the pack" : "as a fragment";
  return `wants the schema \`${name}\` (no JSON Schema is there ${where})`;
}

const isText = (value: string | undefined): value is string => value !== undefined;
