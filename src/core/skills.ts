// Skills (RFC 0008): knowledge that a model loads when it needs it. What a skill says is told as the result
// of `skill__activate` and lasts as long as the conversation; a preloaded one stands in every prompt. The
// rules answer these calls themselves, so they are neither dispatched nor counted (S11).

import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { kept } from "../base/kept.ts";
import type { ToolCall } from "./facts.ts";
import type { Program, SkillFile } from "./program.ts";
import type { RenderedPart, RenderedPrompt } from "./render.ts";
import { SKILL_ACTIVATE, SKILL_READ } from "./reserved.ts";

interface Skill extends Omit<SkillFile, "folder"> {
  /** Null for one that is written in the pack. */
  readonly folder: string | null;
  readonly preload: boolean;
}

export const isSkillCall = ({ tool }: ToolCall): boolean => tool === SKILL_ACTIVATE || tool === SKILL_READ;

const found = new WeakMap<Program, Map<string, readonly Skill[]>>();

/** Those that can be loaded in a state, or by a prompt that runs without one. */
function skillsIn(program: Program, state: string | null): readonly Skill[] {
  const byState = kept(found, program, () => new Map());
  return kept(byState, state === null ? "" : `in ${state}`, () => chosen(program, state));
}

function chosen(program: Program, state: string | null): readonly Skill[] {
  const states = program.workflow?.states ?? {};
  const only = state !== null && Object.hasOwn(states, state) ? (states[state]?.skills ?? null) : null;
  if (only === "none") return [];
  const all = allSkills(program);
  if (only === null) return all;
  const from = plainPath(only);
  return all.filter(({ folder }) => folder === from || folder?.startsWith(`${from}/`) === true);
}

/** Of two with the same name the later one counts. */
function allSkills({ skills, skillFiles = {} }: Program): readonly Skill[] {
  const byName = new Map<string, Skill>();
  for (const source of skills) {
    const path = typeof source === "string" ? source : get(source, "path");
    if (typeof path === "string") {
      const preload = isObject(source) && source["preload"] === true;
      const files = Object.hasOwn(skillFiles, path) ? (skillFiles[path] ?? []) : [];
      for (const file of files) byName.set(file.name, { ...file, preload });
    } else if (isObject(source)) {
      const name = textOf(source["name"]);
      const [description, instructions] = [textOf(source["description"]), textOf(source["instructions"])];
      byName.set(name, { name, description, instructions, resources: {}, folder: null, preload: false });
    }
  }
  return [...byName.values()];
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** As folders are compared: `./skills/` and `skills` are the same place. */
export const plainPath = (path: string): string => path.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");

/** What a model is offered to load skills with; nothing where there are none. */
export function skillTools(
  program: Program,
  state: string | null,
): readonly { readonly name: string; readonly description: string; readonly parameters: JsonObject }[] {
  const skills = skillsIn(program, state);
  const loadable = skills.filter(({ preload }) => !preload);
  const rich = skills.filter(({ resources }) => Object.keys(resources).length > 0);
  const index = loadable.map(({ name, description }) => `\n- ${name}: ${description}`).join("");
  return [
    ...(loadable.length === 0
      ? []
      : [
          {
            name: SKILL_ACTIVATE,
            description: `Load a skill before you do what it is about:${index}`,
            parameters: schemaOf({ name: names(loadable) }),
          },
        ]),
    ...(rich.length === 0
      ? []
      : [
          {
            name: SKILL_READ,
            description: "Read a file that belongs to a skill.",
            parameters: schemaOf({ skill_name: names(rich), path: { type: "string" } }),
          },
        ]),
  ];
}

const names = (skills: readonly Skill[]): JsonObject => {
  return { type: "string", enum: skills.map(({ name }) => name) };
};

const schemaOf = (properties: JsonObject): JsonObject => {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
};

/** What a model hears of its call. */
export function skillAnswer(
  program: Program,
  state: string | null,
  { tool, args }: ToolCall,
): { readonly told: Json; readonly error: boolean } {
  const skills = skillsIn(program, state);
  const wanted = get(args, tool === SKILL_ACTIVATE ? "name" : "skill_name");
  const skill = skills.find(({ name }) => name === wanted);
  if (skill === undefined) {
    const known = skills.map(({ name }) => name).join(", ");
    const hint = known === "" ? "there are none here" : `known are ${known}`;
    return { told: `\`${textOf(wanted)}\` is no skill; ${hint}`, error: true };
  }
  const files = Object.keys(skill.resources);
  if (tool === SKILL_ACTIVATE) {
    const { name, instructions } = skill;
    return { told: { name, instructions, ...(files.length > 0 && { resources: files }) }, error: false };
  }
  const path = textOf(get(args, "path"));
  const content = Object.hasOwn(skill.resources, path) ? skill.resources[path] : undefined;
  if (content !== undefined) return { told: { content }, error: false };
  const hint = files.length === 0 ? "it has none" : `known are ${files.join(", ")}`;
  return { told: `\`${path}\` is no file of \`${skill.name}\`; ${hint}`, error: true };
}

/** The prompt of a state with the skills behind it that stand there always. */
export function withPreloaded(
  program: Program,
  state: string | null,
  rendered: RenderedPrompt,
): RenderedPrompt {
  const preloaded = skillsIn(program, state).filter(({ preload }) => preload);
  if (preloaded.length === 0) return rendered;
  const parts = preloaded.map(({ name, instructions }): RenderedPart => {
    return { text: `\n\n# Skill: ${name}\n\n${instructions}`, source: { kind: "template", name } };
  });
  const text = [rendered, ...parts].map((one) => one.text).join("");
  return { ...rendered, text, parts: [...rendered.parts, ...parts] };
}

/** A preloaded skill that is not there: a run would lack what its author took for granted. */
export function skillProblem({ skills, skillFiles = {} }: Program): string | undefined {
  for (const source of skills) {
    const path = get(source, "path");
    if (typeof path !== "string" || !isObject(source) || source["preload"] !== true) continue;
    if (!Object.hasOwn(skillFiles, path)) return `the pack preloads skill \`${path}\` without its files`;
  }
  return undefined;
}
