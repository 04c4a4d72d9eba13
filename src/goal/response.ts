// The document a plugin prints, made in one place so that it is valid for every host: only known keys with
// exactly their types, absent rather than null, and always a line for people.

import type { JsonObject } from "../base/json.ts";
import type { AgentEvent } from "./tool-request.ts";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
}

export type TurnEnd =
  | {
      readonly status: "ok";
      readonly result: string;
      readonly events: readonly AgentEvent[];
      /** Undefined: nothing has changed. */
      readonly stateUpdates: JsonObject | undefined;
      readonly logs: readonly LogLine[];
    }
  | {
      readonly status: "error";
      /** Stable; the message behind it is for people. */
      readonly code: string;
      readonly message: string;
      readonly retry: boolean;
      readonly logs: readonly LogLine[];
    };

const RESULT_MAX = 200;
const LOGS_MAX = 50;
const LOG_MAX = 500;

export function responseOf(end: TurnEnd): JsonObject {
  const logs = end.logs
    .slice(0, LOGS_MAX)
    .map(({ level, message }) => ({ level, message: line(message, LOG_MAX) }));
  if (end.status === "error") {
    const error = line(`${end.code}: ${end.message}`, LOG_MAX);
    const told = { level: "error", message: error };
    return {
      status: "error",
      result: line(error, RESULT_MAX),
      error,
      retry: end.retry,
      logs: [...logs, told],
    };
  }
  return {
    status: "ok",
    result: line(end.result, RESULT_MAX),
    ...(end.events.length > 0 && { events: end.events.map((event) => ({ ...event })) }),
    ...(end.stateUpdates !== undefined && { state_updates: end.stateUpdates }),
    ...(logs.length > 0 && { logs }),
  };
}

/** One line, never blank, and no half of a character at its end. */
const line = (text: string, most: number): string =>
  [...text.replace(/\s+/g, " ").trim()].slice(0, most).join("") || "ok";
