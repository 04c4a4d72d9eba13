// The agents that are served: those of every registered pack, under the pack's id. A pack that is registered
// again under its id takes over; tasks of the one before go on with theirs.

import type { Program } from "../../core/program.ts";
import { type AgentOfPack, agentCards } from "../../pack/agent-cards.ts";
import { goodPack } from "../opened-pack.ts";
import { Problem } from "../problem.ts";
import type { KeptPack, SideFile } from "../side-file.ts";

export interface ServedAgent extends AgentOfPack {
  /** `pack/agent`: who a task belongs to. */
  readonly address: string;
  readonly path: string;
  readonly pack: KeptPack;
  readonly program: Program;
}

interface OpenedAgents {
  readonly program: Program;
  readonly agents: readonly AgentOfPack[];
}

/** Packs kept open; opening one again costs some milliseconds. */
const OPENED_MAX = 100;

export class AgentDirectory {
  readonly #opened = new Map<string, OpenedAgents>();

  find(side: SideFile, { pack, agent }: { readonly pack: string; readonly agent: string }): ServedAgent {
    const kept = side.sql("SELECT * FROM pack WHERE id = ? ORDER BY rowid DESC LIMIT 1").get(pack);
    const found = kept && this.#agents(kept as unknown as KeptPack).find(({ key }) => key === agent);
    if (found !== undefined) return found;
    throw new Problem("not-found", `there is no agent \`${`${pack}/${agent}`.slice(0, 200)}\``);
  }

  /** Of the pack that was registered last. */
  standing(side: SideFile): ServedAgent {
    const packs = side.sql("SELECT * FROM pack ORDER BY rowid DESC").all() as unknown as readonly KeptPack[];
    for (const pack of packs) {
      const found = this.#agents(pack).find(({ isDefault }) => isDefault);
      if (found !== undefined) return found;
    }
    throw new Problem("not-found", "no pack with an agent is registered here (see packloop serve)");
  }

  #agents(pack: KeptPack): readonly ServedAgent[] {
    const { program, agents } = this.#open(pack);
    return agents.map((agent) => ({
      ...agent,
      ...{ pack, program, address: `${pack.id}/${agent.key}` },
      path: `/a2a/${encodeURIComponent(pack.id)}/${encodeURIComponent(agent.key)}`,
    }));
  }

  #open({ digest, source, file }: KeptPack): OpenedAgents {
    const known = this.#opened.get(digest);
    if (known !== undefined) return known;
    const { program } = goodPack(source, file);
    const opened = { program, agents: agentCards(program) };
    if (this.#opened.size >= OPENED_MAX) this.#opened.delete(this.#opened.keys().next().value ?? "");
    this.#opened.set(digest, opened);
    return opened;
  }
}
