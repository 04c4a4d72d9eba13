// Drives one run until it ends, waits or is stopped, shows it, and gives the exit code: shared by every
// command that does.

import { type Command, Option } from "commander";
import { refusalText } from "../../core/refusal-text.ts";
import type { Run } from "../../core/run.ts";
import { type Summary, summaryOf } from "../../core/summary.ts";
import type { Engine } from "../../engine/engine.ts";
import { exits } from "../exit.ts";
import { type ColorChoice, note, noteText } from "../output.ts";
import { type AgentRun, agentsOf } from "./agents-of.ts";
import { duration } from "./duration.ts";
import { mayAsk } from "./may-ask.ts";
import { offerChoice } from "./offer-choice.ts";
import type { Show } from "./show.ts";
import { visitSince } from "./visit-since.ts";

export interface DriveFlags {
  /** Milliseconds. */
  readonly grace: number;
  readonly color?: ColorChoice;
  readonly json?: true;
  readonly stream?: true;
}

export function withDriveFlags(command: Command): Command {
  return command
    .option("--stream", "show the model's text as it comes")
    .option("--grace <time>", "how long tools may finish after Ctrl-C", duration, duration("10s"))
    .addOption(new Option("--color <when>", "colour the live view").choices(["auto", "always", "never"]));
}

/** To be called once the run is there and before it is driven on: `before` is how it was left. */
export async function beginShow(
  engine: Engine,
  show: Show,
  { id, before, title }: { readonly id: string; readonly before: Run; readonly title?: string },
): Promise<void> {
  const run = (await engine.load(id)) ?? before;
  const program = await engine.program(run.digest);
  const since = await visitSince(engine.store, id, before);
  show.begin({ id, program, run, before, since, ...(title !== undefined && { title }) });
}

export async function drive(
  engine: Engine,
  id: string,
  { show, flags }: { readonly show: Show; readonly flags: DriveFlags },
): Promise<number> {
  using stop = stopOnSignals(engine, show, flags.grace);
  try {
    for (;;) {
      const run = await engine.settled(id);
      if (stop.signal() !== undefined) return await leave(engine, id, { run, show, stop });
      const summary = await summaryFor(engine, id, run);
      if (!(await askPerson(engine, summary, { run, show, stop, json: flags.json === true }))) {
        if (stop.signal() !== undefined) continue;
        show.end(summary, run, await waitingAgents(engine, summary));
        return exitOf(summary);
      }
    }
  } finally {
    show.close();
  }
}

interface Stop extends Disposable {
  signal(): NodeJS.Signals | undefined;
  /** Aborted by the first signal. */
  readonly abort: AbortSignal;
  /** Resolves when what was under way is recorded or left. */
  settled(): Promise<void>;
}

/** The first signal pauses within the grace; the second leaves at once, which is as safe as a kill. */
function stopOnSignals(engine: Engine, show: Show, graceMs: number): Stop {
  const abort = new AbortController();
  let first: NodeJS.Signals | undefined;
  let pausing: Promise<void> = Promise.resolve();
  const stop = (signal: NodeJS.Signals) => {
    if (first !== undefined) process.exit(exitOfSignal(signal));
    first = signal;
    abort.abort();
    pausing = engine.pause(graceMs).catch((error: unknown) => {
      show.rest();
      note(`error: ${error instanceof Error ? error.message : String(error)}`);
    });
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, stop);
  return {
    signal: () => first,
    abort: abort.signal,
    settled: () => pausing,
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, stop);
    },
  };
}

/** The terminal that hangs up acts like Ctrl-C. */
const exitOfSignal = (signal: NodeJS.Signals | undefined): number =>
  signal === "SIGTERM" ? exits.terminated : exits.interrupted;

async function leave(
  engine: Engine,
  id: string,
  { run: seen, show, stop }: { readonly run: Run; readonly show: Show; readonly stop: Stop },
): Promise<number> {
  // Tools may still be finishing, and each of them adds a turn.
  await stop.settled();
  const run = (await engine.load(id)) ?? seen;
  const summary = await summaryFor(engine, id, run);
  if (run.final !== null) {
    show.end(summary, run);
    return exitOf(summary);
  }
  show.paused(summary, run);
  note(`paused at turn ${run.turn}; continue with: packloop resume ${id}`);
  return exitOfSignal(stop.signal());
}

/** True when a person was there and something may have moved the run since. */
async function askPerson(
  engine: Engine,
  summary: Summary,
  { run, show, stop, json }: { run: Run; show: Show; stop: Stop; json: boolean },
): Promise<boolean> {
  if (json || run.final !== null || !mayAsk()) return false;
  const asking = await whoAsks(engine, { summary, run });
  show.rest();
  // Its time may run out while the question stands.
  const moved = new AbortController();
  show.nextTurn().then(
    () => moved.abort(),
    () => undefined,
  );
  const program = await engine.program(run.digest);
  const input = await offerChoice({ ...asking, program }, AbortSignal.any([stop.abort, moved.signal]));
  if (moved.signal.aborted) return true;
  if (input === undefined) return false;
  const submitted = await engine.submit(asking.summary.run, input);
  if (submitted.kind === "refused") noteText(refusalText(submitted.refusal));
  return true;
}

interface Asking {
  readonly summary: Summary;
  readonly run: Run;
}

/** The run itself, or the agent below it that it waits for and that asks somebody. */
async function whoAsks(engine: Engine, asking: Asking): Promise<Asking> {
  const { waiting_for: waits } = asking.summary;
  const agent = waits.every((wait) => wait.run !== undefined) ? waits[0]?.run : undefined;
  const run = agent === undefined ? undefined : await engine.load(agent);
  if (agent === undefined || run === undefined) return asking;
  return whoAsks(engine, { run, summary: await summaryFor(engine, agent, run) });
}

/** Who is to be answered before the run goes on. */
async function waitingAgents(engine: Engine, summary: Summary): Promise<readonly AgentRun[]> {
  if (summary.status !== "waiting") return [];
  return (await agentsOf(engine.store, summary)).filter(({ status }) => status === "waiting");
}

export async function summaryFor(engine: Engine, id: string, run: Run): Promise<Summary> {
  const program = await engine.program(run.digest);
  return summaryOf(id, { id: program.id, version: program.version, digest: run.digest }, run);
}

export function exitOf({ status }: Summary): number {
  const codes: Readonly<Record<Summary["status"], number>> = {
    completed: exits.ok,
    failed: exits.findings,
    waiting: exits.waiting,
    running: exits.waiting,
    budget_exhausted: exits.budgetExhausted,
    cancelled: exits.cancelled,
  };
  return codes[status];
}
