// A message to a task that waits. It is taken when it fits exactly one thing that is asked; anything else
// leaves the task as it is, and the client is told again what is wanted. Nothing is guessed.

import type { Message } from "@a2a-js/sdk";
import { RequestMalformedError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { get, isObject, type Json } from "../../base/json.ts";
import type { Input } from "../../core/input.ts";
import { refusalText } from "../../core/refusal-text.ts";
import { type Run, statusOf } from "../../core/run.ts";
import { runAt } from "../../host/stored-runs.ts";
import { hindrance, saidTo, sayAnswer } from "../answer-question.ts";
import { demandScope } from "../demand-scope.ts";
import type { OpenQuestion } from "../open-questions.ts";
import { Problem } from "../problem.ts";
import { type Principal, speaker } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";
import { hashOf, readMessage } from "./sent-message.ts";
import { keyOfMessage, messageIdIn } from "./task-history.ts";
import { statusView } from "./task-status.ts";
import { placeOf, type SeenTask } from "./task-view.ts";

export type AnsweredTask = { readonly kind: "taken" } | { readonly kind: "not-taken"; readonly why: string };

export interface TaskAnswer {
  readonly seen: SeenTask;
  readonly message: Message;
  readonly inputModes: readonly string[];
  readonly principal: Principal;
}

export async function answerTask(parts: ServerParts, answer: TaskAnswer): Promise<AnsweredTask> {
  const { seen, message, principal } = answer;
  const { record, run } = seen;
  demandScope(principal, "events:send", "approvals:decide");
  const sent = { id: message.messageId, hash: hashOf(message) };
  if (isHeard(run, sent) || isHeardBelow(parts, record.run, sent)) return { kind: "taken" };
  if (run.final !== null)
    throw new UnsupportedOperationError(`the task \`${record.run}\` has ended and takes no message`);
  const { questions } = await statusView(parts, seen, placeOf(record));
  if (questions.length === 0)
    throw new UnsupportedOperationError(
      `the task \`${record.run}\` is ${whatItDoes(run)} and takes no message now`,
    );
  const terms = { by: speaker(principal, undefined), at: parts.clock.now() };
  const { files, ...words } = readMessage(message, answer.inputModes);
  const fit = fitOf(questions, words, terms);
  if (typeof fit === "string") return { kind: "not-taken", why: fit };
  // Nothing of a message is dropped unnoticed.
  if (files.length > 0 && words.data.length > 0)
    return { kind: "not-taken", why: "a file is said with text, not beside data" };
  const { question, input } = fit;
  const problem = await hindrance(parts, principal, question);
  if (problem !== undefined) throw problem;
  const place = { run: record.run, message: sent.id };
  parts.blobs.files.put(place, files, parts.clock.now());
  const said = await sayAnswer(parts, question, { ...input, requestKey: keyOfMessage(sent) });
  if (said.kind !== "taken" && !(await wasQuicker(parts, question.run, sent))) {
    parts.blobs.files.dropMessage(place);
    const why = said.kind === "refused" ? refusalText(said.refusal) : "somebody else has answered meanwhile";
    return { kind: "not-taken", why };
  }
  // An agent that is called again knows nothing of what the one before it heard.
  if (question.run !== record.run)
    parts.side.putReply(
      belowKey(record.run, sent),
      { hash: sent.hash, status: 200, headers: {}, body: null },
      terms.at,
    );
  return { kind: "taken" };
}

function whatItDoes(run: Run): string {
  if (run.held !== undefined) return `held by ${run.held.by}`;
  return statusOf(run) === "running" ? "working" : "waiting for a tool";
}

/** A message by its id, and what tells it from another one with the same. */
interface SentMessage {
  readonly id: string;
  readonly hash: string;
}

function isHeard({ dedupe }: Pick<Run, "dedupe">, sent: SentMessage): boolean {
  if (Object.hasOwn(dedupe, keyOfMessage(sent))) return true;
  if (Object.keys(dedupe).some((key) => messageIdIn(key) === sent.id)) throw reused(sent);
  return false;
}

const belowKey = (run: string, { id }: SentMessage): string => `a2a heard ${run} ${id}`;

function isHeardBelow({ side }: ServerParts, run: string, sent: SentMessage): boolean {
  const known = side.reply(belowKey(run, sent));
  if (known !== undefined && known.hash !== sent.hash) throw reused(sent);
  return known !== undefined;
}

const reused = ({ id }: SentMessage): Error =>
  new RequestMalformedError(`another message with the id \`${id}\` was sent to this task before`);

/** The same message, sent twice at once. */
async function wasQuicker({ store }: ServerParts, run: string, sent: SentMessage): Promise<boolean> {
  const record = await store.record(run);
  return record !== undefined && isHeard(await runAt(store, run, record.turn), sent);
}

interface Fit {
  readonly question: OpenQuestion;
  readonly input: Input;
}

interface SayTerms {
  readonly by: string;
  readonly at: number;
}

/** The one question that the message answers, or why there is none. */
function fitOf(
  questions: readonly OpenQuestion[],
  { text, data }: { readonly text: string; readonly data: readonly Json[] },
  terms: SayTerms,
): Fit | string {
  if (data.length > 1) return "an answer has one data part";
  const [given] = data;
  const tries = given === undefined ? textTries(questions, text) : dataTries(questions, given);
  const results = tries.map(([question, said]) => fitted(question, said, terms));
  const fits = results.filter((one) => typeof one !== "string");
  if (fits.length === 1) return fits[0] as Fit;
  if (fits.length > 1) return "the answer fits several questions (name one: {question, answer})";
  return results.length === 1 ? (results[0] as string) : "the answer fits nothing that is asked";
}

type Try = readonly [OpenQuestion, Json];

/** An event by its name, without regard to case; else what may be any text. */
function textTries(questions: readonly OpenQuestion[], text: string): readonly Try[] {
  const word = text.trim().toLowerCase();
  const events = questions.flatMap((question): readonly Try[] =>
    (question.wait.events ?? [])
      .filter((event) => event.toLowerCase() === word)
      .map((event) => [question, { event }] as const),
  );
  const exact = events.filter(([, said]) => get(said, "event") === text.trim());
  if (events.length > 0) return exact.length > 0 ? exact : events;
  return questions.flatMap((question): readonly Try[] => {
    if (question.wait.kind === "message") return [[question, { text }]];
    return question.wait.kind === "answer" ? [[question, text]] : [];
  });
}

/** Of itself, or addressed: `{ question: "3/7", answer: … }`. */
function dataTries(questions: readonly OpenQuestion[], given: Json): readonly Try[] {
  const id = get(given, "question");
  const addressed = isObject(given) && id !== undefined && Object.hasOwn(given, "answer");
  if (!addressed) return questions.map((question) => [question, given] as const);
  return questions
    .filter((question) => question.id === id)
    .map((question) => [question, get(given, "answer") ?? null] as const);
}

function fitted(question: OpenQuestion, said: Json, terms: SayTerms): Fit | string {
  try {
    return { question, input: saidTo(question, said, terms) };
  } catch (error) {
    if (error instanceof Problem && error.code === "bad-request") return error.message;
    throw error;
  }
}
