// How a place in a pack is called in a message: "state `x`", "`max_visits` of state `x`", "the pack's `id`".

import type { Json, Path } from "../../base/json.ts";
import { get } from "../../base/json.ts";

/** One step of the way from the root to the value under inspection. The first frame is the root itself. */
export interface Frame {
  /** Reached as a named property of an object, as an entry of a map, or as an item of a list. */
  readonly how: "property" | "entry" | "item";
  readonly key: string | number;
  readonly value: Json;
  /** Whether its owner can do without it. */
  readonly optional: boolean;
  /** The definition the value is held against; choices between forms change it on the way. */
  shape: string | undefined;
}

/** What the members of maps and lists are called. Properties go by their key. */
const nouns: Readonly<Record<string, string>> = {
  PackFile: "pack",
  Prompt: "prompt",
  Variable: "variable",
  Tool: "tool",
  Middleware: "middleware",
  Validator: "validator",
  TestedModel: "tested model",
  ModelOverride: "model override",
  MultimodalExample: "media example",
  ContentPart: "part",
  Eval: "eval",
  WorkflowState: "state",
  Artifact: "artifact",
  Agent: "agent",
  SkillSource: "skill",
  SkillPath: "skill",
  InlineSkill: "skill",
  Composition: "composition",
  Step: "step",
  PromptStep: "step",
  AgentStep: "step",
  ToolStep: "step",
  BranchStep: "step",
  ParallelStep: "step",
  VendorStep: "step",
  Predicate: "predicate",
  ComparePredicate: "predicate",
  ExistsPredicate: "predicate",
  AllOfPredicate: "predicate",
  AnyOfPredicate: "predicate",
  NotPredicate: "predicate",
  ProviderRequirement: "provider requirement",
  ProviderRequest: "provider requirement",
  ResultBinding: "result binding",
  ResultTarget: "result binding",
  Obligation: "obligation",
  ObligationControl: "control",
  Review: "review",
};

/** A pack has one of each, so their members need no owner in a message. */
const unique = new Set(["PackFile", "Workflow", "WorkflowEngine", "Agents", "Requirements"]);

/** Two forms of one noun, where a message about keys has to tell them apart. */
const kinds: Readonly<Record<string, string>> = {
  SkillPath: "a skill with `path`",
  InlineSkill: "a skill written in place",
};

export function pathOf(frames: readonly Frame[]): Path {
  return frames.slice(1).map((frame) => frame.key);
}

/** The value at the end of `frames`, in words. */
export function subject(frames: readonly Frame[], end = frames.length - 1): string {
  const frame = frames[end];
  if (frame === undefined || end === 0) return "the pack";
  if (frame.how === "property") return property(frames, end);
  const noun = nounOf(frame);
  if (noun !== undefined) {
    const owner = frames[end - 2];
    const of = owner === undefined || unique.has(owner.shape ?? "") ? "" : ` of ${subject(frames, end - 2)}`;
    return `${noun} ${label(frame)}${of}`;
  }
  const container = subject(frames, end - 1);
  return frame.how === "item"
    ? `entry ${Number(frame.key) + 1} of ${container}`
    : `${quote(frame.key)} in ${container}`;
}

/** Properties of properties are joined by dots, up to the next thing that has a name. */
function property(frames: readonly Frame[], end: number): string {
  let start = end;
  while (start > 1 && frames[start - 1]?.how === "property") start--;
  const keys = frames.slice(start, end + 1).map((frame) => frame.key);
  if (start > 1) return `${quote(keys.join("."))} of ${subject(frames, start - 1)}`;
  return keys.length === 1 ? `the pack's ${quote(keys.join())}` : quote(keys.join("."));
}

/** What an object is one of, for "is not a property of …": `a state`, or its key when it has no noun. */
export function kindOf(frame: Frame): string {
  const noun = frame.how === "property" && frame.shape !== "PackFile" ? undefined : nounOf(frame);
  if (noun === undefined) return quote(frame.key);
  const kind = kinds[frame.shape ?? ""];
  return kind ?? `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

function nounOf(frame: Frame): string | undefined {
  return frame.shape === undefined ? undefined : nouns[frame.shape];
}

function label(frame: Frame): string {
  if (typeof frame.key === "string") return quote(frame.key);
  for (const key of ["id", "name", "key"]) {
    const value = get(frame.value, key);
    if (typeof value === "string" && value !== "") return quote(value);
  }
  return String(frame.key + 1);
}

const shownMax = 60;

/** Text from the pack in backquotes, on one line and clipped: a key may be a megabyte long. */
export function quote(text: string | number | boolean): string {
  return `\`${clip(text)}\``;
}

export function clip(text: string | number | boolean): string {
  // Twice the limit is enough to see whether anything is left over, whatever the length of the rest.
  const letters = Array.from(String(text).slice(0, shownMax * 2));
  const shown = letters.length > shownMax ? `${letters.slice(0, shownMax - 1).join("")}…` : letters.join("");
  return shown.replace(/[`\p{Cc}]/gu, escaped);
}

/** Backquotes would end the quotation, and control characters would reach the terminal. */
function escaped(letter: string): string {
  if (letter === "`") return "'";
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[letter];
  return short ?? `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}
