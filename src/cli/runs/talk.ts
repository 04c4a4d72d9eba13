// A conversation line by line, with a run of this process or of a server.

import { createInterface } from "node:readline";
import type { Input } from "../../core/input.ts";
import type { Run } from "../../core/run.ts";
import type { Summary } from "../../core/summary.ts";
import { exits } from "../exit.ts";
import { note } from "../output.ts";
import { chatInput } from "./chat-lines.ts";
import { exitOf } from "./drive.ts";

/** Whoever drives the run that is talked with. */
export interface TalkPartner {
  /** Resolves when the run has ended, waits for somebody, or is let go of. */
  settled(): Promise<Run>;
  /** How the run stands when it has heard it; `run` when it may not hear it now. */
  say(input: Input, run: Run): Promise<Run>;
  letGo(): void;
  summary(run: Run): Promise<Summary>;
}

/** Until the run ends, the lines end, or Ctrl-C. */
export async function talk(partner: TalkPartner, id: string, by: string): Promise<number> {
  const reader = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  // Taken before anything is waited for: lines that come early are kept for it.
  const lines = reader[Symbol.asyncIterator]();
  const interrupt = new AbortController();
  const stop = () => {
    interrupt.abort();
    reader.close();
    partner.letGo();
  };
  process.once("SIGINT", stop);
  try {
    let run = await partner.settled();
    while (run.final === null && !interrupt.signal.aborted) {
      if (process.stdin.isTTY) process.stderr.write("> ");
      const line = await lines.next();
      if (line.done === true || line.value.trim() === "/quit") break;
      const input = chatInput(line.value, run, { at: Date.now(), by });
      if (typeof input === "string") note(input);
      else if (input !== undefined) run = await partner.say(input, run);
    }
    if (interrupt.signal.aborted && run.final === null) return hint(id, exits.interrupted);
    return ended(id, run, exitOf(await partner.summary(run)));
  } finally {
    process.off("SIGINT", stop);
    reader.close();
  }
}

function ended(id: string, run: Run, code: number): number {
  if (run.final === null) return hint(id, code);
  note(`${id} ${run.final}${run.reason === null ? "" : ` (${run.reason.message ?? run.reason.code})`}`);
  return code;
}

function hint(id: string, code: number): number {
  note(`the conversation waits; go on with: packloop chat --resume ${id}`);
  return code;
}
