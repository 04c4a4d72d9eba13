// Skills: which a state has, what a model hears when it loads one, and what stands in every prompt.

import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import type { ModelAsk } from "../../src/core/facts.ts";
import type { Program, SkillFile } from "../../src/core/program.ts";
import { type ModelRequest, modelRequest } from "../../src/core/request.ts";
import { openPack } from "../../src/pack/open-pack.ts";
import { Play } from "./scenario.ts";

const pack = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go. }
skills:
  - { name: tone, description: How to write., instructions: "Be kind to {{who}}." }
  - { path: ./skills/refunds, preload: true }
  - skills/more/
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: narrow } }
    narrow: { prompt_task: p, skills: ./skills/more, on_event: { Done: bare } }
    bare: { prompt_task: p, skills: none, terminal: true }
`;

const file = (folder: string, name: string, resources: Record<string, string> = {}): SkillFile => {
  return { folder, name, description: `About ${name}.`, instructions: `Mind the ${name}.`, resources };
};
const folders: Readonly<Record<string, readonly SkillFile[]>> = {
  "./skills/refunds": [file("skills/refunds", "refunds", { "limits.csv": "a,b" })],
  "skills/more/": [file("skills/more/vat", "vat"), file("skills/more/tax", "tax")],
};

function program(text: string, has = folders): Program {
  const opened = openPack(text, { skillFolder: (path) => has[path] });
  if (!opened.ok) throw opened.toError();
  return opened.program;
}

const started = (text = pack): Play => {
  const play = new Play(program(text), {});
  expect(play.say("start")).toMatch(/^entered work#1 · asks model/);
  return play;
};

function requestOf({ program: of, run }: Play): ModelRequest {
  const ask = Object.values(run.open).map((open) => open.ask)[0];
  return modelRequest(of, run, ask as ModelAsk);
}

const enumOf = (play: Play, tool: string, field: string): Json | undefined => {
  const properties = requestOf(play).tools.find(({ name }) => name === tool)?.parameters["properties"];
  return (properties as Record<string, { enum?: Json }> | undefined)?.[field]?.enum;
};

/** What the model hears of one call. */
function heard(play: Play, call: string): { readonly value: Json; readonly error: boolean } {
  expect(play.say(`model calls ${call}`)).toMatch(/asks model$/);
  const last = requestOf(play).messages.at(-1);
  if (last?.role !== "tool") throw new Error("nothing was heard");
  return { value: last.value, error: last.error };
}

describe("skills", () => {
  test("are offered with what they are about, as far as the state has them", () => {
    const play = started();
    const names = (): readonly string[] => requestOf(play).tools.map(({ name }) => name);
    expect(names()).toEqual(["workflow__transition", "skill__activate", "skill__read_resource"]);
    expect(requestOf(play).tools[1]?.description).toContain("\n- tone: How to write.\n- vat: About vat.");
    expect(enumOf(play, "skill__activate", "name")).toEqual(["tone", "vat", "tax"]);
    expect(enumOf(play, "skill__read_resource", "skill_name")).toEqual(["refunds"]);
    play.say("model emits Done");
    expect(names()).toEqual(["workflow__transition", "skill__activate"]);
    expect(enumOf(play, "skill__activate", "name")).toEqual(["vat", "tax"]);
    play.say("model emits Done");
    expect(names()).toEqual([]);
  });

  test("are told whole when a model loads one, and neither counted nor dispatched (S11)", () => {
    const play = started();
    const told = heard(play, "skill__activate({name: tone})");
    expect(told).toEqual({ value: { name: "tone", instructions: "Be kind to {{who}}." }, error: false });
    expect(play.run.used.toolCalls).toBe(0);
    const long = started(pack.replace("Be kind", "k".repeat(20_000)));
    const { value } = heard(long, "skill__activate({name: tone})");
    expect(JSON.stringify(value)).toHaveLength(20_045);
  });

  test("stand in the prompt when they are preloaded, where the state has them", () => {
    const play = started();
    expect(requestOf(play).system).toBe("Go.\n\n# Skill: refunds\n\nMind the refunds.");
    play.say("model emits Done");
    expect(requestOf(play).system).toBe("Go.");
  });

  test("give their files, and no others", () => {
    const play = started();
    expect(heard(play, "skill__read_resource({skill_name: refunds, path: limits.csv})").value).toEqual({
      content: "a,b",
    });
    for (const path of ["../limits.csv", "__proto__", "toString"]) {
      const { value, error } = heard(play, `skill__read_resource({skill_name: refunds, path: ${path}})`);
      expect({ value, error }).toEqual({
        value: `\`${path}\` is no file of \`refunds\`; known are limits.csv`,
        error: true,
      });
    }
  });

  test("that are not there are an error that names those that are", () => {
    const play = started();
    expect(heard(play, "skill__activate({name: refund})")).toEqual({
      value: "`refund` is no skill; known are tone, refunds, vat, tax",
      error: true,
    });
    play.say("model emits Done");
    play.say("model emits Done");
    expect(play.say("model calls skill__activate({name: tone})")).toContain("there are none here");
  });

  test("of the same name are the later one's", () => {
    const play = started(
      pack.replace("  - skills/more/", "  - { name: tone, description: d, instructions: New }"),
    );
    expect(heard(play, "skill__activate({name: tone})").value).toEqual({ name: "tone", instructions: "New" });
  });

  test("that a pack preloads and nobody can read keep its runs from starting", () => {
    const play = new Play(program(pack, {}), {});
    expect(play.say("start")).toContain("unsupported");
  });
});
