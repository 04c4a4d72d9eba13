// Questions of a run put to the user of a client, and the answers that come back from it.

import { isObject, type JsonObject } from "../../base/json.ts";
import { hindrance, saidTo, sayAnswer } from "../answer-question.ts";
import type { OpenQuestion } from "../open-questions.ts";
import { Problem, refusalProblem } from "../problem.ts";
import { type StandingRun, standingRun } from "../resting-run.ts";
import { speaker } from "../scope.ts";
import { type ClientAbilities, MCP_SPEAKER, type McpCall, type Responses } from "./mcp-call.ts";
import { formOf, pageOf, saidIn } from "./question-form.ts";

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

/** Those of them that the client can put to its user. */
export const askable = (
  client: ClientAbilities,
  questions: readonly OpenQuestion[],
): readonly OpenQuestion[] =>
  questions.filter((one) => client.elicits || (client.opensPages && pageOf(one) !== undefined));

/** The requests that a client puts to its user, by the questions' ids. */
export function inputRequests(client: ClientAbilities, questions: readonly OpenQuestion[]): JsonObject {
  const params = (question: OpenQuestion): JsonObject => {
    const url = client.opensPages ? pageOf(question) : undefined;
    if (url === undefined) return { mode: "form", ...formOf(question) };
    return { mode: "url", message: formOf(question).message, url };
  };
  return Object.fromEntries(
    questions.map((question) => [question.id, { method: "elicitation/create", params: params(question) }]),
  );
}

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
    // Who is sent to a page comes back with nothing but that they went.
    const isVisit =
      call.client.opensPages && pageOf(question) !== undefined && Object.keys(content).length === 0;
    const said = isVisit || saidIn(question, content);
    const says = saidTo(question, said, { by, at: parts.clock.now() });
    const taken = await sayAnswer(parts, question, says);
    if (taken.kind === "refused") throw refusalProblem(taken.refusal);
    answered ||= taken.kind === "taken";
  }
  return answered;
}

/** Undefined when the user declined or went away: the question stays open. */
export function acceptedContent(id: string, response: unknown): JsonObject | undefined {
  if (!isObject(response)) throw new Problem("bad-request", `the response to \`${id}\` is no object`);
  const { action, content = {} } = response;
  if (action === "decline" || action === "cancel") return undefined;
  if (action !== "accept" || !isObject(content))
    throw new Problem("bad-request", `the response to \`${id}\` is neither accepted nor declined`);
  return content;
}
