// PP516: the validation of a variable contradicts itself, its type or the values written beside it.

import type { Json, Path } from "../../../base/json.ts";
import type { Variable } from "../../shape/generated/pack-file.ts";
import { onValue, type Reported, type Rule } from "../rule.ts";
import { brokenRule, kindOfType, type Validation } from "./value-rules.ts";
import { declaredVariables } from "./variable-list.ts";

export const contradictoryValidation: Rule = {
  code: "PP516",
  severity: "warning",
  title: "validation contradicts itself",
  explain:
    "The rules for a value leave nothing that passes, do not apply to the variable's type, or refuse the " +
    "default, the example or a member of the enum given in the same declaration. Lengths and patterns are " +
    "about text, minimum and maximum about numbers. Change the rule or the value, so that a run can pass.",
  bad: `
prompts:
  list:
    id: list
    name: List
    version: 1.0.0
    system_template: "Name {{limit}} things."
    variables:
      - { name: limit, type: number, required: true, validation: { minimum: 10, maximum: 5 } }
`,
  good: `
prompts:
  list:
    id: list
    name: List
    version: 1.0.0
    system_template: "Name {{limit}} things."
    variables:
      - { name: limit, type: number, required: true, validation: { minimum: 5, maximum: 10 } }
`,
  check: (context, report) => {
    for (const { prompt, variable, path } of declaredVariables(context)) {
      for (const found of contradictions(variable, path)) {
        const { data, ...words } = found;
        report({ ...words, data: { variable: variable.name, prompt, ...data } });
      }
    }
  },
};

function contradictions(variable: Variable, path: Path): readonly Reported[] {
  const rules: Validation = variable.validation ?? {};
  const impossible = [
    ...reversedBounds(variable, rules, { path, low: "min_length", high: "max_length" }),
    ...reversedBounds(variable, rules, { path, low: "minimum", high: "maximum" }),
  ];
  const useless = uselessRules(variable, rules, path);
  // A value is held only against rules that make sense themselves.
  const sound = impossible.length > 0 ? withoutBounds(rules) : rules;
  return [
    ...impossible,
    ...useless,
    ...emptyEnum(variable, rules, path),
    ...brokenMembers(variable, sound, path),
    ...brokenValues(variable, sound, path),
  ];
}

interface Bounds {
  readonly path: Path;
  readonly low: "min_length" | "minimum";
  readonly high: "max_length" | "maximum";
}

function reversedBounds(
  { name }: Variable,
  rules: Validation,
  { path, low, high }: Bounds,
): readonly Reported[] {
  const least = rules[low];
  const most = rules[high];
  if (least === undefined || most === undefined || least <= most) return [];
  return [
    {
      at: onValue(...path, "validation", low),
      message: `\`${name}\`: ${low} ${least}, ${high} ${most}`,
      why: "no value passes",
      help: "swap them",
      data: { [low]: least, [high]: most },
    },
  ];
}

function withoutBounds(rules: Validation): Validation {
  const { min_length: _least, max_length: _most, minimum: _low, maximum: _high, ...rest } = rules;
  return rest;
}

/** Rules about text on something else, and rules about numbers on something else. */
function uselessRules(variable: Variable, rules: Validation, path: Path): readonly Reported[] {
  const kind = kindOfType(variable);
  if (kind === undefined) return [];
  const found: Reported[] = [];
  for (const key of ["pattern", "min_length", "max_length", "minimum", "maximum"] as const) {
    const subject = key === "minimum" || key === "maximum" ? "number" : "text";
    if (rules[key] === undefined || subject === kind) continue;
    found.push({
      at: onValue(...path, "validation", key),
      message: `\`${variable.name}\`: ${key} on type \`${variable.type}\``,
      why: `it applies to ${subject === "text" ? "texts" : "numbers"} only, so it has no effect`,
      help: helpFor(key, kind),
      data: { rule: key, type: variable.type },
    });
  }
  return found;
}

function helpFor(key: string, kind: string): string {
  if (kind === "number" && key !== "pattern") return "use `minimum` and `maximum`";
  if (kind === "text") return "use `min_length` and `max_length`, or change the type";
  return "remove it, or change the type";
}

function emptyEnum({ name }: Variable, rules: Validation, path: Path): readonly Reported[] {
  if (rules.enum === undefined || rules.enum.length > 0) return [];
  const at = onValue(...path, "validation", "enum");
  return [
    { at, message: `\`${name}\`: enum is empty`, why: "no value passes", help: "list the allowed values" },
  ];
}

function brokenMembers(variable: Variable, rules: Validation, path: Path): readonly Reported[] {
  const { enum: members = [], ...others } = rules;
  const found: Reported[] = [];
  for (const [index, member] of members.entries()) {
    const rule = brokenRule(member as Json, variable, others);
    if (rule === undefined) continue;
    const value = shown(member as Json);
    found.push({
      at: onValue(...path, "validation", "enum", index),
      message: `\`${variable.name}\`: enum member \`${value}\` breaks ${rule}`,
      why: "it is allowed by one rule and refused by another",
      help: "change the member or the rule",
      data: { value: member as Json, rule },
    });
  }
  return found;
}

function brokenValues(variable: Variable, rules: Validation, path: Path): readonly Reported[] {
  const found: Reported[] = [];
  for (const key of ["default", "example"] as const) {
    const value = variable[key] as Json | undefined;
    // An empty enum has been reported, and nothing could be a member of it.
    if (value === undefined || rules.enum?.length === 0) continue;
    const rule = brokenRule(value, variable, rules);
    if (rule === undefined) continue;
    found.push({
      at: onValue(...path, key),
      message: `\`${variable.name}\`: ${key} \`${shown(value)}\` breaks ${rule}`,
      why:
        key === "default"
          ? "a run that relies on the default is refused"
          : "a caller who follows it is refused",
      help: `change the ${key} or the rule`,
      data: { value, rule },
    });
  }
  return found;
}

function shown(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}
