// What a sender deserves to hear, by the books: the guards of S26–S31, S46, S49 and S50 written a second
// time.

import { isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import type { ApprovalAsk } from "../../src/core/facts.ts";
import type { AnswerInput, EventInput, Input } from "../../src/core/input.ts";
import type { Program, StateSpec } from "../../src/core/program.ts";
import type { Books } from "./books.ts";

/** `facts`, `ignored`, or the code of a refusal. */
export function expectedReply(books: Books, program: Program, input: Input): string {
  if (input.type === "start") return books.started === null ? "facts" : "ignored";
  if (books.started === null) return "unknown-run";
  switch (input.type) {
    case "answer":
      return answerReply(books, input);
    case "event":
      return eventReply(books, program, input);
    case "message":
      if (books.final !== null) return "run-finished";
      return isListening(books) && !books.openCalls ? "facts" : "not-waiting";
    case "approve": {
      const ask = books.open.get(input.step)?.ask;
      if (ask?.kind === "approval" && input.sha256 !== undefined && input.sha256 !== ask.sha256)
        return "hash-mismatch";
      if (ask?.kind === "approval" && !mayCall(books, program, ask, input.edit ?? ask.args))
        return "bad-arguments";
      return stepReply(books, input.step, ask?.kind === "approval");
    }
    case "reject":
      return stepReply(books, input.step, books.open.get(input.step)?.ask.kind === "approval");
    case "retry":
    case "abort":
      return stepReply(books, input.step, (books.open.get(input.step)?.hold ?? null) !== null);
    case "sent":
    case "hold": {
      const open = books.open.get(input.step);
      const isCall = open?.ask.kind === "tool" || open?.ask.kind === "agent";
      const mayLeave = open?.sent !== true && books.heldBy === undefined && open?.looks !== true;
      const isFree = open?.hold === null && (input.type === "hold" || mayLeave);
      return isCall && isFree ? "facts" : "ignored";
    }
    case "resume": {
      const open = books.open.get(input.step);
      return open?.ask.kind === "agent" && open.hold === "deferred" ? "facts" : "ignored";
    }
    case "pause":
      return books.final === null && books.heldBy === undefined ? "facts" : "ignored";
    case "unpause":
      return books.final === null && books.heldBy !== undefined ? "facts" : "ignored";
    case "cancel":
    case "fail":
      return books.final === null ? "facts" : "ignored";
  }
}

function answerReply(books: Books, input: AnswerInput): string {
  const open = books.open.get(input.step);
  if (open === undefined && isOfStopped(books, input)) return "facts";
  if (open === undefined) return closedReply(books, input.step);
  const { ask, hold, asked } = open;
  if (ask.kind === "event" || ask.kind === "message" || ask.kind === "approval")
    return "pending-tool-mismatch";
  if ((ask.kind === "reply" || ask.kind === "stop") && input.by !== undefined) return "pending-tool-mismatch";
  if (ask.kind === "stop" && ask.grant !== undefined && input.spent === undefined)
    return "pending-tool-mismatch";
  const tool = ask.kind === "tool" || ask.kind === "agent" ? ask.tool : undefined;
  if (input.tool !== undefined && input.tool !== tool) return "pending-tool-mismatch";
  const { outcome } = input;
  if (ask.kind === "model" && outcome.ok && !isObject(outcome.value)) return "pending-tool-mismatch";
  if (ask.kind === "model" && outcome.ok && !Object.hasOwn(outcome.value as object, "usage"))
    return "pending-tool-mismatch";
  const isPerson = input.by !== undefined && input.by !== "fork";
  if (hold === null && asked && isPerson) return "ignored";
  return ask.kind === "timer" && input.at < ask.due ? "ignored" : "facts";
}

/** An agent that is being stopped has ended, and says what it came to. */
const isOfStopped = (books: Books, { step, spent, tool }: AnswerInput): boolean =>
  spent !== undefined &&
  tool === undefined &&
  books.openOf("stop").some(([, { ask }]) => ask.kind === "stop" && ask.child === String(step));

/** S48, for tools whose schema says at most that `q` is a text. */
function mayCall(books: Books, program: Program, { tool, part }: ApprovalAsk, args: Json): boolean {
  if (!offered(program, books, part).includes(tool)) return false;
  const { properties } = program.tools[tool]?.parameters ?? {};
  const q = isObject(args) ? args["q"] : undefined;
  const isTyped = isObject(properties) && Object.hasOwn(properties, "q");
  return !isTyped || q === undefined || typeof q === "string";
}

/** The tools of the present prompt, or what a step of a composition lists for itself. */
export function offered(program: Program, books: Where, part: string | undefined): readonly string[] {
  if (part === undefined) return program.prompts[books.prompt]?.tools ?? [];
  const { composition } = stateOf(books, program) ?? {};
  const steps = stepsIn(program.compositions[composition ?? ""]?.["steps"]);
  const step = steps.find((one) => one["id"] === part);
  if (typeof step?.["tool"] === "string") return [step["tool"]];
  if (Array.isArray(step?.["tools"])) return step["tools"] as readonly string[];
  return program.prompts[String(step?.["prompt_task"])]?.tools ?? [];
}

type Where = Pick<Books, "prompt" | "state">;

/** Those inside parallel steps included. */
export function stepsIn(list: Json | undefined): readonly JsonObject[] {
  const steps = Array.isArray(list) ? (list as readonly JsonObject[]) : [];
  return steps.flatMap((step) => [step, ...stepsIn(step["branches"])]);
}

function stepReply(books: Books, step: number, fits: boolean): string {
  if (!books.open.has(step)) return closedReply(books, step);
  return fits ? "facts" : "pending-tool-mismatch";
}

const closedReply = (books: Books, step: number): string =>
  books.final === null && step > books.step ? "step-mismatch" : "ignored";

function eventReply(books: Books, program: Program, input: EventInput): string {
  if (input.dedupeKey !== undefined && books.dedupe.has(input.dedupeKey)) return "ignored";
  if (books.final !== null) return "run-finished";
  const state = stateOf(books, program);
  if (state === undefined || !Object.hasOwn(state.events, input.name)) return "event-not-allowed";
  if (state.orchestration !== "hybrid" && !isListening(books)) return "not-waiting";
  return Object.entries(input.artifacts ?? {}).every(([name, value]) =>
    isWritable(program, state, name, value),
  )
    ? "facts"
    : "bad-artifact";
}

const isListening = (books: Books): boolean =>
  books.final === null && !books.hasWork && books.openOf("event", "message").length > 0;

function isWritable(program: Program, state: StateSpec, name: string, value: unknown): boolean {
  const shared = program.workflow?.artifacts ?? {};
  const spec = Object.hasOwn(state.artifacts, name)
    ? state.artifacts[name]
    : Object.hasOwn(shared, name)
      ? shared[name]
      : undefined;
  if (spec === undefined) return false;
  if (JSON.stringify(value).length > 65_536) return false;
  if (spec.type !== "application/json" || typeof value !== "string") return true;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

export const stateOf = (books: Pick<Books, "state">, program: Program): StateSpec | undefined =>
  books.state === null ? undefined : program.workflow?.states[books.state];
