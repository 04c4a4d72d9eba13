// The rules of one visit: what a state does when it is entered, and what follows a model's answer
// (S8, S9, S16–S20, S27, S28).

import { isObject, type Json } from "../base/json.ts";
import { dispatch, overCalls, result, setArtifact, sortCalls } from "./calls.ts";
import { compose, inputFrom } from "./compose.ts";
import type { ApprovalAsk, CallAsk, ModelAsk, ModelReply, Outcome, ToolCall } from "./facts.ts";
import { guardsFired } from "./guard.ts";
import { offeredTools } from "./offered-tools.ts";
import { partCallAnswered, partModelAnswered } from "./part-turn.ts";
import { systemText } from "./request.ts";
import { SET_ARTIFACT, TRANSITION } from "./reserved.ts";
import { isSkillCall, skillAnswer } from "./skills.ts";
import { eventInText } from "./text-event.ts";
import type { Turn } from "./turn.ts";

/** What happens once a state is entered. `yields`: in a conversation, the user speaks first here (S2). */
export function begin(turn: Turn, { yields }: { yields: boolean }): void {
  if (turn.run.final !== null) return;
  const orchestration = turn.state?.orchestration ?? "internal";
  if (orchestration === "external") return beginExternal(turn);
  if (yields && !turn.isTerminal) return turn.ask({ kind: "message" });
  if (orchestration === "composition") return runComposition(turn, visitInput(turn));
  // The task is told anew where the conversation is (S24).
  askWith(turn, turn.state?.persistent === true ? "" : turn.run.input);
  // S28: an outside event is accepted at any time, so the question stays open beside the model's call.
  const asked = Object.values(turn.run.open).some(({ ask }) => ask.kind === "event");
  if (orchestration === "hybrid" && !turn.isTerminal && turn.run.final === null && !asked)
    turn.ask({ kind: "event", allow: turn.events });
  return undefined;
}

function beginExternal(turn: Turn): void {
  if (turn.isTerminal) {
    // S9: whoever takes over reads the prompt.
    turn.record({ type: "noted", what: "handoff", text: systemText(turn.program, turn.run) });
    return turn.finish("completed", null);
  }
  return turn.ask({ kind: "event", allow: turn.events });
}

/**
 * S29: what a transition hands over as JSON; else the run's input, or where there is none its variables.
 */
function visitInput({ run }: Turn): Json {
  const handed = inputFrom(run.context);
  if (typeof handed !== "string") return handed;
  return run.input === "" ? run.variables : inputFrom(run.input);
}

function runComposition(turn: Turn, input: Json): void {
  compose(turn, input);
  afterParts(turn);
}

/** Somebody speaks to a waiting run: to the model of its state, or as the input of its composition. */
export function hear(turn: Turn, text: string): void {
  if (turn.state?.orchestration === "composition") return runComposition(turn, inputFrom(text));
  return askWith(turn, text);
}

export function modelAnsweredInPart(turn: Turn, ask: ModelAsk & InPart, answered: PartAnswer): void {
  partModelAnswered(turn, ask, answered);
  afterParts(turn);
}

interface InPart {
  readonly part: string;
}

interface PartAnswer {
  readonly step: number;
  readonly outcome: Outcome;
}

/** S29: the output names the event, ends the visit of a terminal state, or is waited with. */
function afterParts(turn: Turn): void {
  const { final, composing, mode } = turn.run;
  const output = composing?.output;
  if (final !== null || output === undefined) return;
  if (turn.isTerminal) return turn.finish("completed", null);
  const named = isObject(output) ? output["event"] : output;
  const event = typeof named === "string" ? eventInText(named, turn.events) : undefined;
  const context = isObject(output) ? output["context"] : undefined;
  if (event !== undefined) return follow(turn, event, typeof context === "string" ? context : "");
  if (mode === "conversational") return turn.ask({ kind: "message" });
  return turn.ask({ kind: "event", allow: turn.events });
}

/** S8, S27: neither a terminal nor an external state is moved by its model. */
const mayTransition = (turn: Turn): boolean => !turn.isTerminal && turn.state?.orchestration !== "external";

