// Calls that a model makes, in a visit or in a part of its composition: which of them may leave, and what
// the rules answer themselves (S16, S17, S31, S32, S48).

import { canonical, isObject, type Json } from "../base/json.ts";
import { sha256Of } from "../base/sha256.ts";
import { callProblem, isGated } from "./call-check.ts";
import { compositionOf } from "./composition.ts";
import type { Ask, ToolCall } from "./facts.ts";
import { shareOf } from "./grant.ts";
import { partOf } from "./part-fold.ts";
import { partsAtWork } from "./part-order.ts";
import type { Program, PromptSpec } from "./program.ts";
import { SET_ARTIFACT, TRANSITION } from "./reserved.ts";
import type { Run } from "./run.ts";
import { isSkillCall } from "./skills.ts";
import type { Turn } from "./turn.ts";

/** Where calls are made. */
export interface CallSite {
  readonly prompt: Pick<PromptSpec, "tools" | "toolChoice" | "callsPerTurnMax">;
  /** Counted calls that were made here before. */
  readonly made: number;
  /** Pack tools were offered with the question. */
  readonly tools: boolean;
  readonly part?: string | undefined;
}

export interface SortedCalls {
  readonly accepted: readonly ToolCall[];
  readonly refused: readonly { readonly call: ToolCall; readonly message: string }[];
}

/** S16, S48: which calls may leave. Reserved ones are handled by the rules and never leave. */
export function sortCalls(turn: Turn, site: CallSite, calls: readonly ToolCall[]): SortedCalls {
  const accepted: ToolCall[] = [];
  const refused: { call: ToolCall; message: string }[] = [];
  const { program, run } = turn;
  const { prompt } = site;
  const room = prompt.callsPerTurnMax - site.made;
  for (const call of calls) {
    if (call.tool === TRANSITION || call.tool === SET_ARTIFACT) continue;
    if (site.part === undefined && isSkillCall(call)) continue;
    const problem = !site.tools
      ? "no more tools can be called in this visit; conclude"
      : callProblem({ program, prompt, run }, call);
    if (problem !== undefined) refused.push({ call, message: problem });
    else if (accepted.length >= room)
      refused.push({ call, message: `at most ${prompt.callsPerTurnMax} calls are allowed in one visit` });
    else accepted.push(call);
  }
  return { accepted, refused };
}

/** S11: true when so many more calls do not fit, which ends the run before any of them is made. */
export function overCalls(turn: Turn, more: number): boolean {
  const { toolCalls } = turn.run.limits;
  // In a composition others may wait for approval, and will want their call.
  const promised = Object.values(turn.run.open).filter(({ ask }) => ask.kind === "approval").length;
  if (toolCalls !== null && turn.run.used.toolCalls + promised + more > toolCalls) {
    turn.exhaust("max_tool_calls", toolCalls);
    return true;
  }
  return false;
}

/** S31: a gated call waits for a person; the others are asked. Those to agents share what is left (S43). */
export function dispatch(turn: Turn, calls: readonly ToolCall[], part?: string): void {
  for (const [index, call] of calls.entries()) {
    const { id, tool, args } = call;
    if (isGated(turn.run.gated, tool)) {
      const sha256 = sha256Of(canonical(args));
      turn.ask({ kind: "approval", call: id, tool, args, sha256, ...inPart(part) });
    } else {
      const later = calls.slice(index + 1).filter((one) => isAgent(turn.program, one.tool)).length;
      askCall(turn, call, { part, later });
    }
  }
}

/** `later`: calls of agents that are made right after this one. */
export function askCall(
  turn: Turn,
  { id, tool, args }: ToolCall,
  { part, later = 0 }: { readonly part: string | undefined; readonly later?: number },
): void {
  const { program, run } = turn;
  const nth = Object.hasOwn(run.callsByTool, tool) ? (run.callsByTool[tool] as number) : 0;
  const asked = { call: id, tool, args, nth, ...inPart(part) };
  if (!isAgent(program, tool)) return turn.ask({ kind: "tool", ...asked });
  const grant = shareOf(run, { among: 1 + later + othersWanting(program, run, part) });
  return turn.ask({ kind: "agent", ...asked, ...(grant !== undefined && { grant }) });
}

/** Who will spend beside the agents that a part, or the visit itself, calls now. */
function othersWanting(program: Program, run: Run, part: string | undefined): number {
  const open = Object.values(run.open).map(({ ask }) => ask);
  const promised = open.filter((ask) => ask.kind === "approval" && isAgent(program, ask.tool));
  // Parts that wait for an agent, or for leave to call one, have their share.
  const served = [...promised, ...open.filter(({ kind }) => kind === "agent")].map(partIn);
  const composition = compositionOf(program, run.state);
  const parts =
    composition === undefined || run.composing === undefined ? [] : partsAtWork(composition, run.composing);
  const wanting = parts.filter((one) => {
    if (one.id === part || served.includes(one.id)) return false;
    if (one.kind === "tool") return isAgent(program, one.tool) && partOf(run.composing, one.id) === undefined;
    // A prompt that has been asked needs no more, as a rule.
    return one.kind !== "prompt" || partOf(run.composing, one.id) === undefined || isStalled(run, one.id);
  });
  return promised.length + wanting.length;
}

const partIn = (ask: Ask): string | undefined => ("part" in ask ? ask.part : undefined);

const isStalled = ({ stalled }: Run, part: string): boolean =>
  stalled?.some((one) => one.part === part) === true;

const isAgent = ({ agents }: Program, tool: string): boolean =>
  Object.hasOwn(agents?.members ?? {}, tool.replace(/^a2a__/, ""));

/** S17, S32: an error is a result for the writer, and nothing is written. */
export function setArtifact(turn: Turn, call: ToolCall, at: { step: number; part?: string }): void {
  const args = isObject(call.args) ? call.args : {};
  const { name, value } = args;
  const tell = (told: Json, error: boolean) => result(turn, call, { told, error, part: at.part });
  if (typeof name !== "string" || value === undefined) return tell("expected `name` and `value`", true);
  const problem = turn.write(name, value, { kind: "model", step: at.step });
  return problem === undefined
    ? tell({ status: "artifact_set", artifact: name }, false)
    : tell(problem, true);
}

/** The rules' own answer to a call. */
export function result(
  turn: Turn,
  call: ToolCall,
  { told, error, part }: { told: Json; error: boolean; part?: string | undefined },
): void {
  turn.record({ type: "noted", what: "result", call: call.id, result: told, error, ...inPart(part) });
}

const inPart = (part: string | undefined): { part?: string } => (part === undefined ? {} : { part });
