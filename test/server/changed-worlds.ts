// Worlds of runs in which a test does something between the engine and the model or the tools.

import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { RunWorlds } from "../../src/host/run-worlds.ts";
import { type ServeOptions, temporaryFolder } from "./served.ts";

export function changedWorlds(change: (ports: RunPorts) => RunPorts): ServeOptions {
  const folder = temporaryFolder();
  const worlds = new RunWorlds({
    clock: systemClock(),
    env: () => undefined,
    storePath: folder,
    warn: () => undefined,
  });
  const portsOf = worlds.portsOf.bind(worlds);
  worlds.portsOf = async (store, id) => change(await portsOf(store, id));
  return { folder, worlds };
}
