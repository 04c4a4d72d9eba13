// PP603: a prompt tells the model to emit an event no state handles.

import { suggest } from "../../../base/suggest.ts";
import { promptsOfState } from "../artifacts/artifact-flow.ts";
import { type PromptText, promptTexts } from "../artifacts/prompt-texts.ts";
import { placeInText } from "../artifacts/text-map.ts";
import type { CheckContext, Rule } from "../rule.ts";
import { emittedWords } from "./emitted-words.ts";
import { handledEvents } from "./event-mentions.ts";

export const unhandledEvent: Rule = {
  code: "PP603",
  severity: "info",
  title: "prompt mentions an event no state handles",
  explain:
    "The prompt asks the model to emit something that looks like an event, and no state of the workflow " +
    "has it in `on_event`. The model would be answered with an error and lose a round. Correct the name, " +
    "or handle the event.",
  bad: `
prompts:
  tester: { id: tester, name: Tester, version: 1.0.0, system_template: Emit TestPassed when it works. }
workflow:
  version: 2
  entry: test
  states:
    test: { prompt_task: tester, on_event: { TestsPassed: finish } }
    finish: { prompt_task: tester, terminal: true }
`,
  good: `
prompts:
  tester: { id: tester, name: Tester, version: 1.0.0, system_template: Emit TestsPassed when it works. }
  close: { id: close, name: Close, version: 1.0.0, system_template: Say what was tested. }
workflow:
  version: 2
  entry: test
  states:
    test: { prompt_task: tester, on_event: { TestsPassed: finish } }
    finish: { prompt_task: close, terminal: true }
`,
  check: (context, report) => {
    const events = handledEvents(context.pack);
    const isKnown = knownNames(context, events);
    let guesses = GUESS_WORK_MAX / Math.max(1, events.size);
    for (const text of textsOfStates(context)) {
      const seen = new Set<string>();
      for (const { word, start } of emittedWords(text.text, (name) => events.has(name))) {
        if (seen.has(word) || isKnown(word) || seen.size >= WORDS_MAX) continue;
        seen.add(word);
        const meant = guesses-- > 0 ? suggest(word, events) : undefined;
        report({
          at: placeInText(context, text.path, { start, end: start + word.length }),
          message: `prompt mentions \`${word}\``,
          why: "no state handles it",
          help:
            meant === undefined
              ? "handle it in on_event, or drop it"
              : "correct the name, or handle it in on_event",
          ...(meant !== undefined && { label: `did you mean \`${meant}\`?` }),
          data: { event: word, suggestion: meant ?? null },
        });
      }
    }
  },
};

/** Different words reported for one text. */
const WORDS_MAX = 20;
/** Pairs of word and event compared for suggestions in one pack. */
const GUESS_WORK_MAX = 50_000;

/** Texts of the prompts that run in some state, each once. */
function textsOfStates(context: CheckContext): ReadonlySet<PromptText> {
  const texts = promptTexts(context.pack);
  const found = new Set<PromptText>();
  const prompts = new Set<string>();
  for (const state of Object.values(context.pack.workflow?.states ?? {})) {
    for (const prompt of promptsOfState(context, state)) prompts.add(prompt);
  }
  for (const prompt of prompts) for (const text of texts.get(prompt) ?? []) found.add(text);
  return found;
}

/** Names of the pack that are something else: a tool one sends things to, an agent, an artifact. */
function knownNames({ pack, exists }: CheckContext, events: ReadonlySet<string>): (word: string) => boolean {
  return (word) =>
    events.has(word) ||
    exists("tools", word) ||
    exists("prompts", word) ||
    exists("workflow", "states", word) ||
    (pack.agents !== undefined && Object.hasOwn(pack.agents.members, word));
}
