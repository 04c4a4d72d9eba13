// PP807: a key nobody reads in a step, which the schema lets pass.

import { isObject, type Json, type JsonObject, type Path } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { onKey, type Report, type Rule } from "../rule.ts";
import { compositionsOf, type PlacedStep } from "./step-list.ts";

export const unknownStepKey: Rule = {
  code: "PP807",
  severity: "warning",
  title: "unknown key in a step",
  explain:
    "Steps are open objects, so a misspelt key, or one that belongs to another kind of step, passes the " +
    "schema and has no effect. Correct the name or remove it. Steps of a vendor's kind may hold " +
    "anything, and so may keys with a name space such as `acme.example/note`.",
  bad: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  brief:
    version: 1
    steps: [{ id: sum, kind: prompt, prompt_task: sum, inptu: "\${input}" }]
workflow:
  version: 1
  entry: brief
  states: { brief: { orchestration: composition, composition: brief, terminal: true } }
`,
  good: `
prompts:
  sum: { id: sum, name: Sum, version: 1.0.0, system_template: Sum up the text. }
compositions:
  brief:
    version: 1
    steps: [{ id: sum, kind: prompt, prompt_task: sum, input: "\${input}" }]
workflow:
  version: 1
  entry: brief
  states: { brief: { orchestration: composition, composition: brief, terminal: true } }
`,
  check: (context, report) => {
    for (const { steps } of compositionsOf(context)) for (const placed of steps) judge(report, placed);
  },
};

const common = ["id", "kind", "description", "depends_on", "modifiers"];
const keysByKind: ReadonlyMap<string, readonly string[]> = new Map([
  ["prompt", [...common, "prompt_task", "provider", "input", "output_schema"]],
  ["agent", [...common, "prompt_task", "provider", "input", "tools", "termination", "output_schema"]],
  ["tool", [...common, "tool", "args"]],
  ["branch", [...common, "predicate", "then", "else"]],
  ["parallel", [...common, "branches", "reduce"]],
]);

interface Part {
  readonly value: Json | undefined;
  readonly path: Path;
  readonly keys: readonly string[];
  /** What the message calls the object: step `sum`, or `modifiers` of step `sum`. */
  readonly label: string;
  readonly step: string;
}

function judge(report: Report, { step, path }: PlacedStep): void {
  const keys = keysByKind.get(step.kind);
  if (keys === undefined) return;
  const value = step as unknown as JsonObject;
  const label = `step \`${step.id}\``;
  const parts: Part[] = [{ value, path, keys, label, step: step.id }];
  const inner = (key: string, known: readonly string[], of: Part) => {
    const held = isObject(of.value) && Object.hasOwn(of.value, key) ? of.value[key] : undefined;
    const part = {
      value: held,
      path: [...of.path, key],
      keys: known,
      label: `\`${key}\` of ${label}`,
      step: step.id,
    };
    parts.push(part);
    return part;
  };
  const [whole] = parts as [Part];
  inner("retry", ["max_attempts"], inner("modifiers", ["retry", "eval"], whole));
  if (step.kind === "agent") inner("termination", ["max_steps", "tool_called"], whole);
  if (step.kind === "parallel") inner("reduce", ["strategy", "into"], whole);
  if (step.kind === "branch") parts.push(...predicates(value["predicate"], [...path, "predicate"], step.id));
  for (const part of parts) judgePart(report, part);
}

/** Each form of condition reads its own keys. Nesting is limited by the reader. */
function predicates(value: Json | undefined, path: Path, step: string): readonly Part[] {
  if (!isObject(value)) return [];
  const form = ["all_of", "any_of", "not"].find((key) => Object.hasOwn(value, key));
  const keys =
    form !== undefined
      ? [form]
      : Object.hasOwn(value, "exists")
        ? ["path", "exists"]
        : ["path", "op", "value"];
  const own = { value, path, keys, label: `a condition of step \`${step}\``, step };
  const held = form === undefined ? undefined : value[form];
  if (!Array.isArray(held)) return [own, ...predicates(held, [...path, form ?? ""], step)];
  return [own, ...held.flatMap((item: Json, index) => predicates(item, [...path, form ?? "", index], step))];
}

const RESERVED = new Set([
  "timeout",
  "on_error",
  "cache_key",
  "budget",
  "recall",
  "persist",
  "compensate",
  "durable",
]);

function judgePart(report: Report, { value, path, keys, label, step }: Part): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    if (keys.includes(key) || isNamespaced(key)) continue;
    const meant = suggest(key, keys);
    report({
      at: onKey(...path, key),
      message: `${label} has \`${key}\``,
      why: RESERVED.has(key)
        ? "the name is reserved for a later version of the specification, nobody reads it"
        : "the schema lets it pass, nobody reads it",
      help: meant === undefined || Object.hasOwn(value, meant) ? "remove it" : "rename it",
      ...(meant !== undefined && { label: `did you mean \`${meant}\`?` }),
      data: { step, key, suggestion: meant ?? null },
    });
  }
}

/** Keys that are meant for other programs. */
const isNamespaced = (key: string): boolean =>
  key === "extensions" || key.startsWith("x-") || /[./:]/.test(key);
