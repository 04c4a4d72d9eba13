// Processes that ask SQLite for us: one is kept for the next question, and one that takes too long is ended.

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../../base/json.ts";
import { Fault } from "../../../engine/ports.ts";
import { ToolProblem } from "../tool-problem.ts";
import type { SqlAnswer } from "./sql-question.ts";
import type { SqliteRequest } from "./sqlite-reader.ts";

const MEMORY_MB = 256;

export class SqlitePool {
  #idle: ChildProcess | undefined;

  async ask(request: SqliteRequest, signal: AbortSignal): Promise<JsonObject> {
    signal.throwIfAborted();
    const child = this.#idle ?? started();
    this.#idle = undefined;
    let answer: SqlAnswer;
    try {
      answer = await answered(child, request, signal);
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
    this.#keep(child);
    if (answer.ok) return answer.value;
    if (answer.passing === true) throw new Fault(answer.code, answer.message, { retry: "later" });
    throw new ToolProblem(answer.code, answer.message);
  }

  #keep(child: ChildProcess): void {
    // A process that waits for questions holds nobody up: it ends with ours.
    child.unref();
    child.channel?.unref();
    if (this.#idle === undefined && child.connected) this.#idle = child;
    else child.kill("SIGKILL");
  }
}

function started(): ChildProcess {
  const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const file = fileURLToPath(new URL(`./sqlite-process.${ending}`, import.meta.url));
  return fork(file, [], {
    execArgv: [`--max-old-space-size=${MEMORY_MB}`],
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}

function answered(child: ChildProcess, request: SqliteRequest, signal: AbortSignal): Promise<SqlAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<SqlAnswer>();
  const { ms } = request.limits;
  const late = () =>
    reject(
      new ToolProblem("too_slow", `the query takes more than ${ms / 1000} s (select less, or aggregate)`),
    );
  const timer = setTimeout(late, ms);
  const give = () => reject(signal.reason);
  const lost = () => reject(new ToolProblem("sql_error", "the query needs more memory than there is for it"));
  child.ref();
  child.channel?.ref();
  child.once("message", resolve as (message: unknown) => void);
  child.once("exit", lost);
  child.once("error", reject);
  signal.addEventListener("abort", give, { once: true });
  child.send(request);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", give);
    child.off("exit", lost).off("error", reject).off("message", resolve);
  });
}
