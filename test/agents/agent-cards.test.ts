// What the members of a pack are to others (S44): names from the prompt, overridden by the member, one skill each.

import { describe, expect, test } from "vitest";
import { agentCards } from "../../src/pack/agent-cards.ts";
import { openPack } from "../../src/pack/pack.ts";

const head = `id: desk
name: Desk
version: 3.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
`;

const prompts = `prompts:
  front: { id: front, name: Front desk, version: 1.1.0, description: Takes requests, system_template: Take it. }
  back: { id: back, name: Back office, version: 2.0.0, system_template: Do it. }
`;

const workflow = `workflow:
  version: 2
  entry: work
  states: { work: { prompt_task: back, terminal: true } }
`;

function cardsOf(text: string) {
  const pack = openPack(head + text, { file: "desk.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return agentCards(pack.program);
}

describe("members", () => {
  test("have the card of their prompt, one skill by their key, and plain text where they say nothing", () => {
    const [card, ...more] = cardsOf(`${prompts}agents: { entry: front, members: { front: {} } }\n`);
    expect(more).toEqual([]);
    const modes = ["text/plain"];
    expect(card).toEqual({
      key: "front",
      isDefault: true,
      start: { prompt: "front" },
      card: {
        name: "Front desk",
        description: "Takes requests",
        version: "1.1.0",
        defaultInputModes: modes,
        defaultOutputModes: modes,
        skills: [
          {
            id: "front",
            name: "Front desk",
            description: "Takes requests",
            tags: [],
            inputModes: modes,
            outputModes: modes,
          },
        ],
      },
    });
  });

  test("override the description, give tags and modes, and start where they say", () => {
    const member =
      "{ description: Clears up, tags: [a, b], input_modes: [image/*], output_modes: [application/json], state: work }";
    const cards = cardsOf(
      `${prompts}${workflow}agents: { entry: front, members: { front: {}, back: ${member} } }\n`,
    );
    expect(cards.map(({ key, isDefault, start }) => ({ key, isDefault, start }))).toEqual([
      { key: "front", isDefault: true, start: { prompt: "front" } },
      { key: "back", isDefault: false, start: { state: "work" } },
    ]);
    expect(cards[1]?.card).toMatchObject({
      name: "Back office",
      description: "Clears up",
      version: "2.0.0",
      defaultInputModes: ["image/*"],
      skills: [{ id: "back", tags: ["a", "b"], outputModes: ["application/json"] }],
    });
  });

  test("without any description have their name for one: a card must have it", () => {
    const cards = cardsOf(`${prompts}agents: { entry: front, members: { front: {}, back: {} } }\n`);
    expect(cards[1]?.card).toMatchObject({
      description: "Back office",
      skills: [{ description: "Back office" }],
    });
  });

  test("are as many as the pack has, and an entry that is not listed is one of them", () => {
    const cards = cardsOf(`${prompts}agents: { entry: front, members: { back: {} } }\n`);
    expect(cards.map(({ key, isDefault }) => [key, isDefault])).toEqual([
      ["front", true],
      ["back", false],
    ]);
  });

  test("may be called like what every object has", () => {
    const odd = "  constructor: { id: constructor, name: Odd, version: 1.0.0, system_template: Odd. }\n";
    const cards = cardsOf(
      `${prompts}${odd}agents: { entry: front, members: { front: {}, constructor: {} } }\n`,
    );
    expect(cards[1]).toMatchObject({
      key: "constructor",
      card: { name: "Odd" },
      start: { prompt: "constructor" },
    });
  });
});

describe("a pack without agents", () => {
  test("is one agent with the pack's own name, started as the pack is", () => {
    const [card, ...more] = cardsOf(`${prompts}${workflow}`);
    expect(more).toEqual([]);
    expect(card).toMatchObject({
      key: "desk",
      isDefault: true,
      start: {},
      card: { name: "Desk", version: "3.0.0", skills: [{ id: "back" }] },
    });
  });

  test("and with several prompts, but nothing that says which one answers, is none", () => {
    expect(cardsOf(prompts)).toEqual([]);
    expect(cardsOf(prompts.replace(/ {2}back.*\n/, "")).map(({ key }) => key)).toEqual(["desk"]);
  });
});