interface Replied {
  readonly step: number;
  readonly ask: ModelAsk;
  readonly reply: ModelReply;
}

export function modelReplied(turn: Turn, given: Replied): void {
  const replied = { ...given, reply: guardedReply(turn, given.reply) };
  const dispatched = handleCalls(turn, replied);
  if (turn.run.final !== null) return;
  if (!dispatched) afterCalls(turn, replied);
}

/** Before a pack tool is called the text is a remark; what a validator demands is due in the answer. */
function guardedReply(turn: Turn, reply: ModelReply): ModelReply {
  if (turn.prompt.validators.length === 0 || (reply.text.trim() === "" && reply.calls.length > 0))
    return reply;
  const calls = reply.calls.some(({ tool }) => tool !== TRANSITION && tool !== SET_ARTIFACT);
  const fired = guardsFired(turn.prompt, reply.text, { direction: "output", concluding: !calls });
  for (const note of fired) turn.record(note);
  return { ...reply, text: fired.at(-1)?.text ?? reply.text };
}

/** Asks the model, unless a validator refuses what it would be told: then the run answers in its place. */
function askWith(turn: Turn, text: string): void {
  const fired = guardsFired(turn.prompt, text, { direction: "input", concluding: true });
  const blocked = fired.find(({ action }) => action === "blocked");
  if (text === "" || blocked === undefined) return turn.askModel(turn.prompt.roundsMax >= 1);
  turn.record(blocked);
  if (turn.isTerminal) return turn.finish("completed", null);
  if (turn.run.mode === "conversational") return turn.ask({ kind: "message" });
  return turn.ask({ kind: "event", allow: turn.events });
}

/** A call is answered or rejected; in a visit the round goes on when all calls of its response are. */
export function callsAnswered(turn: Turn, ask: CallAsk | ApprovalAsk, outcome: Outcome): void {
  const { tool, part } = ask;
  if (part !== undefined) {
    partCallAnswered(turn, { tool, part }, outcome);
    return afterParts(turn);
  }
  if (hasOpenCalls(turn)) return;
  const { scheduled } = turn.run;
  if (scheduled !== null) return follow(turn, scheduled.event, scheduled.context);
  return nextRound(turn);
}

export function hasOpenCalls(turn: Turn): boolean {
  return Object.values(turn.run.open).some(({ ask }) => ["tool", "agent", "approval"].includes(ask.kind));
}

/** A transition by the model: the run moves on, and in a conversation yields where `control` says so. */
export function follow(turn: Turn, event: string, context: string, by?: string): void {
  const state = turn.state;
  const from = turn.run.state;
  if (state === null || from === null) return;
  turn.abandon(({ ask }) => ask.kind !== "timer" && ask.kind !== "reply" && ask.kind !== "stop");
  turn.enter(
    state.events[event] as string,
    { kind: "event", from, event, ...(by !== undefined && { by }) },
    context,
  );
  if (turn.run.final !== null) return;
  begin(turn, { yields: turn.run.mode === "conversational" && turn.state?.control === "user" });
}

/** Handles a response's calls in order; true when some were dispatched and must be waited for. */
function handleCalls(turn: Turn, { step, ask, reply }: Replied): boolean {
  const site = { prompt: turn.prompt, made: turn.run.visitCalls, tools: ask.tools };
  const { accepted, refused } = sortCalls(turn, site, reply.calls);
  if (overCalls(turn, accepted.length)) return false;
  for (const { call, message } of refused) answer(turn, call, message, true);
  for (const call of inOrder(turn, reply.calls)) {
    if (call.tool === SET_ARTIFACT) setArtifact(turn, call, { step });
    else if (call.tool === TRANSITION) schedule(turn, call);
    else if (isSkillCall(call)) result(turn, call, skillAnswer(turn.program, turn.run.state, call));
  }
  dispatch(turn, accepted);
  return accepted.length > 0;
}

