// PP602: a prompt does not mention an event of its state.

import { onKey, type Rule } from "../rule.ts";
import { mentions, promptStates } from "./event-mentions.ts";

export const unmentionedEvent: Rule = {
  code: "PP602",
  severity: "info",
  title: "prompt does not mention an event",
  explain:
    "The transition tool lists the events of a state by name, and that is all the model learns about an " +
    "event its prompt does not mention. Say in the prompt when each event is to be emitted. States that " +
    "wait for an event from outside are not asked for this.",
  bad: `
prompts:
  coder: { id: coder, name: Coder, version: 1.0.0, system_template: Write the code. }
workflow:
  version: 2
  entry: code
  states:
    code: { prompt_task: coder, on_event: { CodeReady: finish } }
    finish: { prompt_task: coder, terminal: true }
`,
  good: `
prompts:
  coder: { id: coder, name: Coder, version: 1.0.0, system_template: Write code. Emit CodeReady at the end. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say what was built. }
workflow:
  version: 2
  entry: code
  states:
    code: { prompt_task: coder, on_event: { CodeReady: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  check: (context, report) => {
    for (const { name, prompt, events } of promptStates(context)) {
      if (context.isBroken("prompts", prompt, "system_template")) continue;
      for (const event of events) {
        if (mentions(context.pack, prompt, event)) continue;
        report({
          at: onKey("workflow", "states", name, "on_event", event),
          message: `prompt \`${prompt}\` does not say when to emit \`${event}\``,
          why: "the model sees the name only in the tool",
          help: "say when",
          data: { prompt, state: name, event },
        });
      }
    }
  },
};
