// Answers for scripted models, in the shapes a good model gives.

import type { Json, JsonObject } from "../../src/base/json.ts";

export const frame: JsonObject = {
  restated: "get the page and write about it",
  criteria: [
    { id: "C1", text: "page text was obtained" },
    { id: "C2", text: "a two-paragraph critique exists" },
  ],
  assumptions: [],
  unknowns: [],
};

export const plan: JsonObject = {
  todo: [
    { id: "T1", task: "fetch", status: "doing", serves: "C1" },
    { id: "T2", task: "critique", status: "todo", serves: "C2" },
  ],
  next_focus: "fetch",
};

export const action = (tool: string, input: JsonObject = { url: "http://example.test/a" }): JsonObject => ({
  tool,
  input,
  expect: "readable text",
});

export const firstTurn = (more: JsonObject = {}): JsonObject => ({
  frame,
  plan,
  action: action("jina-reader"),
  ...more,
});

const reflection: JsonObject = {
  observation: "text received",
  verdict: "progress",
  evidence: [{ criterion: "C1", ref: "step:1", note: "non-empty" }],
  memory_update: "page text is step 1",
  next_stage: "act",
  reframe: null,
  success_report: null,
};

export const actTurn = (
  tool = "fabric",
  input: JsonObject = { text: "T" },
  more: JsonObject = {},
): JsonObject => ({
  reflect: { ...reflection, ...more },
  plan: null,
  action: action(tool, input),
});

export const planTurn = (more: JsonObject = {}, tool = "fabric"): JsonObject => ({
  reflect: { ...reflection, next_stage: "plan", ...more },
  plan,
  action: action(tool, { text: "T" }),
});

export const report = (evidence: readonly string[], more: JsonObject = {}): JsonObject => ({
  summary: "critique written",
  criteria: ["C1", "C2"].map((id) => ({ id, met: true, evidence })),
  artifacts: [],
  ...more,
});

export const doneTurn = (evidence: readonly string[] = ["step:1"], more: JsonObject = {}): JsonObject => ({
  reflect: { ...reflection, next_stage: "done", memory_update: null, success_report: report(evidence, more) },
  plan: null,
  action: null,
});

/** Fetches, writes, is done. */
export const worked: readonly Json[] = [
  firstTurn(),
  actTurn("fabric", { prompt: "two paragraphs", text: "{{step:1.content}}" }),
  doneTurn(["step:1", "step:2"]),
];
