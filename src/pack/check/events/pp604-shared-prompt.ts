// PP604: a prompt shared by states names an event that only another of them has.

import { type CheckContext, onValue, type Rule } from "../rule.ts";
import { counted, listed } from "../wording.ts";
import { mentions, type PromptState, promptStates } from "./event-mentions.ts";

export const sharedPrompt: Rule = {
  code: "PP604",
  severity: "info",
  title: "shared prompt names an event its state lacks",
  explain:
    "Two states use one prompt, and the prompt speaks of an event that only one of them handles. In the " +
    "other state the model is told to emit something that is not on offer. Split the prompt, or handle " +
    "the event in both states.",
  bad: `
prompts:
  worker: { id: worker, name: Worker, version: 1.0.0, system_template: Work on it. Emit Done or Error. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: worker, on_event: { Done: complete, Error: complete } }
    complete: { prompt_task: worker, terminal: true }
`,
  good: `
prompts:
  worker: { id: worker, name: Worker, version: 1.0.0, system_template: Work on it. Emit Done. }
  closer: { id: closer, name: Closer, version: 1.0.0, system_template: Sum up. }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: worker, on_event: { Done: complete } }
    complete: { prompt_task: closer, terminal: true }
`,
  check: (context, report) => {
    for (const [prompt, states] of byPrompt(context)) {
      const holders = mentionedEvents(context, prompt, states);
      for (const { name, events } of states) {
        const own = new Set(events);
        const missing = [...holders.keys()].filter((event) => !own.has(event));
        if (missing.length === 0) continue;
        const named = missing.slice(0, NAMES_MAX);
        const others = [...new Set(named.map((event) => holders.get(event) as string))];
        const subject = missing.length > NAMES_MAX ? counted(missing.length, "event") : listed(named);
        report({
          at: onValue("workflow", "states", name, "prompt_task"),
          message: `in \`${name}\`, ${subject} cannot be emitted`,
          why: `prompt \`${prompt}\` is shared with ${listed(others)}`,
          help: "split the prompt",
          data: { state: name, prompt, events: named, count: missing.length, shared_with: others },
        });
      }
    }
  },
};

/** Names kept in one finding: a prompt shared by all states of a large pack must not fill the memory. */
const NAMES_MAX = 20;

function byPrompt(context: CheckContext): ReadonlyMap<string, readonly PromptState[]> {
  const groups = new Map<string, PromptState[]>();
  for (const state of promptStates(context)) {
    const group = groups.get(state.prompt);
    if (group === undefined) groups.set(state.prompt, [state]);
    else group.push(state);
  }
  return groups;
}

/** Events of the states that the prompt mentions, each with the first state that has it. */
function mentionedEvents(
  { pack }: CheckContext,
  prompt: string,
  states: readonly PromptState[],
): ReadonlyMap<string, string> {
  const holders = new Map<string, string>();
  if (states.length < 2) return holders;
  for (const { name, events } of states) {
    for (const event of events) {
      if (!holders.has(event) && mentions(pack, prompt, event)) holders.set(event, name);
    }
  }
  return holders;
}
