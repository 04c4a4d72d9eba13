// The files a pack speaks of: skills, schemas and media, each with the place it is named at.

import type { Path } from "../../../base/json.ts";
import type { InlineSkill, PackFile, SkillPath } from "../../shape/generated/pack-file.ts";
import { placedSteps } from "./step-places.ts";

export interface PackPath {
  readonly kind: "skill" | "schema" | "media";
  readonly value: string;
  readonly path: Path;
}

export function* packPaths(pack: PackFile): Generator<PackPath> {
  for (const [index, skill] of (pack.skills ?? []).entries()) {
    if (typeof skill === "string") yield { kind: "skill", value: skill, path: ["skills", index] };
    else if (isPath(skill)) yield { kind: "skill", value: skill.path, path: ["skills", index, "path"] };
  }
  for (const [name, prompt] of Object.entries(pack.prompts)) yield* mediaPaths(name, prompt.media);
  for (const [name, { skills }] of Object.entries(pack.workflow?.states ?? {})) {
    // The word is a filter that lets no skill through, not a folder.
    if (skills === undefined || skills === "none") continue;
    yield { kind: "skill", value: skills, path: ["workflow", "states", name, "skills"] };
  }
  for (const [name, composition] of Object.entries(pack.compositions ?? {})) {
    yield* schemas(composition, ["compositions", name]);
  }
  for (const { step, path } of placedSteps(pack)) {
    if (step.kind === "prompt" || step.kind === "agent") yield* schemas(step, path);
  }
}

const isPath = (skill: SkillPath | InlineSkill): skill is SkillPath => Object.hasOwn(skill, "path");

function* mediaPaths(prompt: string, media: PackFile["prompts"][string]["media"]): Generator<PackPath> {
  for (const [example, { parts }] of (media?.examples ?? []).entries()) {
    for (const [part, { media: reference }] of parts.entries()) {
      if (reference?.file_path === undefined) continue;
      const path = ["prompts", prompt, "media", "examples", example, "parts", part, "media", "file_path"];
      yield { kind: "media", value: reference.file_path, path };
    }
  }
}

interface WithSchemas {
  readonly input_schema?: string;
  readonly output_schema?: string;
}

function* schemas(
  { input_schema: input, output_schema: output }: WithSchemas,
  path: Path,
): Generator<PackPath> {
  if (input !== undefined) yield { kind: "schema", value: input, path: [...path, "input_schema"] };
  if (output !== undefined) yield { kind: "schema", value: output, path: [...path, "output_schema"] };
}
