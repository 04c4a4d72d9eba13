// Runs synchronous work that patterns and expressions from outside could make endless. V8 ends it from
// another thread, also in the middle of a regular expression.

import { type Context, createContext, Script } from "node:vm";
import { errorCode, ToolProblem } from "./tool-problem.ts";

const script = new Script("work()");
/** Made once: making one takes longer than most of what runs in it. Holds the work only while it runs. */
const surroundings: { work: (() => void) | undefined } = { work: undefined };
let context: Context | undefined;

/** The work's result; past the limit a problem that says what took too long. */
export function withinTime<T>(
  { ms, what }: { readonly ms: number; readonly what: string },
  work: () => T,
): T {
  let result: { readonly value: T } | undefined;
  surroundings.work = () => {
    result = { value: work() };
  };
  context ??= createContext(surroundings);
  try {
    script.runInContext(context, { timeout: ms });
  } catch (error) {
    if (errorCode(error) !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new ToolProblem("too_slow", `${what} takes more than ${ms} ms (make it simpler)`, { cause: error });
  } finally {
    surroundings.work = undefined;
  }
  return (result as { readonly value: T }).value;
}
