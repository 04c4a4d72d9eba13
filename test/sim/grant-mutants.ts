// Bugs planted where runs spend for each other; each must be noticed by packs whose agents do (S13, S43).

import type { Mutant } from "./mutants.ts";

export const grantMutants: readonly Mutant[] = [
  {
    name: "what is granted to agents is not kept for them",
    file: "core/grant.ts",
    from: "if (used[key] + next + (isPromised ? granted(run, key) : 0) > max)",
    to: "if (used[key] + next > max)",
  },
  {
    name: "what is granted to an agent is granted to the next one, too",
    file: "core/grant.ts",
    from: "return (limit - used[key] - expected - granted(run, key)) / among;",
    to: "return (limit - used[key] - expected) / among;",
  },
  {
    name: "an agent that is being stopped holds nothing any more",
    file: "core/grant.ts",
    from: 'ask?.kind === "agent" || ask?.kind === "stop" ? ask.grant : undefined;',
    to: 'ask?.kind === "agent" ? ask.grant : undefined;',
  },
  {
    name: "the model calls that are under way take no tokens from a grant",
    file: "core/grant.ts",
    from: 'const expected = key === "modelCalls" ? 0 : calls * run.lastUsage[key];',
    to: "const expected = 0 * calls;",
  },
  {
    name: "a question that does not fit beside agents ends the run",
    file: "core/turn.ts",
    from: "if (unfit?.isPromised === false) return",
    to: "if (unfit !== undefined) return",
  },
  {
    name: "a question that waits for agents is forgotten",
    file: "core/decision.ts",
    from: "  turn.askStalled();\n",
    to: "",
  },
  {
    name: "what a stopped agent has spent is forgotten",
    file: "core/apply.ts",
    from: "  if (fact.spent !== undefined)\n    draft.usedByAgents",
    to: '  if (fact.spent !== undefined && ask.kind === "agent")\n    draft.usedByAgents',
  },
  {
    name: "an agent that is given up is stopped without what it was granted",
    file: "core/turn.ts",
    from: '{ kind: "stop", child: step, ...(grant !== undefined && { grant }) }',
    to: '{ kind: "stop", child: step, ...(grant === null && { grant }) }',
  },
  {
    name: "an agent is started with all that its caller has",
    file: "engine/agents.ts",
    from: "const { input, create } = await this.#started(call, grant);",
    to: "const { input, create } = await this.#started(call, {});",
  },
  {
    name: "an agent does not say what it came to",
    file: "engine/agents.ts",
    from: "outcome, spent: treeUse(run) });",
    to: "outcome, spent: run.used });",
  },
  {
    name: "an agent says what it came to before its own agents have",
    file: "engine/dispatcher.ts",
    from: ' || (kind === "reply" && isStopping(run))',
    to: "",
  },
  {
    name: "a caller that stops an agent never hears what it came to",
    file: "core/stopped.ts",
    from: "return stop === undefined ? input :",
    to: "return stop === undefined || run.final === null ? input :",
  },
  {
    name: "a fork waits for what agents of its origin bring back",
    file: "core/fork.ts",
    from: "  if (run.stalled === undefined) return",
    to: "  if (run.stalled === undefined || run.final === null) return",
  },
];
