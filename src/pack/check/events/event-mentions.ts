// Which events a prompt speaks of. A mention is the event's exact name as a whole word in the prompt's
// templates or in a fragment they include; what stands inside a placeholder is none.

import type { PackFile, WorkflowState } from "../../shape/generated/pack-file.ts";
import { type PromptText, promptTexts } from "../artifacts/prompt-texts.ts";
import type { CheckContext } from "../rule.ts";

export interface PromptState {
  readonly name: string;
  readonly state: WorkflowState;
  readonly prompt: string;
  /** Event to target, empty where no event can fire (S8). */
  readonly events: readonly string[];
}

/** States whose own prompt runs and may move the run: not external ones, nor compositions. */
export function promptStates({ pack, program }: CheckContext): readonly PromptState[] {
  const found: PromptState[] = [];
  for (const [name, state] of Object.entries(pack.workflow?.states ?? {})) {
    const { prompt_task: prompt, orchestration = "internal" } = state;
    if (orchestration === "external" || orchestration === "composition" || prompt === undefined) continue;
    if (!Object.hasOwn(pack.prompts, prompt)) continue;
    const events = Object.keys(program.workflow?.states[name]?.events ?? {});
    found.push({ name, state, prompt, events });
  }
  return found;
}

/** Every event some state handles, as written. */
export function handledEvents(pack: PackFile): ReadonlySet<string> {
  const events = new Set<string>();
  for (const { on_event = {} } of Object.values(pack.workflow?.states ?? {})) {
    for (const event of Object.keys(on_event)) events.add(event);
  }
  return events;
}

export function mentions(pack: PackFile, prompt: string, event: string): boolean {
  const texts = promptTexts(pack).get(prompt) ?? [];
  if (/^\w+$/.test(event)) return texts.some((text) => wordsOf(text).has(event));
  return texts.some((text) => mentionsIn(text, event).length > 0);
}

const known = new WeakMap<PromptText, ReadonlySet<string>>();

function wordsOf(text: PromptText): ReadonlySet<string> {
  const before = known.get(text);
  if (before !== undefined) return before;
  const words = new Set<string>();
  for (const piece of text.pieces) {
    if (piece.kind === "hole") continue;
    const part = piece.kind === "text" ? piece.text : piece.raw;
    for (const [word] of part.matchAll(/[\p{L}\p{N}_]+/gu)) words.add(word);
  }
  known.set(text, words);
  return words;
}

/** Offsets of the whole-word occurrences of `word` in a text, those inside placeholders left out. */
export function mentionsIn({ text, pieces }: PromptText, word: string): readonly number[] {
  if (word === "") return [];
  const holes = pieces.filter((piece) => piece.kind === "hole");
  const found: number[] = [];
  let next = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    while (next < holes.length && holeEnd(holes[next] as Hole) <= at) next++;
    const hole = holes[next];
    const isInHole = hole !== undefined && hole.start <= at;
    if (!isInHole && isWhole(text, at, at + word.length)) found.push(at);
  }
  return found;
}

interface Hole {
  readonly start: number;
  readonly raw: string;
}

const holeEnd = ({ start, raw }: Hole): number => start + raw.length;

function isWhole(text: string, start: number, end: number): boolean {
  const isWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  return !isWord(text[start - 1]) && !isWord(text[end]);
}
