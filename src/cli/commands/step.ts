// `packloop step`: one ask in full. What a model was sent is built again from the journal, not remembered.

import { Command, InvalidArgumentError } from "commander";
import type { Json } from "../../base/json.ts";
import type { Ask, ModelReply, Outcome } from "../../core/facts.ts";
import type { ModelRequest, RequestMessage } from "../../core/request.ts";
import { type ShownStep, stepView } from "../../host/step-view.ts";
import { usageError } from "../exit.ts";
import { write } from "../output.ts";
import { loadRun } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";

interface Flags {
  readonly prompt?: true;
  readonly messages?: true;
  readonly tools?: true;
  readonly artifacts?: true;
  readonly raw?: true;
  readonly store?: string;
  readonly json?: true;
}

export function stepCommand(): Command {
  return new Command()
    .description("Show one ask of a run in full: the exact request or call, and its answer.")
    .argument("<run>", "RUN, or RUN@TURN to look no further than that turn; @ is the last run")
    .argument("<step>", "number of the ask", wholeNumber)
    .option("--prompt", "only the system prompt the model was sent")
    .option("--messages", "only the messages it was sent")
    .option("--tools", "only the tools it was offered")
    .option("--artifacts", "only the artifacts at that moment")
    .option("--raw", "only the request and the answer, as JSON")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  packloop step @ 3\n  packloop step r_01 3 --prompt\n\nExit codes: 0 shown, 2 bad input, 5 no such run, turn or step",
    )
    .action(async (given: string, step: number, flags: Flags) => {
      await using store = await openStore({ store: flags.store, readOnly: true });
      const shown = await stepView(store, await loadRun(store, given), step);
      const parts = partsOf(shown, flags);
      if (flags.json === true)
        write(`${JSON.stringify(parts.length === 0 ? shown : Object.assign({}, ...parts), null, 2)}\n`);
      else if (parts.length > 0) write(parts.map(partText).join("\n"));
      else write(stepText(shown));
    });
}

type Part = Readonly<Record<string, Json>>;

function partsOf(shown: ShownStep, flags: Flags): readonly Part[] {
  const parts: Part[] = [];
  const ofRequest = (flag: string, pick: (request: ModelRequest) => unknown) => {
    if (shown.request === null)
      throw usageError(`step ${shown.step} is a ${shown.kind} ask; only a model is sent ${flag}`);
    parts.push({ [flag]: pick(shown.request) as Json });
  };
  if (flags.prompt === true) ofRequest("prompt", ({ system }) => system);
  if (flags.messages === true) ofRequest("messages", ({ messages }) => messages);
  if (flags.tools === true) ofRequest("tools", ({ tools }) => tools);
  if (flags.artifacts === true) parts.push({ artifacts: shown.artifacts });
  if (flags.raw === true) {
    const { request, ask, answer } = shown;
    parts.push({ request: (request ?? ask) as unknown as Json, answer });
  }
  return parts;
}

/** A prompt alone is printed as it was sent; everything else as JSON. */
function partText(part: Part): string {
  const values = Object.values(part);
  const [value] = values;
  if (values.length === 1 && typeof value === "string") return value.endsWith("\n") ? value : `${value}\n`;
  return `${JSON.stringify(values.length === 1 ? value : part, null, 2)}\n`;
}

function stepText(shown: ShownStep): string {
  const { run, step, kind, status, turn, state, visit, prompt, asked_at, request, ask, answer, child } =
    shown;
  const where = state === null ? `prompt ${prompt}` : `${state}${visit === null ? "" : `#${visit}`}`;
  const out = [`${run} step ${step}: ${kind}, ${status}`, `  asked in ${where} at turn ${turn}, ${asked_at}`];
  if (child !== null) out.push(`  the agent's run: ${child} (packloop show ${child})`);
  if (request !== null) out.push(...requestLines(request));
  else out.push("", "ask", ...indented(JSON.stringify(ask, null, 2)));
  if (answer !== null) {
    const by = answer.by === null ? "" : ` by ${answer.by}`;
    out.push("", `answer at turn ${answer.turn}, ${answer.at}${by}`, ...answerLines(kind, answer.outcome));
  }
  return `${out.join("\n")}\n`;
}

function requestLines({ system, messages, tools, toolChoice, provider }: ModelRequest): readonly string[] {
  return [
    "",
    `system prompt (provider ${provider})`,
    ...indented(system),
    ...messages.flatMap((message) => ["", ...messageLines(message)]),
    "",
    `tools (${toolChoice}): ${tools.map(({ name }) => name).join(", ") || "none"}`,
  ];
}

function messageLines(message: RequestMessage): readonly string[] {
  if (message.role === "tool")
    return [`${message.tool} ${message.error ? "failed" : "returned"}`, ...indented(textOf(message.value))];
  const calls = message.role === "assistant" ? message.calls : [];
  const text = message.text === "" ? [] : indented(message.text);
  return [message.role, ...text, ...calls.map(({ tool, args }) => `  calls ${tool} ${JSON.stringify(args)}`)];
}

function answerLines(kind: Ask["kind"], outcome: Outcome): readonly string[] {
  if (!outcome.ok) return indented(`${outcome.code}: ${outcome.message}`);
  if (kind !== "model") return indented(textOf(outcome.value));
  const { text, calls } = outcome.value as unknown as ModelReply;
  return messageLines({ role: "assistant", text, calls }).slice(1);
}

const indented = (text: string): readonly string[] => text.split("\n").map((line) => `  ${line}`.trimEnd());

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

function wholeNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError(`\`${value}\` is not a step`);
  return Number(value);
}
