// Where a run begins that is started as an agent of its pack: at the member's state, or with the one prompt
// that the member is (S42).

import type { Program } from "./program.ts";

/** As `StartInput` wants it. */
export type AgentStart = { readonly state: string } | { readonly prompt: string };

/** The keys a caller may name: the members, and the entry, which RFC 0007 implies where it is not listed. */
export function agentKeys({ agents }: Program): readonly string[] {
  if (agents === null) return [];
  const members = Object.keys(agents.members);
  return members.includes(agents.entry) ? members : [agents.entry, ...members];
}

/** Nothing for a key that is no agent of the pack. */
export function agentStart(program: Program, key: string): AgentStart | undefined {
  if (!agentKeys(program).includes(key)) return undefined;
  const members = program.agents?.members ?? {};
  const state = Object.hasOwn(members, key) ? (members[key]?.state ?? null) : null;
  return state === null ? { prompt: key } : { state };
}
