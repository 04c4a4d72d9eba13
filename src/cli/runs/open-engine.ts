// The engine as the command line composes it: a store, the system's clock, and for each run the model and
// tools it was started with.

import type { Script } from "../../adapter/script/read-script.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { Engine } from "../../engine/engine.ts";
import type { Delta, Store } from "../../engine/ports.ts";
import { type SlotLimits, Slots } from "../../engine/slots.ts";
import { systemClock } from "../../engine/system-clock.ts";
import type { RunSettings } from "../../host/run-settings.ts";
import { RunWorlds } from "../../host/run-worlds.ts";
import { note, outliveReader } from "../output.ts";
import { localStorePath } from "./open-store.ts";
import type { CommandTelemetry } from "./telemetry.ts";

export interface OpenEngineOptions {
  readonly store: Store;
  readonly worlds: RunWorlds;
  /** People in the script answer; off for commands that only put something in. */
  readonly people: boolean;
  /** Takes inputs but performs nothing: what they open is left to whoever resumes the run. */
  readonly idle?: boolean;
  readonly onTurn?: (id: string, row: TurnRow, run: Run) => void;
  readonly onDelta?: (delta: Delta) => void;
  readonly telemetry?: CommandTelemetry;
  /** Where the store is shared: runs of others that are taken up, and calls of a kind at the same time. */
  readonly takes?: number;
  readonly slots?: SlotLimits;
  readonly onFailed?: (id: string, error: unknown) => void;
}

interface OpenWorldsOptions {
  readonly store: string | undefined;
  /** Wins over what a run remembers; as do the settings that `adjust` gives. */
  readonly script?: Script | undefined;
  readonly adjust?: (remembered: RunSettings) => RunSettings;
}

/** What runs work with. */
export function openWorlds({ store, script, adjust }: OpenWorldsOptions): RunWorlds {
  return new RunWorlds({
    clock: systemClock(),
    env: (name) => process.env[name],
    storePath: localStorePath(store),
    warn: (line) => note(`warning: ${line}`),
    ...(script !== undefined && { script }),
    ...(adjust !== undefined && { adjust }),
  });
}

export function openEngine(options: OpenEngineOptions): Engine {
  const { store, worlds, people, idle, onTurn, onDelta, telemetry, takes, slots, onFailed } = options;
  if (idle !== true) outliveReader();
  return new Engine({
    store,
    clock: systemClock(),
    idle: idle === true,
    redaction: worlds.redaction,
    observer: telemetry?.observer(worlds.redaction),
    closing: worlds,
    portsOf: (id) => worlds.portsOf(store, id),
    takes,
    slots: slots && new Slots(slots),
    ...(onFailed !== undefined && { onFailed }),
    ...(onTurn !== undefined && { onTurn }),
    ...(onDelta !== undefined && { onDelta }),
    ...(people && { peopleOf: (id: string, run: Run) => worlds.peopleOf(store, id, run) }),
  });
}
