// The engine as the command line composes it: a store, the system's clock, and for each run the model and
// tools it was started with.

import { readScript, type Script } from "../../adapter/script/read-script.ts";
import { noTools, scriptedEvent, scriptedModel, scriptedTools } from "../../adapter/script/scripted.ts";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { Engine } from "../../engine/engine.ts";
import { Fault, type ModelPort, type Store } from "../../engine/ports.ts";
import { systemClock } from "../../engine/system-clock.ts";

export interface OpenEngineOptions {
  readonly store: Store;
  /** Wins over what a run remembers. */
  readonly script?: Script;
  /** People in the script answer; off for commands that only put something in. */
  readonly people: boolean;
  /** Takes inputs but performs nothing: what they open is left to whoever resumes the run. */
  readonly idle?: boolean;
  readonly onTurn?: (id: string, row: TurnRow, run: Run) => void;
}

export function openEngine({ store, script, people, idle, onTurn }: OpenEngineOptions): Engine {
  const clock = systemClock();
  const scripts = new Map<string, Script | undefined>();
  const scriptOf = async (id: string): Promise<Script | undefined> => {
    if (script !== undefined) return script;
    if (!scripts.has(id)) scripts.set(id, rememberedScript((await store.record(id))?.setup ?? {}));
    return scripts.get(id);
  };
  return new Engine({
    store,
    clock,
    idle: idle === true,
    ...(onTurn !== undefined && { onTurn }),
    portsOf: async (id) => {
      const own = await scriptOf(id);
      if (own === undefined) return { model: noModel, tools: noTools };
      return { model: scriptedModel(own, clock), tools: scriptedTools(own, clock, noTools) };
    },
    ...(people && {
      peopleOf: async (id: string, run: Run) => {
        const own = await scriptOf(id);
        const waits = Object.values(run.open).some(({ ask }) => ask.kind === "event");
        return own === undefined || !waits ? undefined : scriptedEvent(own, run, clock.now());
      },
    }),
  });
}

function rememberedScript(setup: JsonObject): Script | undefined {
  const remembered: Json | undefined = setup["script"];
  return isObject(remembered) ? readScript(remembered).script : undefined;
}

const noModel: ModelPort = {
  call: () => {
    const message = "no model is bound to this run (give --script FILE)";
    return Promise.reject(new Fault("no_model", message, { retry: "never" }));
  },
};
