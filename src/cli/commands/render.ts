// `packloop render`

import { Command } from "commander";
import { get, type Json, put } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import { compositionOf, type PartSpec } from "../../core/composition.ts";
import { offeredTools, parametersFor } from "../../core/offered-tools.ts";
import type { Program, PromptSpec } from "../../core/program.ts";
import { type RenderedPrompt, renderPrompt, variablesFor } from "../../core/render.ts";
import { artifactValue, type Run } from "../../core/run.ts";
import { withPreloaded } from "../../core/skills.ts";
import { resolveVariables } from "../../core/variables.ts";
import { storedProgram } from "../../host/stored-runs.ts";
import { type ExitError, usageError } from "../exit.ts";
import { markedText, sourceTable } from "../format/render-text.ts";
import { loadProgram } from "../load-pack.ts";
import { packAndName } from "../one-pack.ts";
import { note, write } from "../output.ts";
import { artifactsOf, problemList, readVarsFile, textsOf } from "../render-input.ts";
import { loadRun } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";

interface Flags {
  readonly var?: readonly string[];
  readonly varsFile?: string;
  readonly artifact?: readonly string[];
  readonly context?: string;
  readonly prompt?: string;
  readonly model?: string;
  readonly marks?: true;
  readonly json?: true;
  readonly at?: string;
  readonly store?: string;
}

export function renderCommand(): Command {
  const gather = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
  return new Command()
    .description("Show the prompt a state would send to its model, and where each value in it came from.")
    .argument("[pack]", "a file, or - for standard input; may be left out in a folder with one pack")
    .argument("[state]", "a state of the workflow; left out for a pack without one")
    .option("--var <name=value>", "a variable; may be given several times", gather)
    .option("--vars-file <file>", "variables as YAML or JSON (- for standard input)")
    .option(
      "--artifact <name=value>",
      "an artifact's value, or name=@file; may be given several times",
      gather,
    )
    .option(
      "--at <run>",
      "RUN or RUN@TURN: its pack, variables, artifacts and context; its state unless one is given",
    )
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--context <text>", "what the last transition said, for {{workflow_context}}")
    .option("--prompt <name>", "render this prompt instead of the state's")
    .option("--model <name>", "apply the prompt's overrides for this model")
    .option("--marks", "mark each value in the text instead of listing them on stderr")
    .option("--json", "print the prompt with its parts, tools, parameters and variables")
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop render codegen.pack.yaml implement --artifact plan=@plan.md --marks",
        "  packloop render --at @@4",
        "",
        "Exit codes: 0 rendered, 2 unusable arguments, values or pack, 3 a defect of packloop, 5 no such run",
      ].join("\n"),
    )
    .action(async (first: string | undefined, second: string | undefined, flags: Flags) => {
      if (flags.at !== undefined) return show(await renderAt(flags.at, [first, second], flags), flags);
      const { pack, name } = packAndName(first, second);
      if (pack === "-" && flags.varsFile === "-") {
        throw usageError("standard input cannot be both the pack and `--vars-file` (put one in a file)");
      }
      const { program } = await loadProgram(pack);
      return show(render(program, subjectOf(program, name, flags.prompt), flags), flags);
    });
}

/** As the run was then: what flags give is put over what it had. */
async function renderAt(
  given: string,
  [state, more]: readonly (string | undefined)[],
  flags: Flags,
): Promise<Rendered> {
  if (more !== undefined) throw usageError("`--at` has a pack of its own (give at most a state)");
  await using store = await openStore({ store: flags.store, readOnly: true });
  const { run } = await loadRun(store, given);
  const program = await storedProgram(store, run.digest);
  const isPresent = state === undefined || state === run.state;
  const prompt = flags.prompt ?? (isPresent && run.composing === undefined ? run.prompt : undefined);
  const subject = subjectOf(program, state ?? run.state ?? undefined, prompt);
  return render(program, subject, flags, run);
}

interface Subject {
  readonly state: string | null;
  readonly prompt: string;
}

/** S5 for a pack without workflow; otherwise the prompt of the state. */
function subjectOf(program: Program, state: string | undefined, prompt: string | undefined): Subject {
  if (prompt !== undefined && !Object.hasOwn(program.prompts, prompt)) {
    throw unknown("prompt", prompt, Object.keys(program.prompts));
  }
  if (program.workflow === null) {
    if (state !== undefined) throw unexpectedState(program, state);
    return { state: null, prompt: prompt ?? onlyPrompt(program) };
  }
  const { states } = program.workflow;
  if (state === undefined) {
    if (prompt !== undefined) return { state: null, prompt };
    throw usageError(`give a state: ${listed(Object.keys(states))}`);
  }
  const step = Object.hasOwn(states, state) ? undefined : stepNamed(program, state);
  if (step !== undefined) return step;
  if (!Object.hasOwn(states, state)) throw unknown("state", state, Object.keys(states));
  const sent = prompt ?? states[state]?.promptTask ?? undefined;
  if (sent !== undefined) return { state, prompt: sent };
  const asking = (compositionOf(program, state)?.parts ?? [])
    .filter(asksModel)
    .map(({ id }) => `${state}.${id}`);
  throw usageError(
    `state \`${state}\` runs composition \`${states[state]?.composition}\`, not a prompt (choose a step: ${listed(asking)})`,
  );
}

