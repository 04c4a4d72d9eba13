// PP805: a composition state with events whose output can name none of them (S29).

import type { Step } from "../../shape/generated/pack-file.ts";
import { onKey, type Rule } from "../rule.ts";
import { type StepGraph, stepGraph } from "./step-graph.ts";
import { compositionsOf } from "./step-list.ts";
import { possibleRuns } from "./step-runs.ts";

export const silentComposition: Rule = {
  code: "PP805",
  severity: "warning",
  title: "composition cannot choose an event",
  explain:
    "A composition state follows an event when the output is its name, or an object with the name in " +
    "the field `event`. Where the output comes from a step that can give neither, the run stops in the " +
    "state until somebody sends an event. Let the last step return an object with `event`, or make the " +
    "state terminal.",
  bad: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  views:
    version: 1
    steps:
      - id: fan
        kind: parallel
        branches:
          - { id: one, kind: prompt, prompt_task: sum }
          - { id: two, kind: prompt, prompt_task: sum }
        reduce: { strategy: barrier, into: found }
workflow:
  version: 1
  entry: intake
  states:
    intake: { orchestration: composition, composition: views, on_event: { Done: end } }
    end: { prompt_task: sum, terminal: true }
`,
  good: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
  pick: { id: pick, name: Pick, version: 1.0.0, system_template: "Return an object with event Done." }
compositions:
  views:
    version: 1
    steps:
      - id: fan
        kind: parallel
        branches:
          - { id: one, kind: prompt, prompt_task: sum }
          - { id: two, kind: prompt, prompt_task: sum }
        reduce: { strategy: barrier, into: found }
      - { id: pick, kind: prompt, prompt_task: pick, input: "\${fan.output}", output_schema: event.json }
workflow:
  version: 1
  entry: intake
  states:
    intake: { orchestration: composition, composition: views, on_event: { Done: end } }
    end: { prompt_task: sum, terminal: true }
`,
  check: (context, report) => {
    const { pack, isBroken } = context;
    const silent = new Map<string, string>();
    for (const { name, composition, steps } of compositionsOf(context)) {
      if (isBroken("compositions", name, "steps") || isBroken("compositions", name, "output")) continue;
      const ends = endsOf(stepGraph(steps), composition.output);
      if (ends !== undefined && ends.length > 0 && ends.every(cannotNameEvent)) {
        silent.set(name, (ends[0] as Step).id);
      }
    }
    for (const [name, state] of Object.entries(pack.workflow?.states ?? {})) {
      const step = state.orchestration === "composition" ? silent.get(state.composition ?? "") : undefined;
      const events = Object.keys(state.on_event ?? {});
      if (step === undefined || state.terminal === true || events.length === 0) continue;
      report({
        at: onKey("workflow", "states", name),
        message: `\`${name}\` will wait for an event from outside`,
        why: `its output names none: that of \`${step}\` is neither a text nor an object with \`event\``,
        help: "return `event`, or make it terminal",
        data: { state: name, composition: state.composition ?? "", step, events },
      });
    }
  },
};

/** Steps whose output may be that of the composition; undefined when it cannot be told. */
function endsOf(graph: StepGraph, output: string | undefined): readonly Step[] | undefined {
  const { steps, indexById } = graph;
  if (output !== undefined) {
    const index = indexById.get(output);
    return index === undefined ? undefined : steps.slice(index, index + 1).map(({ step }) => step);
  }
  const last = possibleRuns(graph)?.map((run) => run.at(-1));
  if (last === undefined || last.includes(undefined)) return undefined;
  return [...new Set(last as number[])].flatMap((index) =>
    steps.slice(index, index + 1).map(({ step }) => step),
  );
}

/** Only what is certain: a schema lies in a file, and a text may well be the name of an event. */
function cannotNameEvent(step: Step): boolean {
  if (step.kind === "branch") return true;
  if (step.kind !== "parallel") return false;
  const { into, strategy } = step.reduce;
  return into !== "event" || strategy === "append" || strategy === "barrier";
}
