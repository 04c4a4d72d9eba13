// What a pack names by a path, read by whoever has the files: it travels with the text of the pack, and the
// pack links to the same program, with the same digest, as beside its files.

import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { Program, SkillFile } from "../core/program.ts";
import { emptyConfig } from "../pack/check/rule.ts";
import { type OpenedPack, openPack } from "../pack/open-pack.ts";

export interface PackBeside {
  /** JSON Schemas that compositions name, by the path they have for them. */
  readonly schemas?: Readonly<Record<string, JsonObject>> | undefined;
  /** Skills at each path that the pack lists. */
  readonly skills?: Readonly<Record<string, readonly SkillFile[]>> | undefined;
}

/** What the text of the program's pack lacks; undefined when it is whole by itself. */
export function besideOf({ schemas, skillFiles }: Program): PackBeside | undefined {
  if (schemas === undefined && skillFiles === undefined) return undefined;
  return {
    ...(schemas !== undefined && { schemas }),
    ...(skillFiles !== undefined && { skills: skillFiles }),
  };
}

/** Paths that lead to nothing of it are warnings (PP212). */
export function openPackWith(source: string, file: string, beside: PackBeside = {}): OpenedPack {
  const { schemas = {}, skills = {} } = beside;
  const files = new Set([...Object.keys(schemas).map(fileOf), ...Object.keys(skills)]);
  return openPack(source, {
    file,
    config: { ...emptyConfig, probeFile: (path) => (files.has(path) ? "inside" : "missing") },
    schemaFile: (path) => (Object.hasOwn(schemas, path) ? schemas[path] : undefined),
    skillFolder: (path) => (Object.hasOwn(skills, path) ? skills[path] : undefined),
  });
}

/** A schema may be a part of a file. */
const fileOf = (path: string): string => path.split("#", 1)[0] ?? path;

/** A path that the pack does not name: a mistake of whoever sent it. */
export function unnamedPath(program: Program, { schemas = {}, skills = {} }: PackBeside): string | undefined {
  const { schemas: linked = {}, skillFiles = {} } = program;
  return (
    Object.keys(schemas).find((path) => !Object.hasOwn(linked, path)) ??
    Object.keys(skills).find((path) => !Object.hasOwn(skillFiles, path))
  );
}

export const isSchemas = (value: Json): boolean => isObject(value) && Object.values(value).every(isObject);

export const isSkills = (value: Json): boolean =>
  isObject(value) && Object.values(value).every((one) => Array.isArray(one) && one.every(isSkill));

function isSkill(value: Json): boolean {
  if (!isObject(value)) return false;
  const { folder, name, description, instructions, resources, ...others } = value;
  return (
    [folder, name, description, instructions].every((text) => typeof text === "string") &&
    resources !== undefined &&
    isObject(resources) &&
    Object.values(resources).every((text) => typeof text === "string") &&
    Object.keys(others).length === 0
  );
}
