// Starts a run for somebody who asked for it over HTTP, in whichever protocol: the pack is found, a key that
// is known gives the run it started, and everything that stands against the start is a problem.

import { createHash } from "node:crypto";
import { must } from "../base/assert.ts";
import type { JsonObject } from "../base/json.ts";
import type { Limits, Mode } from "../core/facts.ts";
import type { Run } from "../core/run.ts";
import type { RunRecord } from "../engine/ports.ts";
import { newRunId } from "../engine/run-id.ts";
import { BUDGETS } from "../host/run-settings.ts";
import { type StartedRun, startRun } from "../host/start-run.ts";
import { knownRecord, runAt } from "../host/stored-runs.ts";
import { keyReused } from "./idempotent-replies.ts";
import { agentStart, chosenPack, type PackChoice } from "./opened-pack.ts";
import { Problem, refusalProblem } from "./problem.ts";
import { type Principal, speaker } from "./scope.ts";
import type { ServerParts } from "./server-parts.ts";

export interface RunWish extends PackChoice {
  readonly variables?: JsonObject | undefined;
  readonly input?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly prompt?: string | undefined;
  readonly agent?: string | undefined;
  /** By the names packs have for them. */
  readonly budgets?: Readonly<Record<string, number | undefined>> | undefined;
  readonly script?: JsonObject | undefined;
  /** What a new run is called; made here unless given. */
  readonly id?: string | undefined;
  /** The same key of the same principal never starts a second run. */
  readonly key?: string | undefined;
  /** Tells a repetition of the request from another one with the same key. */
  readonly requestHash: string;
  /** Kept with the run: what the protocol has to find again. */
  readonly setup?: JsonObject;
}

export interface BegunRun {
  readonly record: RunRecord;
  readonly run: Run;
  /** It was there already, by its key. */
  readonly found: boolean;
}

export async function beginRun(parts: ServerParts, principal: Principal, wish: RunWish): Promise<BegunRun> {
  const { store, clock } = parts;
  const key = storedKey(principal, wish.key);
  const known = wish.key === undefined ? undefined : await runOfKey(parts, principal, wish.key);
  if (known !== undefined) return foundRun(parts, wish, known);
  const chosen = await chosenPack(parts, wish);
  const at = wish.agent === undefined ? { prompt: wish.prompt } : agentStart(chosen.program, wish.agent);
  const id = wish.id ?? newRunId(clock.now());
  const started = await startRun(parts.engine, parts.worlds, {
    ...{ id, key, ...at },
    program: chosen.program,
    digest: chosen.digest,
    source: chosen.source,
    settings: parts.settings,
    mode: wish.mode ?? "autonomous",
    variables: wish.variables ?? {},
    input: wish.input ?? "",
    limits: limitsOf(wish.budgets ?? {}),
    script: wish.script,
    setup: {
      ...wish.setup,
      file: chosen.file,
      request: wish.requestHash,
      by: speaker(principal, undefined),
    },
    now: clock.now(),
    warn: (line) => parts.log.warn({ run: id }, line),
  });
  // Somebody else was quicker with the same key.
  if (started.kind === "missing" && started.code === "key-taken" && wish.key !== undefined)
    return foundRun(
      parts,
      wish,
      must(await runOfKey(parts, principal, wish.key), "a key that is taken has a run"),
    );
  const run = startedOr(started);
  return { record: await knownRecord(store, id), run, found: false };
}

/** The run that this principal started with the key. */
export const runOfKey = async (
  { store }: ServerParts,
  principal: Principal,
  key: string,
): Promise<string | undefined> => store.find(storedKey(principal, key) ?? key);

/** Keys of different tokens never meet; without a token it is the key of the command line as well. */
function storedKey({ name }: Principal, key: string | undefined): string | undefined {
  if (key === undefined || name === null) return key;
  return `token ${createHash("sha256").update(name).digest("hex").slice(0, 16)} ${key}`;
}

async function foundRun({ store }: ServerParts, wish: RunWish, id: string): Promise<BegunRun> {
  const record = await knownRecord(store, id);
  const { request } = record.setup;
  if (request !== undefined && request !== wish.requestHash) throw keyReused(wish.key ?? "");
  return { record, run: await runAt(store, id, record.turn), found: true };
}

function startedOr(started: StartedRun): Run {
  switch (started.kind) {
    case "refused":
      throw refusalProblem(started.refusal);
    case "bad-script": {
      const errors = started.problems.map(({ path, message }) => ({
        pointer: `/script${path.map((part) => `/${part}`).join("")}`,
        message,
      }));
      throw new Problem("script-invalid", errors[0]?.message ?? "the script is wrong", {
        extras: { errors },
      });
    }
    case "missing":
      throw new Problem("cannot-start", started.message, { extras: { cause: started.code } });
    case "done":
      return started.run;
  }
}

function limitsOf(budgets: Readonly<Record<string, number | undefined>>): Partial<Limits> {
  const limits: Partial<Record<keyof Limits, number>> = {};
  for (const [name, key] of Object.entries(BUDGETS)) {
    const limit = budgets[name];
    if (limit !== undefined) limits[key] = key === "wallMs" ? limit * 1000 : limit;
  }
  return limits;
}
