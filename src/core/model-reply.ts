// What a model gives back. Anybody may write a port for a model, so what comes from one is looked at: a run
// must not wait for ever for an answer that it could not take.

import { isObject, type Json } from "../base/json.ts";
import type { Outcome } from "./facts.ts";

const FIGURES = ["inputTokens", "outputTokens", "costUsd"] as const;

export function isModelReply(value: Json): boolean {
  if (!isObject(value) || typeof value["text"] !== "string" || !Array.isArray(value["calls"])) return false;
  const { usage } = value;
  const called = (value["calls"] as readonly Json[]).every(
    (call) => isObject(call) && typeof call["id"] === "string" && typeof call["tool"] === "string",
  );
  return called && isObject(usage) && FIGURES.every((name) => isAmount(usage[name]));
}

const isAmount = (figure: Json | undefined): boolean => Number.isFinite(figure) && (figure as number) >= 0;

/** The call was made and may have cost something, so it is not made again. */
export const replyOutcome = (reply: unknown): Outcome =>
  isModelReply(reply as Json)
    ? { ok: true, value: reply as Json }
    : { ok: false, code: "bad_reply", message };

const message = `the model's answer is none: it needs text, calls with id and tool, and usage with ${FIGURES.join(", ")}`;
