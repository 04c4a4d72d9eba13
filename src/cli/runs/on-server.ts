// Commands on a store that a server holds: what they say goes to the server, and what they show is what the
// server does. Reads go to the store itself, which takes readers beside its writer.

import type { JsonObject } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import type { Limits, Mode, TurnRow } from "../../core/facts.ts";
import type { Input } from "../../core/input.ts";
import { isAtWork, type Run } from "../../core/run.ts";
import type { Store } from "../../engine/ports.ts";
import type { PackBeside } from "../../host/pack-beside.ts";
import { BUDGETS } from "../../host/run-settings.ts";
import { knownRecord, runAt, storedProgram } from "../../host/stored-runs.ts";
import { exits, usageError } from "../exit.ts";
import { note, write, writeText } from "../output.ts";
import { exitOf } from "./drive.ts";
import { openWorlds } from "./open-engine.ts";
import { openStore } from "./open-store.ts";
import { resultText } from "./result-text.ts";
import { findRun } from "./run-id.ts";
import { type Answered, runPath, type ServerClient } from "./server-client.ts";
import type { Show } from "./show.ts";
import { visitSince } from "./visit-since.ts";

/** One input as the request that carries it. */
export function sayOnServer(server: ServerClient, run: string, input: Input): Promise<Answered> {
  const path = runPath(run);
  switch (input.type) {
    case "event": {
      const { name, by, context, artifacts, dedupeKey } = input;
      return server.post(`${path}/events`, sparse({ name, by, context, artifacts, dedupe_key: dedupeKey }));
    }
    case "message":
      return server.post(`${path}/messages`, { text: input.text, by: input.by });
    case "approve": {
      const { step, by, sha256, edit, comment } = input;
      const decision = edit === undefined ? "approve" : "edit";
      return server.post(
        `${path}/approvals/${step}`,
        sparse({ decision, by, sha256, value: edit, reason: comment }),
      );
    }
    case "reject": {
      const { step, by, reason, sha256 } = input;
      return server.post(`${path}/approvals/${step}`, sparse({ decision: "reject", by, reason, sha256 }));
    }
    case "answer": {
      const { step, by, outcome } = input;
      const body = outcome.ok ? { result: outcome.value } : { error: outcome.message };
      return server.post(`${path}/answers/${step}`, sparse({ ...body, by }));
    }
    case "retry":
    case "abort":
      return server.post(`${path}/answers/${input.step}`, { [input.type]: true, by: input.by });
    case "cancel":
      return server.post(`${path}/cancel`, { reason: input.reason, by: input.by });
    case "pause":
      return server.post(`${path}/pause`, sparse({ reason: input.reason, by: input.by }));
    case "unpause":
      return server.post(`${path}/unpause`, { by: input.by });
    default:
      throw usageError(`a server takes no ${input.type} from outside`);
  }
}

