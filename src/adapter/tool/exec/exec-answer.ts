// What a command printed, as an answer: `{"ok": …}`, `{"error": {code, message, retry?}}`, `{"deferred":
// true, …}`, or any other JSON, which is the result itself.

import { get, isObject, type Json, type JsonObject } from "../../../base/json.ts";
import { Fault, type Later, type ToolAnswer } from "../../../engine/ports.ts";
import type { ProgramEnd } from "../../../process/run-program.ts";
import { toolError } from "../bound-tool.ts";

/** How much of what a command says about its failure a model is shown. */
const STDERR_SHOWN = 2000;

export function execAnswer(
  end: ProgramEnd,
  { timeoutMs, stdoutMax }: { timeoutMs: number; stdoutMax: number },
): ToolAnswer {
  switch (end.kind) {
    case "not-started":
      return toolError("no_program", `the command cannot be started (${end.reason})`);
    case "timeout":
      // Not a fault: it may have done half of its work, and doing it again is the caller's decision.
      return toolError(
        "timeout",
        `the command took more than ${timeoutMs / 1000} s and was ended${told(end.stderr)}`,
      );
    case "too-large":
      return toolError("too_large", `the command wrote more than ${stdoutMax} bytes and was ended`);
    case "exited":
      return printed(end.stdout.toString("utf8"), end);
  }
}

function printed(stdout: string, { code, stderr }: { code: number | null; stderr: string }): ToolAnswer {
  const value = parsed(stdout);
  if (code !== 0) {
    if (isObject(value) && isAlone(value, "error")) return failure(value);
    const how = code === null ? "was ended by a signal" : `ended with code ${code}`;
    return toolError("exec_failed", `the command ${how}${told(stderr)}`);
  }
  if (value === undefined)
    return toolError("bad_output", `the command printed something that is not JSON${told(stdout)}`);
  if (isObject(value) && isAlone(value, "ok")) return { ok: true, value: get(value, "ok") ?? null };
  if (isObject(value) && isAlone(value, "error")) return failure(value);
  return isObject(value) && get(value, "deferred") === true ? later(value) : { ok: true, value };
}

/** Nothing printed is an answer without a value. */
function parsed(text: string): Json | undefined {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isAlone = (value: JsonObject, key: string): boolean =>
  Object.hasOwn(value, key) && Object.keys(value).length === 1;

function failure(value: JsonObject): ToolAnswer {
  const error = get(value, "error") ?? null;
  const code = get(error, "code");
  const name = typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : "exec_failed";
  const words = typeof error === "string" ? error : get(error, "message");
  const message = typeof words === "string" ? words.slice(0, STDERR_SHOWN) : "the command reported an error";
  if (get(error, "retry") === true) throw new Fault(name, message, { retry: "later" });
  return toolError(name, message);
}

function later(value: JsonObject): Later | ToolAnswer {
  const until = get(value, "until");
  const handle = get(value, "handle");
  const question = get(value, "question");
  if (until !== undefined && typeof until !== "number") {
    return toolError(
      "bad_output",
      "`until` of the command's answer is not a time in milliseconds since 1970",
    );
  }
  return {
    deferred: true,
    ...(until !== undefined && { until }),
    ...(handle !== undefined && { handle }),
    ...(question !== undefined && { question }),
  };
}

function told(text: string): string {
  const words = text.trim();
  if (words === "") return "";
  return `: ${words.length > STDERR_SHOWN ? `…${words.slice(-STDERR_SHOWN)}` : words}`;
}
