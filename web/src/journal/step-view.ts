// One ask in full, as of a turn: what was sent, with the origin of every value in it, and what came back.

import type { Json } from "../../../src/base/json.ts";
import { itemsOf } from "../../../src/base/log.ts";
import type { Fact, ModelAsk, ModelReply } from "../../../src/core/facts.ts";
import type { Program } from "../../../src/core/program.ts";
import { modelRequest, type RequestMessage, systemPrompt } from "../../../src/core/request.ts";
import { artifactValue, type Run } from "../../../src/core/run.ts";
import { leftOutOf } from "../../../src/core/short-turn.ts";
import { shownResult } from "../../../src/core/shown-result.ts";
import { cutText, cutValue, textOf } from "./cut-text.ts";
import type { Journal } from "./journal.ts";
import type { PromptPart, ShownMessage, StepView, WholePart } from "./journal-shapes.ts";
import { answerIn, type Known, stepLine } from "./moment.ts";

interface Place {
  readonly fact: Extract<Fact, { type: "asked" }>;
  readonly asked: number;
  /** The run that the call was made from: as it was asked, or as a fork took the ask over. */
  readonly from: Run;
}

function placeOf(journal: Journal, step: number): Place | undefined {
  const place = journal.step(step);
  if (place === undefined) return undefined;
  const { asked } = place;
  const fact = journal.row(asked).facts.find((one) => one.type === "asked" && one.step === step);
  if (fact?.type !== "asked") return undefined;
  const last = place.answered ?? journal.turns;
  const fork = journal.rows(asked + 1, last - 1).findLast((row) => row.facts[0]?.type === "forked");
  return { fact, asked, from: journal.runAt(fork?.turn ?? asked) };
}

/** What is looked at, and whether with all that the model was sent. */
interface Look {
  readonly step: number;
  readonly turn: number;
  readonly isBrief: boolean;
}

export function stepViewAt(journal: Journal, known: Known, look: Look): StepView | undefined {
  const { step, turn, isBrief } = look;
  const place = placeOf(journal, step);
  if (place === undefined) return undefined;
  const { fact, asked, from } = place;
  const { ask } = fact;
  const at = journal.row(asked).at;
  const line = stepLine(journal, known, { fact, asked, at, turn, run: journal.runAt(turn) });
  const given = line.answeredTurn === null ? undefined : answerIn(journal, line.answeredTurn, step);
  const outcome = given?.outcome;
  const reply = outcome?.ok === true && ask.kind === "model" ? replyOf(outcome.value) : undefined;
  const { state } = from;
  return {
    ...line,
    key: `${known.id}/${step}`,
    state,
    visit: state === null || !Object.hasOwn(from.visits, state) ? null : (from.visits[state] ?? null),
    args: "args" in ask ? cutValue(ask.args) : null,
    sha256: ask.kind === "approval" ? ask.sha256 : null,
    result: outcome?.ok === true && ask.kind !== "model" ? cutValue(outcome.value) : null,
    error: outcome?.ok === false ? `${outcome.code}: ${beginningOf(outcome.message)}` : null,
    response: outcome === undefined ? null : cutValue(outcome),
    reply: reply === undefined ? null : shownMessage(said(reply)),
    usage: reply?.usage ?? null,
    ...(ask.kind === "model" && known.program !== undefined && !isBrief
      ? sentParts(known.program, from, ask)
      : nothingSent),
  };
}

/**
 * What a step needs whole though nobody asked to see it, as one text: results that models are shown only the
 * beginning of, where that hides that something was left out; and where a template named what is not there,
 * all that it could have named.
 */
export function neededWhole(journal: Journal, { step, missing }: Pick<StepView, "step" | "missing">): string {
  const from = placeOf(journal, step)?.from;
  if (from === undefined) return "";
  const results = itemsOf(from.conversation).flatMap((message) =>
    message.role === "result" && marksIn(message.value) > marksIn(shownResult(message.value))
      ? [message.value]
      : [],
  );
  const { variables, artifacts } = from;
  const named = missing.length === 0 ? [] : [variables, ...Object.values(artifacts).map(artifactValue)];
  return JSON.stringify([...results, ...named]);
}

/** All of it is in the response. */
function beginningOf(message: string): string {
  const { text, isCut } = cutText(message);
  return isCut ? `${text}…` : text;
}

const marksIn = (value: Json): number => leftOutOf(textOf(value)).length;

const replyOf = (value: Json): ModelReply => value as unknown as ModelReply;
const said = ({ text, calls }: ModelReply): RequestMessage => ({ role: "assistant", text, calls });

const nothingSent = { parts: [], missing: [], messages: [], earlier: 0, offered: [], request: null } as const;

/** The whole text of what a view shows in part. */
export function wholePart(journal: Journal, known: Known, step: number, part: WholePart): string {
  const place = placeOf(journal, step);
  const answered = journal.step(step)?.answered ?? null;
  const given = answered === null ? undefined : answerIn(journal, answered, step);
  const ask = place?.fact.ask;
  if (ask === undefined || place === undefined) return "";
  const value = given?.outcome.ok === true ? given.outcome.value : undefined;
  if (part === "args") return "args" in ask ? textOf(ask.args) : "";
  if (part === "result") return value === undefined ? "" : textOf(value);
  if (part === "response") return textOf(given?.outcome ?? null);
  if (part === "reply") return value === undefined ? "" : replyOf(value).text;
  if (ask.kind !== "model" || known.program === undefined) return "";
  const [kind, first = "", second = ""] = part.split(" ");
  if (kind === "part")
    return systemPrompt(known.program, place.from, { part: ask.part }).parts[Number(first)]?.text ?? "";
  const request = modelRequest(known.program, place.from, ask);
  if (kind === "request") return textOf(request as unknown as Json);
  const message = request.messages[Number(first)];
  if (message === undefined) return "";
  if (kind === "message") return message.role === "tool" ? textOf(message.value) : message.text;
  const calls = message.role === "assistant" ? message.calls : [];
  return textOf(calls[Number(second)]?.args);
}

/** Messages of a long conversation that are shown: the newest. The others are in the request. */
const MESSAGES_MAX = 100;

function sentParts(program: Program, run: Run, ask: ModelAsk) {
  const request = modelRequest(program, run, ask);
  const rendered = systemPrompt(program, run, { part: ask.part });
  const earlier = Math.max(0, request.messages.length - MESSAGES_MAX);
  return {
    parts: rendered.parts.map(
      ({ text, source }): PromptPart => ({ text: cutText(text), kind: source.kind, name: source.name }),
    ),
    missing: rendered.missing,
    messages: request.messages.slice(earlier).map(shownMessage),
    earlier,
    offered: request.tools.map(({ name }) => name),
    request: cutValue(request as unknown as Json),
  };
}

function shownMessage(message: RequestMessage): ShownMessage {
  if (message.role === "tool")
    return {
      role: "tool",
      title: message.tool,
      text: cutValue(message.value),
      calls: [],
      isError: message.error,
    };
  const calls = message.role === "assistant" ? message.calls : [];
  return {
    role: message.role,
    title: message.role,
    text: cutText(message.text),
    calls: calls.map(({ id, tool, args }) => ({ id, tool, args: cutValue(args) })),
    isError: false,
  };
}
