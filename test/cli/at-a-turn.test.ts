// Commands that show a pack as a run has it at a turn: `render --at` and `graph --run`.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runFolder } from "./run-folder.ts";

const pack = `id: p
name: P
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  writer: { id: writer, name: Writer, version: 1.0.0,
    system_template: "Write about {{topic}}. So far: {{artifacts.notes}}. Heard: {{workflow_context}}",
    variables: [{ name: topic, type: string, required: true }] }
  closer: { id: closer, name: Closer, version: 1.0.0, system_template: "Close {{artifacts.notes}}." }
workflow:
  version: 2
  entry: write
  states:
    write:
      prompt_task: writer
      max_visits: 3
      on_max_visits: end
      artifacts: { notes: { type: text/plain } }
      on_event: { Again: write, Done: end }
    end: { prompt_task: closer, terminal: true }
`;
const script = `states:
  write:
    - { artifacts: { notes: one }, event: Again, context: first }
    - { artifacts: { notes: two }, event: Again, context: second }
    - { event: Done }
  end: [{ text: Bye. }]
`;

interface Rendered {
  readonly state: string;
  readonly system: string;
}

test("what a state would send at a turn is what it sent, whatever became of the pack's file", () => {
  using folder = runFolder({ "p.pack.yaml": pack, "script.yaml": script });
  const ran = folder.cli(["run", "p.pack.yaml", "--script", "script.yaml", "--var", "topic=bees"]);
  expect(ran.code).toBe(0);
  rmSync(join(folder.path, "p.pack.yaml"));
  const at = (...args: readonly string[]): Rendered => {
    const rendered = folder.cli(["render", ...args, "--json"]);
    expect(rendered.stderr).toBe("");
    return JSON.parse(rendered.stdout) as Rendered;
  };
  const sent = folder.trace().map(({ turn }) => at("--at", `@@${turn}`));
  expect(sent.map(({ state, system }) => `${state}: ${system}`)).toEqual([
    "write: Write about bees. So far: . Heard: ",
    "write: Write about bees. So far: one. Heard: first",
    "write: Write about bees. So far: two. Heard: second",
    "end: Close two.",
  ]);
  const [, second] = folder.trace();
  expect(at("end", "--at", `@@${second?.turn}`)).toMatchObject({ state: "end", system: "Close one." });
  const other = at("--at", "@@1", "--var", "topic=ants", "--artifact", "notes=mine", "--context", "said");
  expect(other.system).toBe("Write about ants. So far: mine. Heard: said");
});

test("the picture of a run counts visits and ways up to the turn, over its own pack or the one named", () => {
  using folder = runFolder({ "p.pack.yaml": pack, "script.yaml": script });
  folder.cli(["run", "p.pack.yaml", "--script", "script.yaml", "--var", "topic=bees"]);
  writeFileSync(join(folder.path, "p.pack.yaml"), pack.replace("max_visits: 3", "max_visits: 9"));
  const whole = folder.cli(["graph", "--run", "@"]).stdout;
  expect(whole).toContain("write  (3/3 ↪ end");
  expect(whole).toContain("Again ×2");
  expect(whole).toContain("end  (×1 · here");
  const [, second] = folder.trace();
  const early = folder.cli(["graph", "p.pack.yaml", "--run", `@@${second?.turn}`]).stdout;
  expect(early).toContain("write  (2/9 ↪ end · here");
  expect(early).toContain("Again ×1");
});

test.each([
  [["render", "a", "b", "--at", "@"], 2, "`--at` has a pack of its own"],
  [["render", "nowhere", "--at", "@"], 2, "`nowhere` is no state of the pack"],
  [["render", "--at", "@@99"], 5, "has no turn 99"],
  [["render", "--at", "r_none"], 5, "run `r_none` does not exist"],
  [["graph", "--run", "r_none"], 5, "run `r_none` does not exist"],
])("%j is refused", (args, code, message) => {
  using folder = runFolder({ "p.pack.yaml": pack, "script.yaml": script });
  folder.cli(["run", "p.pack.yaml", "--script", "script.yaml", "--var", "topic=bees"]);
  const ran = folder.cli(args);
  expect(ran.stderr).toContain(message);
  expect(ran.code).toBe(code);
});
