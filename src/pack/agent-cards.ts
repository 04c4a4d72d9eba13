// What the agents of a pack are to others: the data of their A2A 1.0 cards (S44), in the card's own words.
// Addresses, capabilities and security are the server's to add:
//   { ...card, supportedInterfaces, capabilities, securitySchemes, … } for `{ card }` of `agentCards(program)`.

import { must } from "../base/assert.ts";
import { type AgentStart, agentKeys, agentStart } from "../core/agent-start.ts";
import type { AgentSpec, Program, PromptSpec } from "../core/program.ts";

export interface AgentOfPack {
  /** One word for addresses: the member's key, or the pack's id where the pack as a whole is the agent. */
  readonly key: string;
  /** The one that stands for the pack: `agents.entry`. Exactly one of a list that is not empty. */
  readonly isDefault: boolean;
  /** How its runs start; empty where they start as the pack's do. */
  readonly start: AgentStart | Record<string, never>;
  readonly card: CardData;
}

export interface CardData {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly [SkillData];
}

export interface SkillData {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
}

/**
 * One agent per member in the pack's order, an entry that is not listed first; without `agents` the pack
 * itself. A pack of several prompts with neither workflow nor agents has none: nobody says which one answers.
 */
export function agentCards(program: Program): readonly AgentOfPack[] {
  if (program.agents === null) return packAgent(program);
  const { entry, members } = program.agents;
  return agentKeys(program).map((key) => ({
    key,
    isDefault: key === entry,
    start: must(agentStart(program, key), "the keys of agents start somewhere"),
    card: cardOf({ key, member: own(members, key), prompt: own(program.prompts, key), program }),
  }));
}

interface CardSource {
  readonly key: string;
  readonly member: AgentSpec | undefined;
  readonly prompt: PromptSpec | undefined;
  readonly program: Program;
}

/** The card is the member's own, also where its state begins with another prompt (RFC 0011). */
function cardOf({ key, member, prompt, program }: CardSource): CardData {
  const name = prompt?.name || key;
  const description = member?.description || prompt?.description || name;
  return card({
    id: key,
    name,
    description,
    version: prompt?.version || program.version,
    tags: member?.tags ?? [],
    inputModes: modes(member?.inputModes),
    outputModes: modes(member?.outputModes),
  });
}

function packAgent(program: Program): readonly AgentOfPack[] {
  const { id, workflow, prompts, version } = program;
  const keys = Object.keys(prompts);
  if (workflow === null && keys.length !== 1) return [];
  const first = workflow === null ? keys[0] : own(workflow.states, workflow.entry)?.promptTask;
  const prompt = own(prompts, first ?? "");
  const name = program.name || id;
  const description = program.description || prompt?.description || name;
  const data = { name, description, version, tags: [], inputModes: modes([]), outputModes: modes([]) };
  return [{ key: id, isDefault: true, start: {}, card: card({ ...data, id: first ?? id }) }];
}

function card(skill: SkillData & { readonly version: string }): CardData {
  const { version, ...rest } = skill;
  const { name, description, inputModes, outputModes } = rest;
  return {
    name,
    description,
    version,
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: [rest],
  };
}

const modes = (given: readonly string[] | undefined): readonly string[] =>
  given === undefined || given.length === 0 ? ["text/plain"] : given;

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
