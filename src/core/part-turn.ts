// What follows from an answer in a part of a composition: rounds of an agent, the end of a part, another
// attempt. Each part hears only what belongs to it.

import type { Json } from "../base/json.ts";
import { dispatch, overCalls, result, setArtifact, sortCalls } from "./calls.ts";
import { advance, failPart, settlePart } from "./compose.ts";
import type { PartSpec, PromptWork } from "./composition.ts";
import type { CallAsk, ModelAsk, ModelReply, Outcome, ToolCall } from "./facts.ts";
import { guardsFired } from "./guard.ts";
import { partOf } from "./part-fold.ts";
import { offersTools, partCallSite, partPrompt, partSpec } from "./part-site.ts";
import { SET_ARTIFACT, TRANSITION } from "./reserved.ts";
import type { Message, PartRun } from "./run.ts";
import type { Turn } from "./turn.ts";

/** A model has answered in a part. */
export function partModelAnswered(
  turn: Turn,
  ask: ModelAsk & { readonly part: string },
  { step, outcome }: { readonly step: number; readonly outcome: Outcome },
): void {
  const part = partSpec(turn.program, turn.run, ask.part);
  if (part.kind !== "prompt" && part.kind !== "agent") return;
  if (outcome.ok) replied(turn, part, { step, ask, reply: outcome.value as unknown as ModelReply });
  else failPart(turn, part, { code: outcome.code, message: errorText(outcome) }, {});
  if (turn.run.final === null) advance(turn);
}

const errorText = ({ code, message }: { readonly code: string; readonly message: string }): string =>
  `${code}: ${message}`;

interface Replied {
  readonly step: number;
  readonly ask: ModelAsk;
  readonly reply: ModelReply;
}

function replied(turn: Turn, part: PartSpec & PromptWork, { step, ask, reply }: Replied): void {
  const prompt = partPrompt(turn.program, part);
  const text = guardedText(turn, part, reply);
  const site = partCallSite(turn.program, turn.run, part.id, ask.tools);
  const { accepted, refused } = sortCalls(turn, site, reply.calls);
  if (overCalls(turn, accepted.length)) return;
  for (const { call, message } of refused) tell(turn, part, call, message);
  for (const call of reply.calls) {
    if (call.tool === TRANSITION) tell(turn, part, call, "there is no transition from here");
    if (call.tool !== SET_ARTIFACT) continue;
    if (offersTools(prompt)) setArtifact(turn, call, { step, part: part.id });
    else tell(turn, part, call, `\`${SET_ARTIFACT}\` cannot be called here`);
  }
  dispatch(turn, accepted, part.id);
  if (accepted.length > 0) return;
  if (reply.calls.length > 0 && ask.tools) return callsAnswered(turn, part);
  return settlePart(turn, part, text);
}

const tell = (turn: Turn, { id }: PartSpec, call: ToolCall, told: Json): void =>
  result(turn, call, { told, error: true, part: id });

function guardedText(turn: Turn, part: PartSpec & PromptWork, reply: ModelReply): string {
  const prompt = partPrompt(turn.program, part);
  const concluding = reply.calls.length === 0;
  if (prompt.validators.length === 0 || (reply.text.trim() === "" && !concluding)) return reply.text;
  const fired = guardsFired(prompt, reply.text, { direction: "output", concluding });
  for (const note of fired) turn.record({ ...note, part: part.id });
  return fired.at(-1)?.text ?? reply.text;
}

/** S16: rounds of tools, then one call without them. */
function nextRound(turn: Turn, part: PartSpec & PromptWork): void {
  const { roundsMax } = partPrompt(turn.program, part);
  const round = partOf(turn.run.composing, part.id)?.round ?? 0;
  turn.askModel(round < roundsMax, part.id);
}

/** A call of a part was answered, or rejected by a person. */
export function partCallAnswered(
  turn: Turn,
  ask: Pick<CallAsk, "tool"> & { readonly part: string },
  outcome: Outcome,
): void {
  const part = partSpec(turn.program, turn.run, ask.part);
  if (part.kind === "tool") {
    if (outcome.ok) settlePart(turn, part, outcome.value);
    else {
      // What a person has refused is not asked of them again.
      const again = outcome.code === "rejected" ? undefined : {};
      failPart(turn, part, { code: outcome.code, message: errorText(outcome) }, again);
    }
  } else if (part.kind === "agent" && !hasOpenCalls(turn, part.id)) callsAnswered(turn, part);
  if (turn.run.final === null) advance(turn);
}

const hasOpenCalls = (turn: Turn, id: string): boolean =>
  Object.values(turn.run.open).some(({ ask }) => {
    return (ask.kind === "tool" || ask.kind === "agent" || ask.kind === "approval") && ask.part === id;
  });

/** The last answer of an agent's model had calls, and all of them are answered. */
function callsAnswered(turn: Turn, part: PartSpec & PromptWork): void {
  const run = partOf(turn.run.composing, part.id);
  const ended = run === undefined || part.endsWith === null ? undefined : goodCall(run, part.endsWith);
  if (run === undefined || ended === undefined) return nextRound(turn, part);
  // What the model said with its last call; where it said nothing, what the tool gave.
  const silent = typeof run.said !== "string" || run.said.trim() === "";
  return settlePart(turn, part, silent ? ended.value : run.said);
}

/** A call of the tool in the last answer that went well. */
function goodCall({ messages }: PartRun, tool: string): Extract<Message, { role: "result" }> | undefined {
  const from = messages.findLastIndex(({ role }) => role === "assistant");
  const said = messages[from];
  if (said?.role !== "assistant") return undefined;
  const ids = new Set(said.calls.filter((call) => call.tool === tool).map(({ id }) => id));
  return messages.slice(from + 1).find((message): message is Extract<Message, { role: "result" }> => {
    return message.role === "result" && ids.has(message.call) && !message.error;
  });
}
