// The built-in tool `human`: asks a person. The call is deferred with the question; what the person says is
// checked when the call goes on, and asked for again when it does not fit.

import { canonical, deepEqual, get, type Json, type JsonObject } from "../../../base/json.ts";
import type { Later } from "../../../engine/ports.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader, type CallArguments } from "../call-arguments.ts";
import { schemaErrors } from "../json/schema-errors.ts";
import { operationOption } from "../operation-option.ts";
import type { OptionReader } from "../option-reader.ts";
import { durationMs, YEAR_MS } from "../time/duration.ts";
import { answerOf, ToolProblem } from "../tool-problem.ts";

/** What a binding fixes; calls give the rest. */
interface Fixed {
  readonly text: string | undefined;
  readonly choices: readonly Json[] | undefined;
  readonly schema: Json | undefined;
  readonly expiresMs: number | undefined;
}

interface Question {
  readonly text: string;
  readonly choices?: readonly Json[];
  readonly schema?: Json;
}

const TEXT_MAX = 16 * 1024;
const CHOICES_MAX = 100;

export function bindHuman(reader: OptionReader, around: Surroundings): BoundTool {
  operationOption(reader, ["ask"]);
  const fixed: Fixed = {
    text: reader.text("question"),
    choices: reader.texts("choices"),
    schema: reader.object("schema"),
    expiresMs: readExpiry(reader),
  };
  const argumentsOf = argumentReader(reader, SPELLINGS);
  return {
    tier: "read",
    // Asking again is asking once: the question stays the same open step.
    safe: true,
    definition: DEFINITION,
    call: (args, { handle, input }) =>
      answerOf(async () => {
        const question = questionOf(argumentsOf(args), fixed);
        const now = around.clock.now();
        const until =
          get(handle, "until") ?? (fixed.expiresMs === undefined ? undefined : now + fixed.expiresMs);
        const end = typeof until === "number" ? until : undefined;
        if (input === undefined) {
          if (handle !== undefined && end !== undefined && now >= end) throw expired();
          return asked(question, end);
        }
        const checked = await answerTo(question, input);
        if ("answer" in checked) return { answer: checked.answer };
        if (end !== undefined && now >= end) throw expired();
        return asked(question, end, checked.problem);
      }),
  };
}

function readExpiry(reader: OptionReader): number | undefined {
  const value = reader.any("expires");
  if (value === undefined || value === null) return undefined;
  const ms = durationMs(value);
  if (ms !== undefined && ms > 0 && ms <= YEAR_MS) return ms;
  reader.wrong("expires", "`expires` is a number of seconds, or a text such as 24h, up to one year");
  return undefined;
}

function questionOf(args: CallArguments, fixed: Fixed): Question {
  const text = fixed.text ?? args.neededText("question");
  const given = args.any("choices");
  const choices = fixed.choices ?? (given === undefined ? undefined : choicesOf(given));
  const schema = fixed.schema ?? args.any("schema");
  if (text.length > TEXT_MAX)
    throw new ToolProblem("too_large", `a question has at most ${TEXT_MAX} characters`);
  return { text, ...(choices !== undefined && { choices }), ...(schema !== undefined && { schema }) };
}

function choicesOf(value: Json): readonly Json[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= CHOICES_MAX;
  if (!isList) throw new ToolProblem("bad_arguments", `\`choices\` is not a list of 1 to ${CHOICES_MAX}`);
  return value as readonly Json[];
}

function asked({ text, choices, schema }: Question, until: number | undefined, problem?: string): Later {
  const question: Json = {
    text,
    ...(choices !== undefined && { choices }),
    ...(schema !== undefined && { schema }),
    ...(problem !== undefined && { problem }),
  };
  const expiry = until === undefined ? {} : { until };
  return { deferred: true, question, handle: expiry, ...expiry };
}

/** The answer in the words of the choice it names, or what is wrong with it. */
async function answerTo(
  { choices, schema }: Question,
  input: Json,
): Promise<{ readonly answer: Json } | { readonly problem: string }> {
  const answer = choices === undefined ? input : choiceOf(choices, input);
  if (answer === undefined) {
    const known = (choices ?? []).map((choice) => `\`${shown(choice)}\``).join(", ");
    return { problem: `\`${shown(input)}\` is not one of the choices (expected one of ${known})` };
  }
  const [error] = schema === undefined ? [] : await schemaErrors(schema, answer);
  if (error === undefined) return { answer };
  return { problem: `the answer does not fit: ${error.path || "the value"}: ${error.message}` };
}

function choiceOf(choices: readonly Json[], input: Json): Json | undefined {
  const exact = choices.find((choice) => deepEqual(choice, input));
  if (exact !== undefined || typeof input !== "string") return exact;
  const wanted = input.trim().toLowerCase();
  const alike = choices.filter((choice) => shown(choice).toLowerCase() === wanted);
  return alike.length === 1 ? alike[0] : undefined;
}

const shown = (value: Json): string => (typeof value === "string" ? value : canonical(value)).slice(0, 200);

const expired = (): ToolProblem => new ToolProblem("expired", "nobody answered in time");

const SPELLINGS = {
  question: ["text", "prompt", "message", "query", "ask"],
  choices: ["options", "answers", "enum"],
  schema: ["response_schema", "answer_schema", "form"],
};

const DEFINITION: { readonly description: string; readonly parameters: JsonObject } = {
  description: "Asks a person and waits for the answer.",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string", description: "what to ask" },
      choices: { type: "array", description: "answers to choose from" },
      schema: { type: "object", description: "JSON Schema of the answer" },
    },
    required: ["question"],
  },
};