const asksModel = ({ kind }: PartSpec): boolean => kind === "prompt" || kind === "agent";

/** `STATE.STEP`: the prompt of a composition's step. */
function stepNamed(program: Program, name: string): Subject | undefined {
  const dot = name.lastIndexOf(".");
  const state = name.slice(0, Math.max(0, dot));
  const part = compositionOf(program, state)?.partById.get(name.slice(dot + 1));
  return part?.kind === "prompt" || part?.kind === "agent" ? { state, prompt: part.prompt } : undefined;
}

function onlyPrompt({ prompts, agents }: Program): string {
  if (agents !== null) return agents.entry;
  const names = Object.keys(prompts);
  if (names.length === 1) return names[0] as string;
  throw usageError(`the pack has ${names.length} prompts; choose one with --prompt: ${listed(names)}`);
}

function unexpectedState({ prompts }: Program, state: string): ExitError {
  const hint = Object.hasOwn(prompts, state) ? `use --prompt ${state}` : "leave it out, or use --prompt";
  return usageError(`the pack has no workflow, so \`${state}\` is no state (${hint})`);
}

function unknown(what: string, name: string, known: readonly string[]): ExitError {
  const meant = suggest(name, known);
  const hint = meant === undefined ? `the pack has ${listed(known)}` : `did you mean \`${meant}\`?`;
  return usageError(`\`${name}\` is no ${what} of the pack (${hint})`);
}

const NAMES_SHOWN = 12;

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

interface Rendered extends Subject {
  readonly program: Program;
  readonly spec: PromptSpec;
  readonly result: RenderedPrompt;
  readonly variables: Readonly<Record<string, Json>>;
  readonly remarks: readonly string[];
}

/** A missing value is part of the picture; a wrong one is a mistake on the command line. */
function render(program: Program, subject: Subject, flags: Flags, run?: Run): Rendered {
  const { state, prompt } = subject;
  const given = {
    texts: textsOf(flags.var ?? [], "--var"),
    values: { ...run?.variables, ...(flags.varsFile !== undefined && readVarsFile(flags.varsFile)) },
  };
  const { values, problems } = resolveVariables(program, { kind: "prompt", name: prompt }, given);
  const wrong = problems.filter(({ code }) => code === "type" || code === "validation");
  if (wrong.length > 0) throw usageError(problemList(wrong.map((problem) => problem.message)));
  const artifacts = artifactsOf(program, state, flags.artifact ?? []);
  const { model } = flags;
  const rendered = renderPrompt(program, {
    prompt,
    variables: values,
    artifactOf: (name) => get(artifacts, name) ?? artifactIn(run, name),
    workflowContext: flags.context ?? run?.context ?? null,
    ...(model !== undefined && { model }),
  });
  const result = withPreloaded(program, state ?? null, rendered);
  const spec = program.prompts[prompt] as PromptSpec;
  const variables: Record<string, Json> = {};
  for (const [name, { value }] of variablesFor(spec, values)) put(variables, name, value);
  return {
    ...subject,
    program,
    spec,
    result,
    variables,
    remarks: problems.map((problem) => problem.message),
  };
}

function artifactIn(run: Run | undefined, name: string): Json | undefined {
  const value = run !== undefined && Object.hasOwn(run.artifacts, name) ? run.artifacts[name] : undefined;
  return value === undefined ? undefined : artifactValue(value);
}

function show(rendered: Rendered, flags: Flags): void {
  const { result, remarks, state, prompt } = rendered;
  if (flags.json === true) return write(`${JSON.stringify(dataOf(rendered, flags), null, 2)}\n`);
  const text = flags.marks === true ? markedText(result) : result.text;
  write(text.endsWith("\n") ? text : `${text}\n`);
  if (flags.marks !== true) {
    const table = sourceTable(result);
    const head = state === null ? `prompt ${prompt}` : `state ${state}, prompt ${prompt}`;
    note(`\n${head}${table === "" ? ": no values" : ""}\n${table}`);
  }
  for (const remark of remarks) note(`note: ${remark}`);
}

function dataOf({ program, state, prompt, spec, result, variables }: Rendered, { model }: Flags) {
  return {
    state,
    prompt,
    model: model ?? null,
    system: result.text,
    parts: result.parts,
    missing: result.missing,
    tools: offeredTools(program, { prompt, state }),
    tool_choice: spec.toolChoice,
    parameters: parametersFor(spec, model),
    variables,
  };
}
