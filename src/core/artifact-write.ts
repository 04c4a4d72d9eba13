// What may be written to an artifact, and in which form it is kept (S32–S37).

import type { Json } from "../base/json.ts";
import { utf8Length } from "../base/utf8.ts";
import type { WriteSource, Wrote } from "./facts.ts";
import type { ArtifactSpec, Program, StateSpec } from "./program.ts";
import { schemaProblem } from "./schema-problem.ts";

/** S37: more than this belongs elsewhere, with a pointer kept here. */
const ARTIFACT_BYTES_MAX = 64 * 1024;

export type Write =
  | { readonly ok: true; readonly fact: Wrote }
  | { readonly ok: false; readonly message: string };

export function writeArtifact(
  program: Program,
  state: StateSpec | null,
  given: { readonly artifact: string; readonly value: Json; readonly source: WriteSource },
): Write {
  const { artifact, source } = given;
  const spec = definitionOf(program, state, artifact);
  if (spec === undefined) {
    const known = Object.keys(program.workflow?.artifacts ?? {});
    const hint = known.length === 0 ? "the workflow declares none" : `declared are ${known.join(", ")}`;
    return { ok: false, message: `\`${artifact}\` is not an artifact of this workflow; ${hint}` };
  }
  const json = isJsonType(spec.type);
  const value = json ? asJson(given.value) : { ok: true as const, value: asText(given.value) };
  if (!value.ok)
    return { ok: false, message: `\`${artifact}\` has type ${spec.type}, and the text given is not JSON` };
  const misfit = json ? schemaMisfit(program, artifact, value.value) : undefined;
  if (misfit !== undefined) return { ok: false, message: misfit };
  const size = utf8Length(typeof value.value === "string" ? value.value : JSON.stringify(value.value));
  if (size > ARTIFACT_BYTES_MAX) {
    const message = `the value for \`${artifact}\` has ${size} bytes, the limit is ${ARTIFACT_BYTES_MAX}; store it elsewhere and keep a pointer`;
    return { ok: false, message };
  }
  return { ok: true, fact: { type: "wrote", artifact, mode: spec.mode, json, value: value.value, source } };
}

function schemaMisfit(program: Program, artifact: string, value: Json): string | undefined {
  const schemas = program.workflow?.artifactSchemas ?? {};
  const schema = Object.hasOwn(schemas, artifact) ? schemas[artifact] : undefined;
  const problem = schema && schemaProblem(schema, value);
  return problem && `the value does not fit \`${artifact}\`: ${problem.where || "value"}: ${problem.error}`;
}

/** S34: the current state's definition, else the first in file order. */
function definitionOf(program: Program, state: StateSpec | null, artifact: string): ArtifactSpec | undefined {
  if (state !== null && Object.hasOwn(state.artifacts, artifact)) return state.artifacts[artifact];
  const shared = program.workflow?.artifacts ?? {};
  return Object.hasOwn(shared, artifact) ? shared[artifact] : undefined;
}

const isJsonType = (type: string): boolean => /^application\/json\b|\+json\b/i.test(type);

function asJson(value: Json): { ok: true; value: Json } | { ok: false } {
  if (typeof value !== "string") return { ok: true, value };
  try {
    return { ok: true, value: JSON.parse(value) as Json };
  } catch {
    return { ok: false };
  }
}

const asText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
