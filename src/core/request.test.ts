// What a request carries beyond the prompt: overrides for certain models, and what a provider wants back.

import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../base/json.ts";
import { logOf } from "../base/log.ts";
import { linkPack } from "../pack/link.ts";
import type { PackFile } from "../pack/shape/generated/pack-file.ts";
import { fold } from "./apply.ts";
import { decide } from "./decide.ts";
import type { ModelAsk, Outcome, TurnRow } from "./facts.ts";
import { modelRequest, requestText } from "./request.ts";
import { emptyRun, type Message, type Run } from "./run.ts";

const prompt = {
  id: "p",
  name: "P",
  version: "1.0.0",
  system_template: "Help {{who}}.",
  variables: [{ name: "who", type: "string", required: true }],
  parameters: { temperature: 1, max_tokens: 50 },
};

const programOf = (overrides?: JsonObject) =>
  linkPack({
    id: "sample",
    name: "Sample",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    prompts: { p: overrides === undefined ? prompt : { ...prompt, model_overrides: overrides } },
    tools: {
      find: { name: "find", description: "Finds.", parameters: { type: "object" } },
    },
  } as unknown as PackFile);

type Sample = ReturnType<typeof programOf>;

function started(program: Sample): { readonly run: Run; readonly rows: readonly TurnRow[] } {
  const decision = decide(program, emptyRun, {
    type: "start",
    at: 1,
    digest: "d",
    mode: "autonomous",
    variables: { who: "Ann" },
    input: "",
    prompt: "p",
    limits: {},
    wallClock: "total",
    gated: [],
  } as never);
  if (decision.kind !== "facts") throw new Error(JSON.stringify(decision));
  const rows = [{ turn: 1, at: 1, v: 1, facts: decision.facts }];
  return { run: fold(rows), rows };
}

const openAsk = (run: Run): ModelAsk => Object.values(run.open).map(({ ask }) => ask)[0] as ModelAsk;

test("each override is rendered whole, with the fields it does not name from the prompt", () => {
  const program = programOf({
    small: { system_template_prefix: "Be brief. ", parameters: { temperature: 0 } },
    large: { system_template: "Think, then help {{who}}." },
  });
  const { run } = started(program);
  const { system, parameters, overrides } = modelRequest(program, run, openAsk(run));
  expect([system, parameters]).toEqual(["Help Ann.", { temperature: 1, max_tokens: 50 }]);
  expect(overrides).toEqual({
    small: { system: "Be brief. Help Ann.", parameters: { temperature: 0, max_tokens: 50 } },
    large: { system: "Think, then help Ann.", parameters: { temperature: 1, max_tokens: 50 } },
  });
});

test("a prompt without overrides asks as it always did", () => {
  const program = programOf();
  const { run } = started(program);
  expect(Object.hasOwn(modelRequest(program, run, openAsk(run)), "overrides")).toBe(false);
});

test("what came with an answer goes back with it, and only with it", () => {
  const program = programOf();
  const { rows } = started(program);
  const reply = (extra: JsonObject) => {
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
    const calls = [{ id: "c", tool: "find", args: {} }];
    const outcome = { ok: true, value: { text: "", calls, usage, ...extra } } as unknown as Outcome;
    const after = fold([...rows, { turn: 2, at: 2, v: 1, facts: [{ type: "answered", step: 1, outcome }] }]);
    return modelRequest(program, after, { kind: "model", round: 2, nth: 1, tools: true }).messages.at(-1);
  };
  expect(reply({ extra: { signed: "abc" } })).toMatchObject({ role: "assistant", extra: { signed: "abc" } });
  expect(Object.hasOwn(reply({}) ?? {}, "extra")).toBe(false);
});

test("the text that is hashed is the request's JSON, whatever of it is kept from earlier rounds", () => {
  const program = programOf({ small: { parameters: { temperature: 0 } } });
  const { run } = started(program);
  const request = modelRequest(program, run, openAsk(run));
  expect([requestText(request), requestText(request)]).toEqual([
    JSON.stringify(request),
    JSON.stringify(request),
  ]);
});

describe("S37: a result over 16 KiB", () => {
  /** What the model is told of this result in the round after it. */
  const shown = (value: Json): Json => {
    const program = programOf();
    const { run } = started(program);
    const calls = [{ id: "c", tool: "find", args: {} }];
    const said = { role: "assistant", text: "", calls, step: 1 } as const;
    const heard = { role: "result", call: "c", value, error: false } as const;
    const conversation = logOf<Message>([said, heard]);
    const told = modelRequest(program, { ...run, conversation }, openAsk(run)).messages.at(-1);
    return told?.role === "tool" ? told.value : null;
  };

  test("is shown by its beginning, and the model hears how much there is", () => {
    const note = (bytes: number): string =>
      `\n[clipped: 16384 of ${bytes} bytes are shown; ask for a smaller or another part]`;
    expect(shown("x".repeat(20_000))).toBe(`${"x".repeat(16_384)}${note(20_000)}`);
    expect(shown(["x".repeat(20_000)])).toBe(`["${"x".repeat(16_382)}${note(20_004)}`);
  });

  test("is cut between characters", () => {
    expect(shown(`x${"é".repeat(9_000)}`)).toMatch(/^xé{8191}\n\[clipped: 16384 of 18001 /);
    expect(shown(`xx${"😀".repeat(5_000)}`)).toMatch(/^xx(?:😀){4095}\n\[clipped: 16384 of 20002 /u);
  });

  test("and one of just that size is shown as it is", () => {
    const value = { text: "é".repeat((16_384 - 12) / 2) };
    expect(shown(value)).toEqual(value);
  });
});
