// The store: whether it opens, whether its disk is to be trusted, who has it, and whether the clock fits it.

import { existsSync, statSync } from "node:fs";
import { isoTime } from "../../base/iso-time.ts";
import { Fault, type Store } from "../../engine/ports.ts";
import { type Holder, holderOf } from "../../store/sqlite/file-lock.ts";
import { ExitError } from "../exit.ts";
import { openStore } from "../runs/open-store.ts";
import { runningServer } from "../runs/server-client.ts";
import { announcedServer } from "../runs/store-owner.ts";
import { nearestFolder, storePath } from "../runs/store-path.ts";
import { type Checked, fail, ok, sizeText, warn } from "./checked.ts";
import { diskCheck, syncCheck } from "./disk-checks.ts";

/** Of a store that is a file. Where there can be none, nothing else about it is asked. */
export async function* storeChecks(path: string): AsyncGenerator<Checked> {
  let file: string;
  try {
    file = storePath(path);
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    const remedy = "name a file on a disk with --store or PACKLOOP_STORE";
    return yield fail("store", { found: error.message, remedy });
  }
  yield* openedChecks(path, file);
  const folder = nearestFolder(file);
  yield syncCheck(folder);
  yield diskCheck(folder);
  return yield await lockCheck(path, file);
}

async function* openedChecks(path: string, file: string): AsyncGenerator<Checked> {
  if (!existsSync(file)) return yield ok("store", `none yet at \`${path}\` (the first run makes it)`);
  try {
    await using store = await openStore({ store: path, readOnly: true });
    const count = (await store.names({ prefix: "", limit: COUNTED })).length;
    const runs = count === COUNTED ? `${COUNTED} runs or more` : count === 1 ? "1 run" : `${count} runs`;
    const clock = await clockCheck(store);
    yield ok("store", `${runs} in \`${path}\`, ${sizeText(statSync(file).size)}`);
    yield clock;
  } catch (error) {
    if (!(error instanceof ExitError || error instanceof Fault)) throw error;
    yield unusable(error.message);
  }
}

const unusable = (found: string): Checked => {
  const remedy = "see packloop verify --all; go on with an export, or with another store (--store)";
  return fail("store", { found, remedy });
};

const COUNTED = 10_000;
/** Newest runs that are looked at. */
const LOOKED_AT = 1_000;
const APART_MS = 1_000;
const FAR_APART_MS = 60_000;

/** Journals never go back in time: where the clock does, time stands still in them until it has caught up. */
export async function clockCheck(store: Store): Promise<Checked> {
  const now = Date.now();
  const runs = await store.list({ limit: LOOKED_AT });
  if (runs.length === 0) return ok("clock", `${isoTime(now)}, with no turn to compare it with`);
  const newest = Math.max(...runs.map(({ updatedAt }) => updatedAt));
  const behindMs = newest - now;
  if (behindMs <= APART_MS) return ok("clock", `${isoTime(now)}, not before the newest turn`);
  const found = `${isoTime(now)} is ${Math.round(behindMs / 1000)} s before the newest turn (${isoTime(newest)})`;
  const remedy = "set the clock of this machine; until then time stands still in runs";
  return behindMs > FAR_APART_MS ? fail("clock", { found, remedy }) : warn("clock", { found, remedy });
}

async function lockCheck(path: string, file: string): Promise<Checked> {
  let holder: Holder | undefined;
  try {
    holder = holderOf(file);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const remedy = "give yourself the right to read and write the files beside the store";
    return fail("lock", { found: error.message, remedy });
  }
  if (holder === undefined) return ok("lock", "nobody writes to the store");
  const { owner } = holder;
  const who =
    owner === undefined
      ? "another process"
      : `process ${owner.pid} on ${owner.host} (\`${owner.command}\`, since ${owner.since})`;
  const url = announcedServer(path);
  if (url === undefined) {
    const remedy = "wait for it or stop it; commands that write exit 6 meanwhile";
    return warn("lock", { found: `${who} writes to the store`, remedy });
  }
  if ((await runningServer(path)) !== undefined)
    return ok("lock", `the server at ${url} has the store: ${who}; commands go through it`);
  const remedy = owner === undefined ? "stop it, then start it again" : `stop process ${owner.pid}`;
  return fail("lock", { found: `the server at ${url} has the store and does not answer: ${who}`, remedy });
}
