// The prompts of the registered packs, filled in with a client's arguments as a run would fill them in with
// its variables. What only a run has, such as artifacts, is left empty.

import { get, type Json, type JsonObject, put } from "../../base/json.ts";
import type { Program, PromptSpec, VariableSpec } from "../../core/program.ts";
import { renderPrompt } from "../../core/render.ts";
import { resolveVariables } from "../../core/variables.ts";
import { Problem } from "../problem.ts";
import type { SideFile } from "../side-file.ts";
import { acceptedContent } from "./answer-forms.ts";
import type { McpCall, WantedInput } from "./mcp-call.ts";
import type { McpPrompt, PromptArgument, PromptOutcome } from "./mcp-prompt.ts";
import { formField, valueIn } from "./question-form.ts";
import { clientName, offeredByPacks, type SpeakingPack } from "./speaking-packs.ts";
import { isNeeded, variableSchema } from "./variable-schema.ts";

const made = new WeakMap<SpeakingPack, readonly McpPrompt[]>();

/** In the order of their names. */
export const packPrompts = (side: SideFile): readonly McpPrompt[] =>
  offeredByPacks(side, made, (pack) =>
    Object.entries(pack.program.prompts).map(([key, spec]) => packPrompt(pack, key, spec)),
  );

function packPrompt({ program, digest }: SpeakingPack, key: string, spec: PromptSpec): McpPrompt {
  const { id, version } = program;
  return {
    name: clientName(`${id}_${key}`),
    title: spec.name,
    description: spec.description || `Prompt ${key} of pack ${id} ${version}`,
    arguments: spec.variables.map(argumentOf),
    meta: { "packloop/pack": { id, version, digest }, "packloop/prompt": key },
    get: async (args, call) => filledIn({ program, key, spec }, args, call),
    valuesOf: (argument) => valuesOf(spec.variables.find(({ name }) => name === argument)),
  };
}

function argumentOf(variable: VariableSpec): PromptArgument {
  const { name, description } = variable;
  return { name, ...(description !== "" && { description }), required: isNeeded(variable) };
}

function valuesOf(variable: VariableSpec | undefined): readonly string[] {
  const choices = get(variable?.validation, "enum");
  if (Array.isArray(choices))
    return (choices as readonly Json[]).map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  return variable?.type === "boolean" ? ["true", "false"] : [];
}

interface PromptOfPack {
  readonly program: Program;
  readonly key: string;
  readonly spec: PromptSpec;
}

/** Under what name the client's user is asked for values. */
const VALUES = "variables";

function filledIn(
  prompt: PromptOfPack,
  texts: Readonly<Record<string, string>>,
  call: McpCall,
): PromptOutcome {
  const { program, key, spec } = prompt;
  const unknown = Object.keys(texts).find((name) => !spec.variables.some((one) => one.name === name));
  if (unknown !== undefined) {
    const known = spec.variables.map(({ name }) => name).join(", ") || "none";
    const message = `\`${unknown.slice(0, 100)}\` is not an argument of the prompt (known: ${known})`;
    throw new Problem("bad-request", message);
  }
  const filled = userValues(spec, call);
  const { values, problems } = resolveVariables(
    program,
    { kind: "prompt", name: key },
    { texts, values: filled ?? {} },
  );
  // A prompt may lead to others, whose values are not ours to ask for.
  const ours = problems.filter((one) => one.prompt === key && one.code !== "unchecked");
  const missing = ours.flatMap(({ code, variable }) => (code === "missing" ? [variable] : []));
  if (missing.length > 0 && missing.length === ours.length && call.client.elicits && filled === undefined)
    return formFor(prompt, missing);
  const [first] = ours;
  if (first !== undefined) throw badArguments(first.message, ours);
  const { text } = renderPrompt(program, {
    prompt: key,
    variables: values,
    artifactOf: () => undefined,
    workflowContext: null,
  });
  return { kind: "messages", messages: [{ role: "user", content: { type: "text", text } }] };
}

function badArguments(
  message: string,
  problems: readonly { readonly variable: string; readonly message: string }[],
): Problem {
  const errors = problems.map((one) => ({ pointer: `/arguments/${one.variable}`, message: one.message }));
  return new Problem("bad-request", message, { extras: { errors } });
}

/** What the user wrote into the form; nothing of it where the form was declined. */
function userValues(spec: PromptSpec, { given }: McpCall): JsonObject | undefined {
  if (given === undefined) return undefined;
  const { responses } = given;
  const content = Object.hasOwn(responses, VALUES) ? acceptedContent(VALUES, responses[VALUES]) : undefined;
  const values: Record<string, Json> = {};
  for (const variable of spec.variables) {
    const value = valueIn(content ?? {}, variable.name, variableSchema(variable));
    if (value !== undefined) put(values, variable.name, value);
  }
  return values;
}

function formFor({ program, key, spec }: PromptOfPack, missing: readonly string[]): WantedInput {
  const properties: Record<string, Json> = {};
  for (const variable of spec.variables)
    if (missing.includes(variable.name))
      put(properties, variable.name, formField(variable.name, variableSchema(variable)).shown);
  const params = {
    mode: "form",
    message: `Prompt ${key} of pack ${program.id} needs values`,
    requestedSchema: { type: "object", properties, required: missing },
  };
  const requests = { [VALUES]: { method: "elicitation/create", params } } as const;
  return { kind: "input", requests, state: null };
}
