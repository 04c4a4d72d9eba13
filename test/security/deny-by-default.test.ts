// S31, S48: what a model asks for leaves only when the state's prompt lists it and nobody has to approve it,
// however the name is spelled.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { decide } from "../../src/core/decide.ts";
import type { Ask, HostTools } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import { emptyRun, type Run } from "../../src/core/run.ts";
import { openPack } from "../../src/pack/pack.ts";

const text = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work: { id: work, name: W, version: 1.0.0, system_template: Go., tools: [read, ship, helper, "mcp__files__*"] }
  other: { id: other, name: O, version: 1.0.0, system_template: Go., tools: [drop] }
  helper: { id: helper, name: H, version: 1.0.0, system_template: Help. }
tools:
  read: { name: read, description: Read }
  ship: { name: ship, description: Ship, parameters: { type: object, properties: { to: { type: string } }, required: [to], additionalProperties: false } }
  drop: { name: drop, description: Drop }
agents: { entry: work, members: { helper: {} } }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, on_event: { Done: end } }
    end: { prompt_task: other, terminal: true }
`;

function program() {
  const pack = openPack(text, { file: "s.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  return pack.program;
}

const host: HostTools = {
  mcp__files__list: { description: "", parameters: { type: "object" } },
  mcp__files__delete_file: { description: "", parameters: { type: "object" } },
};

function take(run: Run, input: Input): Run {
  const decision = decide(program(), run, input);
  if (decision.kind !== "facts") throw new Error(JSON.stringify(decision));
  return decision.run;
}

/** What is asked for after a model called these. */
function asksAfter(
  calls: readonly { readonly tool: string; readonly args?: JsonObject }[],
  gated: readonly string[] = [],
): readonly string[] {
  const started = take(emptyRun, {
    ...{ type: "start", at: 1, digest: "d", mode: "autonomous", variables: {}, input: "" },
    ...{ gated, host },
  });
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
  const named = calls.map(({ tool, args = {} }, index) => ({ id: `c${index}`, tool, args }));
  const answered = take(started, {
    ...{ type: "answer", at: 2, step: 1, hash: "h" },
    outcome: { ok: true, value: { text: "", calls: named, usage } },
  });
  return Object.values(answered.open).map(({ ask }) => nameOf(ask));
}

const nameOf = (ask: Ask): string => ("tool" in ask ? `${ask.kind} ${ask.tool}` : ask.kind);

describe("a call does not leave", () => {
  test.each([
    ["of another state", "drop"],
    ["that nobody knows", "shell"],
    ["with a blank behind its name", "read "],
    ["with letters of another size", "READ"],
    ["with a letter that only looks the same", "reаd"],
    ["with an invisible letter", "re​ad"],
    ["in wide letters", "ｒｅａｄ"],
    ["that every object has", "constructor"],
    ["that is a prototype", "__proto__"],
    ["with an agent's prefix before a tool's name", "a2a__read"],
    ["with an agent's prefix twice", "a2a__a2a__helper"],
    ["that is a pattern itself", "mcp__files__*"],
    ["that a server began to offer after the run started", "mcp__files__format_disk"],
    ["that a server knows under another spelling", "mcp__files__delete.file"],
    ["of a server that is not listed", "mcp__mail__send"],
    ["with a reserved prefix", "workflow__set_budget"],
    ["with a namespace before it", "functions.read"],
  ])("to a tool %s", (_why, tool) => {
    expect(asksAfter([{ tool }])).toEqual(["model"]);
  });

  test.each([
    ["no arguments", {}],
    ["others than declared", { to: "x", bcc: "eve" }],
    ["a prototype beside them", JSON.parse('{"to": "x", "__proto__": {"admin": true}}') as JsonObject],
    ["a list for a text", { to: ["x"] }],
  ])("with %s", (_why, args) => {
    expect(asksAfter([{ tool: "ship", args }])).toEqual(["model"]);
  });
});

test("what is listed and pinned leaves", () => {
  const tools = ["read", "mcp__files__list", "helper", "a2a__helper"];
  expect(asksAfter(tools.map((tool) => ({ tool })))).toEqual([
    ...["tool read", "tool mcp__files__list", "agent helper", "agent a2a__helper"],
  ]);
});

describe("a gated tool waits for a person", () => {
  test.each([
    ["by its name", "ship", { tool: "ship", args: { to: "x" } }],
    ["by a pattern", "mcp__files__*", { tool: "mcp__files__delete_file" }],
    ["by the pattern for all", "*", { tool: "read" }],
    ["as an agent, called by its other name", "helper", { tool: "a2a__helper" }],
    ["as an agent, gated by its other name", "a2a__helper", { tool: "helper" }],
  ])("%s", (_how, gate, call) => {
    expect(asksAfter([call], [gate])).toEqual([`approval ${call.tool}`]);
  });
});