/** Where artifacts must have a form, what is written decides whether the run may move on: it comes first. */
function inOrder(turn: Turn, calls: readonly ToolCall[]): readonly ToolCall[] {
  if (!hasForms(turn)) return calls;
  const writes = ({ tool }: ToolCall): boolean => tool === SET_ARTIFACT;
  return [...calls.filter(writes), ...calls.filter((call) => !writes(call))];
}

const hasForms = (turn: Turn): boolean => turn.program.workflow?.artifactSchemas !== undefined;

/** S18: the first valid transition wins; it takes effect when everything else is answered. */
function schedule(turn: Turn, call: ToolCall): void {
  const args = isObject(call.args) ? call.args : {};
  const { event, context } = args;
  if (!mayTransition(turn)) return answer(turn, call, "there is no transition from here", true);
  if (hasForms(turn) && hasFailed(turn))
    return answer(turn, call, "something else in this answer was refused; mend it before you leave", true);
  if (turn.run.scheduled !== null)
    return answer(turn, call, `the run already moves on by \`${turn.run.scheduled.event}\``, true);
  if (typeof event !== "string" || !turn.events.includes(event)) {
    return answer(
      turn,
      call,
      `\`${String(event)}\` is not an event of this state; expected one of ${turn.events.join(", ")}`,
      true,
    );
  }
  turn.record({
    type: "noted",
    what: "scheduled",
    event,
    context: typeof context === "string" ? context : "",
  });
  return answer(turn, call, { status: "transition_scheduled", event }, false);
}

const answer = (turn: Turn, call: ToolCall, told: Json, error: boolean): void =>
  result(turn, call, { told, error });

/** No call is pending: move on, conclude, call the model again, or wait. */
function afterCalls(turn: Turn, { ask, reply }: Replied): void {
  const { scheduled } = turn.run;
  if (scheduled !== null) return follow(turn, scheduled.event, scheduled.context);
  const closing = turn.isTerminal && reply.text.trim() !== "" && onlyWrites(reply) && !hasFailed(turn);
  if (reply.calls.length > 0 && !closing) {
    const over = !ask.tools || (turn.isTerminal && !offersCalls(turn));
    return over ? concluded(turn) : nextRound(turn);
  }
  const named = mayTransition(turn) ? eventInText(reply.text, turn.events) : undefined;
  if (reply.calls.length === 0 && named !== undefined) return follow(turn, named, "");
  return concluded(turn);
}

/** An end where nothing can be called has one answer, whatever it calls: the checker counts on it. */
const offersCalls = ({ program, prompt, run }: Turn): boolean =>
  offeredTools(program, { prompt: run.prompt, state: run.state, host: run.host }).some(
    ({ kind }) => kind === "workflow" || prompt.toolChoice !== "none",
  );

/** A closing text with artifacts beside it says everything; the results need not be read out. */
const onlyWrites = (reply: ModelReply): boolean => reply.calls.every((call) => call.tool === SET_ARTIFACT);

/** A write that failed is read out, so that the model can write again. */
const hasFailed = (turn: Turn): boolean =>
  turn.facts.some((fact) => fact.type === "noted" && fact.what === "result" && fact.error);

/** S16: rounds of tools, then one call without them. */
function nextRound(turn: Turn): void {
  turn.askModel(turn.run.round < turn.prompt.roundsMax);
}

/** The model has said its last in this visit and named no event (S8, S20, S27). */
function concluded(turn: Turn): void {
  if (turn.isTerminal) return turn.finish("completed", null);
  if (!mayTransition(turn)) return turn.ask({ kind: "event", allow: turn.events });
  if (turn.run.mode === "conversational") return turn.ask({ kind: "message" });
  const internal = turn.state?.orchestration === "internal";
  if (internal && turn.run.nudges < (turn.program.workflow?.nudges ?? 0)) {
    const text = `Name the event that applies by calling ${TRANSITION}: one of ${turn.events.join(", ")}.`;
    turn.record({ type: "noted", what: "nudge", text });
    return turn.askModel(turn.run.round < turn.prompt.roundsMax);
  }
  const waiting = Object.values(turn.run.open).some((open) => open.ask.kind === "event");
  return waiting ? undefined : turn.ask({ kind: "event", allow: turn.events });
}
