// The rules of one visit: what a state does when it is entered, and what follows a model's answer
// (S8, S9, S16–S20, S27, S28).

import { canonical, isObject, type Json } from "../base/json.ts";
import { sha256Of } from "../base/sha256.ts";
import { callProblem, isGated } from "./call-check.ts";
import type { ModelAsk, ModelReply, ToolCall } from "./facts.ts";
import { guardsFired } from "./guard.ts";
import { offeredTools } from "./offered-tools.ts";
import { systemText } from "./request.ts";
import { SET_ARTIFACT, TRANSITION } from "./reserved.ts";
import { eventInText } from "./text-event.ts";
import type { Turn } from "./turn.ts";

/** What happens once a state is entered. `yields`: in a conversation, the user speaks first here (S2). */
export function begin(turn: Turn, { yields }: { yields: boolean }): void {
  if (turn.run.final !== null) return;
  const orchestration = turn.state?.orchestration ?? "internal";
  if (orchestration === "external") return beginExternal(turn);
  if (yields && !turn.isTerminal) return turn.ask({ kind: "message" });
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
export function askWith(turn: Turn, text: string): void {
  const fired = guardsFired(turn.prompt, text, { direction: "input", concluding: true });
  const blocked = fired.find(({ action }) => action === "blocked");
  if (text === "" || blocked === undefined) return turn.askModel(turn.prompt.roundsMax >= 1);
  turn.record(blocked);
  if (turn.isTerminal) return turn.finish("completed", null);
  if (turn.run.mode === "conversational") return turn.ask({ kind: "message" });
  return turn.ask({ kind: "event", allow: turn.events });
}

/** All calls of the last response are answered. */
export function callsAnswered(turn: Turn): void {
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
  const { accepted, refused } = sortCalls(turn, ask, reply.calls);
  const { toolCalls } = turn.run.limits;
  if (toolCalls !== null && turn.run.used.toolCalls + accepted.length > toolCalls) {
    turn.exhaust("max_tool_calls", toolCalls);
    return false;
  }
  for (const { call, message } of refused) result(turn, call, message, true);
  for (const call of inOrder(turn, reply.calls)) {
    if (call.tool === SET_ARTIFACT) setArtifact(turn, call, step);
    else if (call.tool === TRANSITION) schedule(turn, call);
  }
  for (const call of accepted) dispatch(turn, call);
  return accepted.length > 0;
}

/** Where artifacts must have a form, what is written decides whether the run may move on: it comes first. */
function inOrder(turn: Turn, calls: readonly ToolCall[]): readonly ToolCall[] {
  if (!hasForms(turn)) return calls;
  const writes = ({ tool }: ToolCall): boolean => tool === SET_ARTIFACT;
  return [...calls.filter(writes), ...calls.filter((call) => !writes(call))];
}

const hasForms = (turn: Turn): boolean => turn.program.workflow?.artifactSchemas !== undefined;

interface Sorted {
  readonly accepted: readonly ToolCall[];
  readonly refused: readonly { readonly call: ToolCall; readonly message: string }[];
}

/** S16, S48: which calls may leave. Reserved ones are handled here and never leave. */
function sortCalls(turn: Turn, ask: ModelAsk, calls: readonly ToolCall[]): Sorted {
  const accepted: ToolCall[] = [];
  const refused: { call: ToolCall; message: string }[] = [];
  const room = turn.prompt.callsPerTurnMax - turn.run.visitCalls;
  for (const call of calls) {
    if (call.tool === TRANSITION || call.tool === SET_ARTIFACT) continue;
    const problem = !ask.tools
      ? "no more tools can be called in this visit; conclude"
      : callProblem(turn, call);
    if (problem !== undefined) refused.push({ call, message: problem });
    else if (accepted.length >= room)
      refused.push({
        call,
        message: `at most ${turn.prompt.callsPerTurnMax} calls are allowed in one visit`,
      });
    else accepted.push(call);
  }
  return { accepted, refused };
}

function dispatch(turn: Turn, { id, tool, args }: ToolCall): void {
  if (isGated(turn.run.gated, tool)) {
    return turn.ask({ kind: "approval", call: id, tool, args, sha256: sha256Of(canonical(args)) });
  }
  return askCall(turn, { id, tool, args });
}

export function askCall(turn: Turn, { id, tool, args }: ToolCall): void {
  const kind = isAgent(turn, tool) ? "agent" : "tool";
  const nth = Object.hasOwn(turn.run.callsByTool, tool) ? (turn.run.callsByTool[tool] as number) : 0;
  turn.ask({ kind, call: id, tool, args, nth });
}

const isAgent = (turn: Turn, tool: string): boolean =>
  Object.hasOwn(turn.program.agents?.members ?? {}, tool.replace(/^a2a__/, ""));

/** S17, S32: an error is a result for the writer, and nothing is written. */
function setArtifact(turn: Turn, call: ToolCall, step: number): void {
  const args = isObject(call.args) ? call.args : {};
  const { name, value } = args;
  if (typeof name !== "string" || value === undefined)
    return result(turn, call, "expected `name` and `value`", true);
  const problem = turn.write(name, value, { kind: "model", step });
  return problem === undefined
    ? result(turn, call, { status: "artifact_set", artifact: name }, false)
    : result(turn, call, problem, true);
}

/** S18: the first valid transition wins; it takes effect when everything else is answered. */
function schedule(turn: Turn, call: ToolCall): void {
  const args = isObject(call.args) ? call.args : {};
  const { event, context } = args;
  if (!mayTransition(turn)) return result(turn, call, "there is no transition from here", true);
  if (hasForms(turn) && hasFailed(turn))
    return result(turn, call, "something else in this answer was refused; mend it before you leave", true);
  if (turn.run.scheduled !== null)
    return result(turn, call, `the run already moves on by \`${turn.run.scheduled.event}\``, true);
  if (typeof event !== "string" || !turn.events.includes(event)) {
    return result(
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
  return result(turn, call, { status: "transition_scheduled", event }, false);
}

function result(turn: Turn, call: ToolCall, value: Json, error: boolean): void {
  turn.record({ type: "noted", what: "result", call: call.id, result: value, error });
}

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
