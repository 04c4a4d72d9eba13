// Artifacts that must have a form or come from a part of a result, and runs that a shell ends.

import { describe } from "vitest";
import { scenario } from "./scenario.ts";

const pack = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [read] }
tools:
  read: { name: read, description: Read }
workflow:
  version: 2
  entry: work
  engine: { artifact_schemas: { note: { type: object, required: [text] } } }
  states:
    work: { prompt_task: p, artifacts: { note: { type: application/json } }, on_event: { Done: end } }
    end: { prompt_task: p, terminal: true }
`;

describe("an artifact with a form", () => {
  scenario(
    "a value that does not fit is refused, and the run does not move on beside it",
    pack,
    `
    start                                       entered work#1 · asks model
    model emits Done and sets note={"a":1}      error result: the value does not fit \`note\`: value: Instance does not have required property "text". · error result: something else in this answer was refused; mend it before you leave · asks model
    model sets note=[1] and emits Done          error result: the value does not fit \`note\`: value: Instance type "array" is invalid. Expected "object". · error result: something else in this answer was refused; mend it before you leave · asks model
    model emits Done and sets note={"text":"x"}    wrote note={"text":"x"} · entered end#1 · asks model
  `,
  );
});

describe("an artifact that a part of a result fills", () => {
  const bound = (path: string): string =>
    pack.replace(
      / engine: .*/,
      ` engine: { result_bindings: { read: { artifact: note, path: ${JSON.stringify(path)} } } }`,
    );
  for (const path of ["rows[1].id", "rows.1.id", "$.rows[1].id"])
    scenario(
      `S35: ${path} leads into a list`,
      bound(path),
      `
    start                                        entered work#1 · asks model
    model calls read                             asks tool read
    tool read ok {"rows":[0,{"id":7}]}   wrote note=7 · asks model
  `,
    );
  scenario(
    "S35: $ is the whole result",
    bound("$"),
    `
    start                       entered work#1 · asks model
    model calls read            asks tool read
    tool read ok [3]            wrote note=[3] · asks model
  `,
  );
  scenario(
    "S35: a name leads to no part of a list",
    bound("rows."),
    `
    start                       entered work#1 · asks model
    model calls read            asks tool read
    tool read ok {"rows":[3]}   unwritten · asks model
  `,
  );
});

describe("a run that its shell ends", () => {
  scenario(
    "S49: it is failed with the shell's reason, once",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    fail step_mismatch too far       finished failed (step_mismatch)
    fail step_mismatch too far       ignored: the run is failed
    tool read ok x                   ignored: the run is failed
  `,
  );
});
