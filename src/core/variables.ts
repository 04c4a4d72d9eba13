// Variables at the start of a run (S40): types, defaults and validation, with every problem found at once.
// Defaults are not copied into the result: two prompts may give one name different ones, so each prompt adds
// its own when it is rendered.

import { type Json, put } from "../base/json.ts";
import { suggest } from "../base/suggest.ts";
import type { Program, VariableSpec } from "./program.ts";
import { type RunStart, reachablePrompts, suppliedBySteps } from "./reachable-prompts.ts";
import { asType, hasType, shown, validationProblems } from "./variable-value.ts";

export interface GivenVariables {
  /** From a file or a request: already JSON. */
  readonly values?: Readonly<Record<string, Json>>;
  /** From a command line: converted by the declared type. They win over `values`. */
  readonly texts?: Readonly<Record<string, string>>;
  /**
   * Where variables with a `binding` get their values when the caller gives none: an entry of a source such as
   * `env`. They win over defaults.
   */
  readonly bound?: (source: string, field: string) => string | undefined;
}

interface VariableProblem {
  /** `unchecked`: the value may be right, but its pattern cannot be tried on it. */
  readonly code: "missing" | "type" | "validation" | "unchecked";
  readonly variable: string;
  /** The first prompt that declares it so. */
  readonly prompt: string;
  /** Names the variable. */
  readonly message: string;
}

interface ResolvedVariables {
  /** What was given, converted. Also holds names that no prompt declares: templates may use them. */
  readonly values: Readonly<Record<string, Json>>;
  readonly problems: readonly VariableProblem[];
}

interface Declaration {
  readonly prompt: string;
  readonly variable: VariableSpec;
}

export function resolveVariables(
  program: Program,
  start: RunStart,
  given: GivenVariables,
): ResolvedVariables {
  const declarations = declarationsOf(program, start);
  const values: Record<string, Json> = {};
  for (const [name, value] of Object.entries(given.values ?? {})) put(values, name, value);
  const texts: Record<string, string> = {};
  for (const { variable } of declarations) {
    const { name } = variable;
    const text = given.bound === undefined ? undefined : boundText(variable, given.bound);
    if (text !== undefined && !Object.hasOwn(values, name)) put(texts, name, text);
  }
  for (const [name, text] of Object.entries({ ...texts, ...given.texts })) {
    // Of several declarations the first whose type the text fits decides; the others then complain.
    const types = declarations
      .filter(({ variable }) => variable.name === name)
      .map(({ variable }) => variable.type);
    const fitting = types.map((type) => asType(text, type)).find((value) => value !== undefined);
    put(values, name, fitting ?? text);
  }
  const problems: VariableProblem[] = [];
  const said = new Set<string>();
  for (const declaration of declarations) {
    for (const problem of problemsOf(declaration, values)) {
      const key = `${problem.code} ${problem.message}`;
      if (!said.has(key)) problems.push(problem);
      said.add(key);
    }
  }
  return { values, problems };
}

/** What a binding finds. It fills a variable by itself only where `auto_populate` says so. */
function boundText(
  { name, binding }: VariableSpec,
  source: NonNullable<GivenVariables["bound"]>,
): string | undefined {
  const { kind, field, auto_populate: auto, filter } = binding;
  if (typeof kind !== "string" || auto !== true) return undefined;
  const text = source(kind, typeof field === "string" ? field : name);
  if (filter === "trim") return text?.trim();
  return filter === "lowercase" ? text?.toLowerCase() : text;
}

function declarationsOf(program: Program, start: RunStart): readonly Declaration[] {
  const supplied = suppliedBySteps(program, start);
  return reachablePrompts(program, start).flatMap((prompt) => {
    const variables = Object.hasOwn(program.prompts, prompt) ? program.prompts[prompt]?.variables : undefined;
    const open = (variables ?? []).filter(({ name }) => supplied.get(prompt)?.has(name) !== true);
    return open.map((variable) => ({ prompt, variable }));
  });
}

function problemsOf(
  { prompt, variable }: Declaration,
  values: Readonly<Record<string, Json>>,
): readonly VariableProblem[] {
  const { name, type, defaultValue, required } = variable;
  const given = Object.hasOwn(values, name);
  const value = given ? (values[name] as Json) : (defaultValue ?? undefined);
  if (value === undefined) {
    if (!required) return [];
    const meant = suggest(name, Object.keys(values));
    const hint = meant === undefined ? "give it a value" : `\`${meant}\` was given, did you mean it?`;
    const message = `variable \`${name}\` is required and has no value (${hint})`;
    return [{ code: "missing", variable: name, prompt, message }];
  }
  const what = given ? `variable \`${name}\`` : `the default of variable \`${name}\``;
  if (!hasType(value, type)) {
    const message = `${what} must be ${articleFor(type)} ${type}, not ${shown(value)}`;
    return [{ code: "type", variable: name, prompt, message }];
  }
  return validationProblems(value, variable.validation).map(({ code, text }) => {
    return { code, variable: name, prompt, message: `${what} ${text}` };
  });
}

const articleFor = (type: string): string => (/^[aeiou]/i.test(type) ? "an" : "a");
