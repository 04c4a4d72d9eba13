// PP505: two states declare one artifact with different types or modes.

import { LineIndex } from "../../read/line-index.ts";
import type { Artifact } from "../../shape/generated/pack-file.ts";
import { spanOf } from "../place.ts";
import { onKey, type Rule } from "../rule.ts";
import { artifactFlow } from "./artifact-flow.ts";

export const conflictingArtifact: Rule = {
  code: "PP505",
  severity: "warning",
  stricter: true,
  title: "artifact is declared in two ways",
  explain:
    "All states share one artifact of a name. Where their declarations differ, the one of the current " +
    "state holds, so the same write replaces the value in one state and appends to it in another, or is " +
    "parsed here and not there. Give all declarations the same type and mode.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: "Log: {{artifacts.log}}. Emit Done." }
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: "Sum up {{artifacts.log}}." }
workflow:
  version: 2
  entry: work
  states:
    work:
      prompt_task: work
      on_event: { Done: sum }
      artifacts: { log: { type: text/plain, mode: append } }
    sum: { prompt_task: sum, terminal: true, artifacts: { log: { type: text/plain } } }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: "Log: {{artifacts.log}}. Emit Done." }
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: "Sum up {{artifacts.log}}." }
workflow:
  version: 2
  entry: work
  states:
    work:
      prompt_task: work
      on_event: { Done: sum }
      artifacts: { log: { type: text/plain, mode: append } }
    sum: { prompt_task: sum, terminal: true, artifacts: { log: { type: text/plain, mode: append } } }
`,
  check: (context, report) => {
    let lines: LineIndex | undefined;
    for (const [name, [first, ...more]] of artifactFlow(context).declarations) {
      for (const other of more) {
        const difference = first === undefined ? undefined : differenceOf(other.artifact, first.artifact);
        if (first === undefined || difference === undefined) continue;
        lines ??= new LineIndex(context.text);
        const at = onKey(...first.path);
        const { line, column } = lines.position(spanOf(context.root, at).start);
        const [here, there] = difference;
        report({
          at: onKey(...other.path),
          message: `\`${name}\` is ${here} here, ${there} at ${line}:${column}`,
          why: "the current state's definition wins, so its meaning changes on the way",
          help: "make them equal",
          related: [{ at, message: `\`${first.state}\` declares it as ${there}` }],
          data: { artifact: name, state: other.state, first_state: first.state, here, there, line, column },
        });
      }
    }
  },
};

function differenceOf(here: Artifact, there: Artifact): readonly [string, string] | undefined {
  const types = [here, there].map(({ type }) => type.replaceAll(/\s/g, "").toLowerCase());
  const modes = [here, there].map(({ mode }) => mode ?? "replace") as [string, string];
  if (types[0] === types[1]) return modes[0] === modes[1] ? undefined : modes;
  const [a, b] = modes[0] === modes[1] ? ["", ""] : modes.map((mode) => ` (${mode})`);
  return [`\`${here.type}\`${a}`, `\`${there.type}\`${b}`];
}
