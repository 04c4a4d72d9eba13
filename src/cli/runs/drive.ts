// Drives one run until it ends or waits, shows it, and gives the exit code: shared by every command that
// does.

import { isoTime } from "../../base/iso-time.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import { type Summary, summaryOf } from "../../core/summary.ts";
import type { Engine } from "../../engine/engine.ts";
import { exits } from "../exit.ts";
import { note, write } from "../output.ts";
import { lineProgress } from "./progress.ts";

/** How long running tools may finish after Ctrl-C. */
const GRACE_MS = 10_000;

export interface Show {
  readonly onTurn: (id: string, row: TurnRow, run: Run) => void;
  readonly end: (summary: Summary, run: Run) => void;
}

/** NDJSON on stdout, or lines for people on stderr with the result on stdout. */
export function showOf(json: boolean): Show {
  if (json) {
    return {
      onTurn: (id, row) =>
        write(`${JSON.stringify({ run: id, turn: row.turn, at: isoTime(row.at), facts: row.facts })}\n`),
      end: (summary) => write(`${JSON.stringify(summary)}\n`),
    };
  }
  const progress = lineProgress(note);
  return {
    onTurn: (_id, row, run) => progress.turn(row, run),
    end: (summary, run) => {
      progress.end(run);
      write(resultText(summary));
    },
  };
}

export async function drive(engine: Engine, id: string, show: Show): Promise<number> {
  let pausing: Promise<void> | undefined;
  const stop = () => {
    if (pausing !== undefined) process.exit(exits.interrupted);
    pausing = engine.pause(GRACE_MS).catch((error: unknown) => note(`error: ${String(error)}`));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  try {
    let run = await engine.settled(id);
    if (pausing !== undefined) {
      // Tools may still be finishing, and each of them adds a turn.
      await pausing;
      run = (await engine.load(id)) ?? run;
    }
    const summary = await summaryFor(engine, id, run);
    if (pausing !== undefined && run.final === null) {
      note(`paused at turn ${run.turn}; continue with: packloop resume ${id}`);
      return exits.interrupted;
    }
    show.end(summary, run);
    return exitOf(summary);
  } finally {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, stop);
  }
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

export function resultText(summary: Summary): string {
  const { run, status, reason, state } = summary;
  const out = [
    `${run} ${status}${reasonText(summary)}${status === "waiting" ? ` in ${state ?? "its prompt"}` : ""}`,
  ];
  if (summary.output !== null && summary.output.text !== "") out.push("", summary.output.text);
  for (const wait of summary.waiting_for) out.push(...waitText(run, wait));
  if (reason?.message !== undefined) out.push(`  ${reason.message}`);
  out.push("", `  packloop trace ${run}      the way it took`);
  return `${out.join("\n")}\n`;
}

function reasonText({ reason }: Summary): string {
  if (reason === null) return "";
  const limit = reason.limit === undefined ? reason.code : `${reason.limit} ${reason.value ?? ""}`.trim();
  return ` (${limit}${reason.state === undefined ? "" : ` in ${reason.state}`})`;
}

export function waitText(run: string, wait: Summary["waiting_for"][number]): readonly string[] {
  switch (wait.kind) {
    case "event":
      return (wait.events ?? []).map((event) => `  packloop send ${run} ${event} --by NAME`);
    case "message":
      return [`  packloop say ${run} "…"`];
    case "approval":
      return [
        `  ${wait.tool ?? "a tool"} wants ${JSON.stringify(wait.args)} (SHA-256 ${wait.sha256 ?? ""})`,
        `  packloop approve ${run} ${wait.step}      packloop reject ${run} ${wait.step} --reason "…"`,
      ];
    default:
      return [
        `  step ${wait.step}: ${wait.tool ?? "a call"} ${wait.kind === "in_doubt" ? "may or may not have happened" : "is answered from outside"}`,
        `  packloop answer ${run} ${wait.step} --result JSON | --error TEXT | --retry | --abort`,
      ];
  }
}
