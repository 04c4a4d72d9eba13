// One ask in full, as of a turn: what was sent, with the origin of every value in it, and what came back.

import type { Json } from "../../../src/base/json.ts";
import type { Fact, ModelAsk, ModelReply } from "../../../src/core/facts.ts";
import type { Program } from "../../../src/core/program.ts";
import { renderPrompt } from "../../../src/core/render.ts";
import { modelRequest, type RequestMessage } from "../../../src/core/request.ts";
import { type ArtifactValue, artifactValue, type Run } from "../../../src/core/run.ts";
import { cutText, cutValue, textOf } from "./cut-text.ts";
import type { Journal } from "./journal.ts";
import type { PromptPart, ShownMessage, StepView } from "./journal-shapes.ts";
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

export function stepViewAt(journal: Journal, known: Known, step: number, turn: number): StepView | undefined {
  const place = placeOf(journal, step);
  if (place === undefined) return undefined;
  const { fact, asked, from } = place;
  const { ask } = fact;
  const at = journal.row(asked).at;
  const line = stepLine(journal, known, { fact, asked, at, turn, run: journal.runAt(turn) });
  const given = line.answeredTurn === null ? undefined : answerIn(journal, line.answeredTurn, step);
  const outcome = given?.outcome;
  const { state } = from;
  return {
    ...line,
    key: `${known.id}/${step}`,
    state,
    visit: state === null || !Object.hasOwn(from.visits, state) ? null : (from.visits[state] ?? null),
    args: "args" in ask ? cutValue(ask.args) : null,
    sha256: ask.kind === "approval" ? ask.sha256 : null,
    result: outcome?.ok === true && ask.kind !== "model" ? cutValue(outcome.value) : null,
    error: outcome?.ok === false ? `${outcome.code}: ${outcome.message}` : null,
    response: outcome === undefined ? null : cutValue(outcome),
    ...(ask.kind === "model" && known.program !== undefined
      ? modelParts(known.program, from, ask, outcome?.ok === true ? outcome.value : undefined)
      : noModel),
  };
}

const noModel = {
  parts: [],
  missing: [],
  messages: [],
  reply: null,
  offered: [],
  request: null,
  usage: null,
} as const;

/** The whole text of what a view shows in part. */
export function wholePart(
  journal: Journal,
  known: Known,
  step: number,
  part: "args" | "result" | "request" | "response",
): string {
  const place = placeOf(journal, step);
  const answered = journal.step(step)?.answered ?? null;
  const given = answered === null ? undefined : answerIn(journal, answered, step);
  const ask = place?.fact.ask;
  if (ask === undefined || place === undefined) return "";
  if (part === "args") return "args" in ask ? textOf(ask.args) : "";
  if (part === "result") return given?.outcome.ok === true ? textOf(given.outcome.value) : "";
  if (part === "response") return textOf(given?.outcome ?? null);
  if (ask.kind !== "model" || known.program === undefined) return "";
  return textOf(modelRequest(known.program, place.from, ask) as unknown as Json);
}

function modelParts(program: Program, run: Run, ask: ModelAsk, value: Json | undefined) {
  const request = modelRequest(program, run, ask);
  const rendered = renderPrompt(program, {
    prompt: run.prompt,
    variables: run.variables,
    workflowContext: run.context,
    artifactOf: (name) =>
      Object.hasOwn(run.artifacts, name) ? artifactValue(run.artifacts[name] as ArtifactValue) : undefined,
  });
  const reply = value as ModelReply | undefined;
  return {
    parts: rendered.parts.map(
      ({ text, source }): PromptPart => ({ text: cutText(text), kind: source.kind, name: source.name }),
    ),
    missing: rendered.missing,
    messages: request.messages.map(shownMessage),
    reply:
      reply === undefined ? null : shownMessage({ role: "assistant", text: reply.text, calls: reply.calls }),
    offered: request.tools.map(({ name }) => name),
    request: cutValue(request as unknown as Json),
    usage: reply?.usage ?? null,
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
