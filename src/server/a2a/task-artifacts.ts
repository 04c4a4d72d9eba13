// Artifacts of a run as artifacts of its A2A task. One that grows has a part for each piece, so that what a
// stream appended is what the task shows.

import type { Artifact, Part } from "@a2a-js/sdk";
import type { Json } from "../../base/json.ts";
import { itemsOf } from "../../base/log.ts";
import type { Wrote } from "../../core/facts.ts";
import type { Program } from "../../core/program.ts";
import type { ArtifactValue, Run } from "../../core/run.ts";
import { dataPart, textPart } from "./message-parts.ts";

/** The name under which the last text is output where a run has written no artifact. */
const RESPONSE = "response";

export function taskArtifacts(program: Program, run: Run): readonly Artifact[] {
  const written = Object.entries(run.artifacts).map(([name, value]) => {
    const pieces = piecesOf(value);
    return artifact(program, name, pieces);
  });
  const response = responseArtifact(run);
  return response === undefined ? written : [response];
}

const piecesOf = (value: ArtifactValue): readonly Json[] =>
  value.mode === "replace" ? [value.value] : itemsOf(value.pieces);

/** Results are artifacts: a run that wrote none gives its text as one. */
export function responseArtifact({ final, artifacts, lastText }: Run): Artifact | undefined {
  const isOutput = final === "completed" || final === "budget_exhausted";
  if (!isOutput || lastText === "" || Object.keys(artifacts).length > 0) return undefined;
  return { ...bare(RESPONSE), parts: [textPart(lastText)] };
}

/** The whole value of one that is replaced, the added piece of one that grows. */
export const writtenArtifact = (program: Program, { artifact: name, value }: Wrote): Artifact =>
  artifact(program, name, [value]);

function artifact(program: Program, name: string, pieces: readonly Json[]): Artifact {
  const known = program.workflow?.artifacts ?? {};
  const spec = Object.hasOwn(known, name) ? known[name] : undefined;
  const parts = pieces.map((piece) => partOf(piece, spec?.type ?? ""));
  return { ...bare(name), description: spec?.description ?? "", parts };
}

const bare = (name: string): Omit<Artifact, "parts"> => ({
  ...{ artifactId: name, name, description: "", metadata: undefined, extensions: [] },
});

function partOf(value: Json, type: string): Part {
  const isJson = /^application\/json\b|\+json\b/i.test(type);
  if (typeof value === "string" && !isJson) return textPart(value, type || "text/plain");
  return dataPart(value, isJson ? type : "application/json");
}
