// Ports that also write down what they answer.

import type { Json, JsonObject } from "../../base/json.ts";
import { requestText } from "../../core/request.ts";
import { type CallContext, Fault, type Later, type ModelPort, type ToolPort } from "../../engine/ports.ts";
import { askedHash, stepOf } from "./asked-hash.ts";
import { addToCassette, type CassetteEntry, pathShown, reopenCassette } from "./cassette-file.ts";

interface Ports {
  readonly model: ModelPort;
  readonly tools: ToolPort;
}

export interface RecordingOptions {
  /** Takes secrets out; nothing is written without it. */
  readonly clean: <T>(value: T) => T;
  readonly warn: (line: string) => void;
}

/**
 * What is answered counts, not what is written of it: where the file cannot be written any more the run goes
 * on, and somebody is told.
 */
export function recording(ports: Ports, file: string, { clean, warn }: RecordingOptions): Ports {
  const stopped = (why: string) =>
    warn(`\`${pathShown(file)}\` is not recorded to any more: ${why} (the run goes on)`);
  const broken = reopenCassette(file);
  if (broken !== undefined) {
    stopped(broken);
    return ports;
  }
  let isOpen = true;
  const keep = (entry: CassetteEntry) => {
    const { asked, answer, fault } = entry;
    const why = isOpen
      ? addToCassette(file, {
          ...entry,
          asked: clean(asked),
          ...(answer !== undefined && { answer: clean(answer) }),
          ...(fault !== undefined && { fault: clean(fault) }),
        })
      : undefined;
    if (why === undefined) return;
    isOpen = false;
    stopped(why);
  };
  const heard = async <T>(entry: Omit<CassetteEntry, "answer">, { signal }: CallContext, call: Call<T>) => {
    try {
      const answer = await call();
      if (!signal.aborted && !wakesItself(answer)) keep({ ...entry, answer: answer as Json });
      return answer;
    } catch (error) {
      if (!signal.aborted) keep({ ...entry, fault: faultOf(error) });
      throw error;
    }
  };
  return {
    model: {
      call(request, context) {
        const asked = JSON.parse(requestText(request)) as JsonObject;
        const entry = entryFor("model", asked, context);
        return heard(entry, context, () => ports.model.call(request, context));
      },
    },
    tools: {
      knows: (tool) => ports.tools.knows(tool),
      isSafe: (tool) => ports.tools.isSafe(tool),
      call(tool, args, context) {
        const entry = entryFor("tool", { tool, args }, context);
        return heard(entry, context, () => ports.tools.call(tool, args, context));
      },
      stop: async (tool, context) => ports.tools.stop?.(tool, context),
    },
  };
}

type Call<T> = () => Promise<T>;

/** A tool that only put itself off is recorded once it has answered; one that waits for somebody, at once. */
function wakesItself(answer: unknown): boolean {
  const { until, question } = answer as Partial<Later>;
  return until !== undefined && question === undefined;
}

function entryFor(
  kind: CassetteEntry["kind"],
  asked: JsonObject,
  context: CallContext,
): Omit<CassetteEntry, "answer"> {
  const { nth, state } = context;
  return { kind, step: stepOf(context), nth, state, hash: askedHash(asked), asked };
}

/** As the dispatcher takes it: what is no fault is the tool's own error. */
function faultOf(error: unknown): NonNullable<CassetteEntry["fault"]> {
  if (error instanceof Fault) return { code: error.code, message: error.message, retry: error.retry };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "tool_error", message, retry: "never" };
}
