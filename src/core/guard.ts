// Validators of a prompt at work: what a model says, or is told, is judged before anybody sees it. A
// validator that fires shortens the text or replaces it; one that cannot judge fires, too.

import type { JsonObject } from "../base/json.ts";
import { judgesText } from "./check-names.ts";
import type { Noted } from "./facts.ts";
import type { Program, PromptSpec, ValidatorSpec } from "./program.ts";
import { type RunStart, reachablePrompts } from "./reachable-prompts.ts";
import { demandsContent, judgeText, shortened } from "./text-check.ts";

type Guarded = Extract<Noted, { readonly what: "guarded" }>;
type Direction = Guarded["direction"];

/** The notes of the validators that fire on a text, in their order; each sees what the one before left. */
export function guardsFired(
  prompt: PromptSpec,
  text: string,
  { direction, concluding }: { readonly direction: Direction; readonly concluding: boolean },
): readonly Guarded[] {
  const fired: Guarded[] = [];
  let now = text;
  for (const validator of prompt.validators) {
    const { type, params } = validator;
    if (!judges(validator, direction) || (!concluding && demandsContent(type, params))) continue;
    if (judgeText(now, type, params) === "good") continue;
    const shorter = shortened(now, type, params);
    now = shorter ?? validator.message ?? `(withheld: ${validator.id ?? type})`;
    const action = shorter === undefined ? "blocked" : "shortened";
    fired.push({
      type: "noted",
      what: "guarded",
      direction,
      validator: validator.id ?? type,
      action,
      text: now,
    });
  }
  return fired;
}

function judges({ params }: ValidatorSpec, direction: Direction): boolean {
  const wanted = directionOf(params);
  return wanted === "both" || wanted === direction;
}

const directionOf = (params: JsonObject): string => {
  const direction = Object.hasOwn(params, "direction") ? params["direction"] : "output";
  return typeof direction === "string" ? direction : "output";
};

/** What is streamed cannot be taken back: such a prompt's answers are shown whole. */
export const guardsOutput = (prompt: PromptSpec): boolean =>
  prompt.validators.some((validator) => judges(validator, "output"));

/** A validator that packloop cannot judge by, in a prompt the run can get to. */
export function unjudged(program: Program, start: RunStart): string | undefined {
  for (const name of reachablePrompts(program, start)) {
    const prompt = Object.hasOwn(program.prompts, name) ? program.prompts[name] : undefined;
    const found = prompt?.validators.find(({ type }) => !judgesText(type));
    if (found !== undefined) return `prompt \`${name}\` has a validator of type \`${found.type}\``;
  }
  return undefined;
}
