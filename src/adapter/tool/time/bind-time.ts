// The built-in tool `time`: what time it is, and sleeping that survives the end of the process. Nothing waits
// in here: the run holds a timer, and the call is made again when it is due.

import { isoTime } from "../../../base/iso-time.ts";
import { get, type Json, type JsonObject } from "../../../base/json.ts";
import type { CallContext, Later } from "../../../engine/ports.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader, type CallArguments } from "../call-arguments.ts";
import { operationOption } from "../operation-option.ts";
import type { OptionReader } from "../option-reader.ts";
import { answerOf, ToolProblem } from "../tool-problem.ts";
import { durationMs, YEAR_MS } from "./duration.ts";

export function bindTime(reader: OptionReader, around: Surroundings): BoundTool {
  const op = operationOption(reader, ["now", "sleep"]);
  const fixed = op === "sleep" ? reader.any("seconds") : undefined;
  if (fixed !== undefined && durationMs(fixed) === undefined)
    reader.wrong("seconds", "`seconds` is a number, or a text such as 15m");
  const argumentsOf = argumentReader(reader, op === "sleep" ? SLEEP : {});
  return {
    tier: "read",
    safe: true,
    definition: op === "sleep" ? SLEEP_DEFINITION : NOW_DEFINITION,
    call: (args, context) =>
      answerOf(async () => {
        const now = around.clock.now();
        if (op === "now") return { iso: isoTime(now), unix_sec: Math.floor(now / 1000) };
        return sleep(argumentsOf(args), { context, now, fixed });
      }),
  };
}

interface SleepCall {
  readonly context: CallContext;
  readonly now: number;
  readonly fixed: Json | undefined;
}

function sleep(args: CallArguments, { context, now, fixed }: SleepCall): Json | Later {
  const [since, until] = [get(context.handle, "since"), get(context.handle, "until")];
  const start = typeof since === "number" ? since : now;
  const end = typeof until === "number" ? until : wakeTime(args, now, fixed);
  if (now >= end) return { slept_sec: Math.round((now - start) / 1000) };
  return { deferred: true, until: end, handle: { since: start, until: end } };
}

function wakeTime(args: CallArguments, now: number, fixed: Json | undefined): number {
  const until = args.text("until");
  const length = args.any("seconds") ?? fixed;
  const at = until === undefined ? now + lengthOf(length) : instantOf(until);
  if (at - now > YEAR_MS) throw new ToolProblem("too_large", "a sleep takes at most one year");
  return at;
}

function lengthOf(value: Json | undefined): number {
  if (value === undefined) throw new ToolProblem("bad_arguments", "`seconds` or `until` is missing");
  const ms = durationMs(value);
  if (ms === undefined)
    throw new ToolProblem("bad_arguments", "`seconds` is not a number of seconds, or a text such as 15m");
  return ms;
}

/** With a zone, always: a time without one is another moment on every machine. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/i;

function instantOf(text: string): number {
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new ToolProblem(
      "bad_arguments",
      "`until` is not a time with its zone, such as 2030-01-31T12:00:00Z",
    );
  return ms;
}

const SLEEP = {
  seconds: ["duration", "sec", "secs", "delay", "for", "duration_sec", "duration_seconds"],
  until: ["at", "time", "wake_at", "when"],
};

const NOW_DEFINITION = { description: "Tells the time.", parameters: { type: "object", properties: {} } };

const SLEEP_DEFINITION: { readonly description: string; readonly parameters: JsonObject } = {
  description: "Waits for some time, or until a time.",
  parameters: {
    type: "object",
    properties: {
      seconds: { type: "number", minimum: 0, description: "how long" },
      until: { type: "string", description: "or until when, such as 2030-01-31T12:00:00Z" },
    },
  },
};
