// Destructive commands say what will go and ask; where nobody can answer they refuse without --yes.

import { createInterface } from "node:readline/promises";
import { ExitError, exits, usageError } from "../exit.ts";
import { mayAsk } from "./may-ask.ts";

export async function confirm(what: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!mayAsk()) throw usageError(`${what}; nothing was removed (give --yes to do it)`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${what}; go on? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new ExitError("nothing was removed", exits.findings);
  } finally {
    lines.close();
  }
}
