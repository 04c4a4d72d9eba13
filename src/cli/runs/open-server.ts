// What every server of runs is made of, whichever way it is spoken to: the store with what is kept beside it,
// and a log.

import { type DestinationStream, type Logger, pino } from "pino";
import type { Program } from "../../core/program.ts";
import type { Store } from "../../engine/ports.ts";
import { besideOf } from "../../host/pack-beside.ts";
import type { RunWorlds } from "../../host/run-worlds.ts";
import { SideFile } from "../../server/side-file.ts";
import { freeSideFile } from "../../server/side-place.ts";
import { loadProgram } from "../load-pack.ts";
import { noteRaw } from "../output.ts";
import { localStorePath, openStore } from "./open-store.ts";
import { makeFolders } from "./store-path.ts";

export interface LoadedPack {
  readonly file: string;
  readonly digest: string;
  readonly text: string;
  readonly program: Program;
}

/** Before anything is opened: a pack with errors stops the server. */
export const loadPacks = (files: readonly string[]): Promise<readonly LoadedPack[]> =>
  Promise.all(files.map(async (file) => ({ file, ...(await loadProgram(file)) })));

export async function openBeside(
  path: string | undefined,
  packs: readonly LoadedPack[],
  at: number,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<{ readonly store: Store; readonly side: SideFile }> {
  const store = await openStore({ store: path, readOnly, ...(!readOnly && { create: true }) });
  const side = readOnly ? new SideFile(":memory:") : await sideFile(store, localStorePath(path));
  for (const { file, digest, text: source, program } of packs) {
    const beside = besideOf(program);
    side.putPack({
      ...{ digest, id: program.id, version: program.version, file, source, at },
      beside: beside === undefined ? null : JSON.stringify(beside),
    });
  }
  return { store, side };
}

/** The store is let go of where the server cannot begin. */
async function sideFile(store: Store, beside: string): Promise<SideFile> {
  try {
    // Beside a database there may be nothing yet.
    makeFolders(beside);
    const path = `${beside}-server`;
    return store.shared === undefined ? new SideFile(path) : freeSideFile(path);
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
}

/** On standard error, one JSON object a line, and no secret in any. */
export function serverLog(level: string, { redaction }: RunWorlds): Logger {
  const destination: DestinationStream = { write: (line) => noteRaw(redaction.text(line)) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}
