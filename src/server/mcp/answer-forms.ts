// Questions of a run put to the user of a client, and the answers that come back from it.

import { isObject, type JsonObject } from "../../base/json.ts";
import { hindrance, saidTo, sayAnswer } from "../answer-question.ts";
import type { OpenQuestion } from "../open-questions.ts";
import { Problem, refusalProblem } from "../problem.ts";
import { type StandingRun, standingRun } from "../resting-run.ts";
import { speaker } from "../scope.ts";
import { MCP_SPEAKER, type McpCall } from "./mcp-call.ts";
import { formOf, saidIn } from "./question-form.ts";

/** Those that the caller may answer: nobody is asked what would be refused. */
export async function answerable(
  { parts, principal }: McpCall,
  { questions }: StandingRun,
): Promise<readonly OpenQuestion[]> {
  const found: OpenQuestion[] = [];
  for (const question of questions)
    if ((await hindrance(parts, principal, question)) === undefined) found.push(question);
  return found;
}

/** The requests that a client puts to its user, by the questions' ids. */
export function inputRequests(questions: readonly OpenQuestion[]): JsonObject {
  const params = (question: OpenQuestion) => ({ mode: "form", ...formOf(question) });
  return Object.fromEntries(
    questions.map((question) => [question.id, { method: "elicitation/create", params: params(question) }]),
  );
}

export type Responses = Readonly<Record<string, unknown>>;

export interface AskedRun {
  readonly run: string;
  /** The questions that the client was asked. */
  readonly asks: readonly string[];
}

/** Says the answers to the run. False when nothing was answered: declined, or answered before. */
export async function answerForms(call: McpCall, asked: AskedRun, responses: Responses): Promise<boolean> {
  const { parts, principal } = call;
  const given = asked.asks.flatMap((id) => {
    const content = Object.hasOwn(responses, id) ? acceptedContent(id, responses[id]) : undefined;
    return content === undefined ? [] : [{ id, content }];
  });
  const { questions } = await standingRun(parts, asked.run);
  let answered = false;
  for (const { id, content } of given) {
    const question = questions.find((one) => one.id === id);
    if (question === undefined) continue;
    const problem = await hindrance(parts, principal, question);
    if (problem !== undefined) throw problem;
    const by = speaker(principal, principal.name === null ? MCP_SPEAKER : undefined);
    const says = saidTo(question, saidIn(question, content), { by, at: parts.clock.now() });
    const said = await sayAnswer(parts, question, says);
    if (said.kind === "refused") throw refusalProblem(said.refusal);
    answered ||= said.kind === "taken";
  }
  return answered;
}

/** Undefined when the user declined or went away: the question stays open. */
function acceptedContent(id: string, response: unknown): JsonObject | undefined {
  if (!isObject(response)) throw new Problem("bad-request", `the response to \`${id}\` is no object`);
  const { action, content } = response;
  if (action === "decline" || action === "cancel") return undefined;
  if (action !== "accept" || !isObject(content))
    throw new Problem("bad-request", `the response to \`${id}\` is neither accepted nor declined`);
  return content;
}
