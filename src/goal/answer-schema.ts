// What a model must return, as JSON Schema: one object per turn, its phases as closed objects. Written out
// without references, which not every provider follows; lengths are checked elsewhere, for the same reason.

import type { JsonObject } from "../base/json.ts";

const text = { type: "string", minLength: 1 };
const criterionId = { type: "string", pattern: "^C[1-9]$" };
const ref = { type: "string", pattern: "^(step:[1-9][0-9]*|artifacts/[A-Za-z0-9._/-]+)$" };
const nothing = { type: "null" };

const list = (items: JsonObject, [least, most]: readonly [number, number]): JsonObject => ({
  type: "array",
  ...(least > 0 && { minItems: least }),
  maxItems: most,
  items,
});

const closed = (properties: JsonObject): JsonObject => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

export const frameSchema: JsonObject = closed({
  restated: text,
  criteria: list(closed({ id: criterionId, text }), [1, 8]),
  assumptions: list(text, [0, 8]),
  unknowns: list(text, [0, 8]),
});

export const planSchema: JsonObject = closed({
  todo: list(
    closed({
      id: { type: "string", pattern: "^T[1-9][0-9]?$" },
      task: text,
      status: { enum: ["todo", "doing", "done", "dropped"] },
      serves: { anyOf: [criterionId, nothing] },
    }),
    [1, 12],
  ),
  next_focus: text,
});

/** What a model may claim: whether the claim holds is judged, and no matter of form. */
export const reportSchema: JsonObject = closed({
  summary: text,
  criteria: list(closed({ id: criterionId, met: { type: "boolean" }, evidence: list(ref, [0, 8]) }), [1, 8]),
  artifacts: list({ type: "string" }, [0, 32]),
});

const reflectSchema: JsonObject = closed({
  observation: text,
  verdict: { enum: ["progress", "no_progress", "failed"] },
  evidence: list(closed({ criterion: criterionId, ref, note: text }), [0, 16]),
  memory_update: { type: ["string", "null"] },
  next_stage: { enum: ["plan", "act", "done"] },
  reframe: { anyOf: [nothing, closed({ reason: text, frame: frameSchema })] },
  success_report: { anyOf: [nothing, reportSchema] },
});

const actionSchema = (tools: readonly string[]): JsonObject =>
  closed({ tool: { enum: tools }, input: { type: "object" }, expect: text });

export const firstTurnSchema = (tools: readonly string[]): JsonObject =>
  closed({ frame: frameSchema, plan: planSchema, action: actionSchema(tools) });

export const resumeTurnSchema = (tools: readonly string[]): JsonObject =>
  closed({
    reflect: reflectSchema,
    plan: { anyOf: [planSchema, nothing] },
    action: tools.length === 0 ? nothing : { anyOf: [actionSchema(tools), nothing] },
  });