const sparse = (body: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as JsonObject;

export interface ServerStart {
  readonly pack: string;
  readonly file: string;
  readonly mode?: Mode;
  /** What the text of the pack lacks. */
  readonly beside: PackBeside | undefined;
  readonly variables: JsonObject;
  readonly input: string;
  readonly prompt: string | undefined;
  readonly agent: string | undefined;
  readonly limits: Partial<Limits>;
  readonly script: JsonObject | undefined;
  readonly key: string | undefined;
  /** Of `packloop goal`: how many actions it may take. */
  readonly goalSteps?: number;
}

export function startOnServer(server: ServerClient, start: ServerStart): Promise<Answered> {
  const { pack, file, beside, mode, variables, input, prompt, agent, limits, script, key, goalSteps } = start;
  const budgets = Object.entries(BUDGETS).flatMap(([name, limit]) => {
    const value = limits[limit] ?? null;
    return value === null ? [] : [[name, limit === "wallMs" ? value / 1000 : value]];
  });
  const given = { pack, file, beside, mode, variables, input, prompt, agent, script };
  const goal = goalSteps === undefined ? undefined : { max_steps: goalSteps };
  const body = sparse({ ...given, goal, budgets: Object.fromEntries(budgets) });
  return server.post("/api/runs", body, key === undefined ? {} : { "idempotency-key": key });
}

interface Followed {
  readonly store: Store;
  readonly id: string;
  /** As it was shown last. */
  readonly before: Run;
  readonly show: Show;
  readonly title?: string;
}

/** Shows the run until it ends or waits for somebody. Ctrl-C only lets go of it. */
export async function followOnServer(server: ServerClient, followed: Followed): Promise<number> {
  const { store, id, before, show, title } = followed;
  const record = await store.record(id);
  const now = await runAt(store, id, record?.turn ?? 1);
  const program = await storedProgram(store, now.digest);
  const since = await visitSince(store, id, before.started ? before : now);
  show.begin({ id, program, run: now, before, since, ...(title !== undefined && { title }) });
  using detach = onSignals();
  try {
    const onTurn = (row: TurnRow, run: Run) => show.onTurn(id, row, run);
    const run = await untilSettled(server, { store, id, before, onTurn }, detach.signal);
    if (detach.signal.aborted) {
      show.rest();
      note(`detached; the server at ${server.url} goes on with ${id}`);
      return exits.interrupted;
    }
    const summary = await server.summary(id);
    show.end(summary, run);
    return exitOf(summary);
  } finally {
    show.close();
  }
}

interface Watched extends Pick<Followed, "store" | "id" | "before"> {
  readonly onTurn: (row: TurnRow, run: Run) => void;
}

/** Tells of turns until the run has ended, waits for somebody outside, or the signal is given. */
export async function untilSettled(
  server: ServerClient,
  watched: Watched,
  signal: AbortSignal,
): Promise<Run> {
  const { store, id, before, onTurn } = watched;
  await using worlds = openWorlds({ store: undefined });
  const isSettled = async (run: Run): Promise<boolean> => {
    if (!run.started) return false;
    if (run.final !== null) return true;
    if (run.held !== undefined) return true;
    // A script's people answer by themselves.
    return !isAtWork(run) && (await worlds.peopleOf(store, id, run)) === undefined;
  };
  let run = before;
  const last = (await store.record(id))?.turn ?? 0;
  if (run.turn >= last && (await isSettled(run))) return run;
  for await (const row of server.turns(id, run.turn, signal)) {
    run = applyTurn(run, row);
    onTurn(row, run);
    if (run.turn >= last && (await isSettled(run))) break;
  }
  return run;
}

function onSignals(): Disposable & { readonly signal: AbortSignal } {
  const abort = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const stop = () => abort.abort();
  for (const signal of signals) process.on(signal, stop);
  return {
    signal: abort.signal,
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, stop);
    },
  };
}

/** As `putIn` does it, but the server commits and goes on. */
export async function putOnServer(
  server: ServerClient,
  { run: given, store: path, follow, json, show }: PutRequest,
  input: Input,
): Promise<number> {
  await using store = await openStore({ store: path, readOnly: true });
  const { run: id, turn } = await findRun(store, given);
  if (turn !== undefined) throw usageError(`\`${given}\` names a turn (expected a whole run: \`${id}\`)`);
  const { turn: last } = await knownRecord(store, id);
  const before = await runAt(store, id, last);
  const { ignored, ignored_because: why, ...summary } = await sayOnServer(server, id, input);
  if (ignored === true) note(`ignored: ${why ?? ""}`);
  // Awaited here: the store is closed when this function is left.
  if (follow) return await followOnServer(server, { store, id, before, show });
  if (json) write(`${JSON.stringify(summary)}\n`);
  else writeText(resultText(summary));
  const goesOn = summary.status === "running" || summary.status === "waiting";
  return ignored === true || goesOn ? exits.ok : exitOf(summary);
}

interface PutRequest {
  readonly run: string;
  readonly store: string | undefined;
  readonly follow: boolean;
  readonly json: boolean;
  readonly show: Show;
}
