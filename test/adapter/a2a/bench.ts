// What the tests of remote agents share: surroundings, bindings as packloop.yaml has them, and calls that are
// followed to their end as a dispatcher would.

import { type BoundAgent, bindAgent } from "../../../src/adapter/a2a/bind-agent.ts";
import { RemoteAgents, type RemoteAgentsOptions } from "../../../src/adapter/a2a/remote-agents.ts";
import type { Surroundings } from "../../../src/adapter/tool/bound-tool.ts";
import { OptionReader } from "../../../src/adapter/tool/option-reader.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import type { CallContext, Later, ToolAnswer } from "../../../src/engine/ports.ts";
import { root } from "../../tidy/source-files.ts";

export interface Bench {
  readonly agents: RemoteAgents;
  readonly warnings: string[];
  readonly env: Map<string, string>;
  /** The time, moved by hand. */
  now: number;
  bind(options: JsonObject, safe?: boolean): BoundAgent;
}

export const NOW = 1_000_000;

export function bench(options: RemoteAgentsOptions = {}): Bench {
  const warnings: string[] = [];
  const env = new Map<string, string>();
  const agents = new RemoteAgents({ ...options, warn: (line) => warnings.push(line) });
  const around: Surroundings = {
    folder: root,
    workspaceOf: () => Promise.reject(new Error("no workspace is needed")),
    env: (name) => env.get(name),
    clock: { now: () => made.now, sleep: () => Promise.resolve() },
  };
  const made: Bench = {
    agents,
    warnings,
    env,
    now: NOW,
    bind(binding, safe = false) {
      const reader = new OptionReader(binding, []);
      const bound = bindAgent(reader, around, { name: "clerk", agents, safe });
      reader.end();
      if (reader.problems.length > 0) throw new Error(JSON.stringify(reader.problems));
      return bound;
    },
  };
  return made;
}

export const context = (over: Partial<CallContext> = {}): CallContext => ({
  run: "r_1",
  step: 3,
  key: "r_1/3",
  attempt: 1,
  signal: new AbortController().signal,
  state: "work",
  prompt: "work",
  nth: 0,
  ...over,
});

export interface Step extends Partial<CallContext> {
  readonly safe?: boolean;
  readonly now?: number;
  readonly args?: Json;
  readonly options?: JsonObject;
}

/** One step of a call by a process that knows only what is in the journal. */
export async function step(url: string, over: Step = {}): Promise<ToolAnswer> {
  const on = bench();
  on.now = over.now ?? NOW;
  const { tool } = on.bind({ agent: url, ...over.options }, over.safe);
  return await tool.call(over.args ?? { query: "write" }, context(over));
}

export const goOn = (answer: ToolAnswer, over: Step = {}): Step => ({
  handle: laterOf(answer).handle ?? null,
  ...over,
});

/** Called again until it is over or asks somebody; at most so many times. */
export async function followed(url: string, over: Step = {}): Promise<ToolAnswer> {
  let answer = await step(url, over);
  for (let calls = 0; calls < 20 && "deferred" in answer && answer.question === undefined; calls++) {
    const { input: _input, ...rest } = over;
    answer = await step(url, goOn(answer, { ...rest, handle: answer.handle ?? null }));
  }
  return answer;
}

export function laterOf(answer: ToolAnswer): Later {
  if ("deferred" in answer) return answer;
  throw new Error(`it is over: ${JSON.stringify(answer)}`);
}
