// The model of the agent: a provider, loaded only when it is asked, or a script, which answers without a
// network inside a real gateway. Whatever keeps an answer from coming is an outage, told and not thrown.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import type { ModelReply } from "../core/facts.ts";
import type { ModelRequest } from "../core/request.ts";
import type { CallContext } from "../engine/ports.ts";
import type { GoalPrompt } from "../goal/goal-prompt.ts";
import type { ModelChoice } from "../goal/loop-config.ts";

export interface ModelQuestion {
  readonly prompt: GoalPrompt;
  readonly schema: JsonObject;
  readonly runId: string;
  /** Turns of the run before this one. */
  readonly turn: number;
  /** Calls in this turn before this one. */
  readonly repairs: number;
  /** How long an answer may take; a script needs no time. */
  readonly timeMs: number;
}

export type ModelAnswer =
  | { readonly kind: "answer"; readonly value: Json | undefined; readonly nextTurn: number }
  | Outage;

interface Outage {
  readonly kind: "unavailable";
  readonly message: string;
  /** Where a script goes on; without it the turn is asked for again. */
  readonly nextTurn?: number;
}

export type LoopModel = (question: ModelQuestion) => Promise<ModelAnswer>;

const unavailable = (message: string): Outage => ({ kind: "unavailable", message });

export function loopModel(choice: ModelChoice, cwd: string): LoopModel {
  switch (choice.kind) {
    case "none":
      return async () => unavailable("no model is configured (set `model`)");
    case "scripted":
      return async (question) => scriptedAnswer(resolve(cwd, choice.script), question);
    case "provider":
      return (question) => providerAnswer(choice, question);
  }
}

function scriptedAnswer(file: string, { turn, repairs }: ModelQuestion): ModelAnswer {
  const turns = turnsIn(file);
  if (typeof turns === "string") return unavailable(turns);
  const entry = turns[turn];
  if (entry === undefined) return unavailable(`the script has no answer for turn ${turn}`);
  // A list holds the answers of one turn, for the repairs it asks for; the last one repeats.
  const said: Json | undefined = Array.isArray(entry) ? entry[Math.min(repairs, entry.length - 1)] : entry;
  // An entry that is a fault is used up by it; one that is missing is waited for.
  if (get(said, "fault") !== undefined)
    return { ...unavailable("the script says that the model is out of reach"), nextTurn: turn + 1 };
  const raw = get(said, "raw");
  return { kind: "answer", value: typeof raw === "string" ? jsonIn(raw) : said, nextTurn: turn + 1 };
}

function turnsIn(file: string): readonly Json[] | string {
  try {
    const turns = get(JSON.parse(readFileSync(file, "utf8")) as Json, "turns");
    return Array.isArray(turns) ? turns : "the script has no list `turns`";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof SyntaxError) return "the script is not JSON";
    if (code !== undefined) return `the script cannot be read (${code})`;
    throw error;
  }
}

async function providerAnswer(
  choice: Extract<ModelChoice, { kind: "provider" }>,
  question: ModelQuestion,
): Promise<ModelAnswer> {
  const { setting, outputTokensMax } = choice;
  const { runId, turn, timeMs } = question;
  if (timeMs <= 0) return unavailable("no time is left for the model in this job");
  const context: CallContext = {
    run: runId,
    step: turn + 1,
    key: `${runId}/${turn}`,
    attempt: 1,
    signal: AbortSignal.timeout(timeMs),
    state: "turn",
    prompt: "turn",
    nth: turn,
  };
  try {
    const asked = { setting, request: requestOf(question, outputTokensMax), context };
    const reply = await (await import("./ask-provider.ts")).askProvider(asked);
    if (typeof reply === "string") return unavailable(reply);
    return { kind: "answer", value: valueOf(reply), nextTurn: turn + 1 };
  } catch (error) {
    // Faults, aborted calls, and whatever a provider's library throws: all of it means no answer.
    return unavailable(error instanceof Error ? error.message : String(error));
  }
}

const ANSWER = "answer";

function requestOf({ prompt, schema }: ModelQuestion, outputTokensMax: number | undefined): ModelRequest {
  return {
    provider: "default",
    system: prompt.system,
    messages: [{ role: "user", text: prompt.user }],
    tools: [
      { name: ANSWER, kind: "host", description: "Gives the answer of this turn.", parameters: schema },
    ],
    toolChoice: "required",
    parameters: outputTokensMax === undefined ? {} : { max_tokens: outputTokensMax },
  };
}

function valueOf({ calls, text }: ModelReply): Json | undefined {
  const call = calls.find(({ tool }) => tool === ANSWER);
  return call === undefined ? jsonIn(text) : call.args;
}

/** Some models put it between fences, whatever they are told. */
function jsonIn(text: string): Json | undefined {
  const bare = text
    .trim()
    .replace(/^```(?:json)?\s*/, "")
    .replace(/\s*```$/, "");
  try {
    const value = JSON.parse(bare) as Json;
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
