// What requests carry. Unknown fields are refused.

import { z } from "@hono/zod-openapi";
import type { Json, JsonObject } from "../../base/json.ts";
import type { SkillFile } from "../../core/program.ts";
import { isSchemas, isSkills } from "../../host/pack-beside.ts";
import { by, jsonObject, jsonValue, whole } from "./shared.ts";

const packText = z.string().min(1).openapi({ description: "The text of a pack, YAML or JSON." });
const digest = z.string().min(1).max(200).openapi({ description: "A pack that is known here." });
const file = z.string().min(1).max(500).openapi({ description: "The name its diagnostics are shown under." });
const script = jsonObject.openapi({ description: "Answers of a scripted model, tools and people." });

const beside = z
  .strictObject({
    schemas: z
      .custom<Readonly<Record<string, JsonObject>>>((value) => isSchemas(value as Json), {
        error: "expected JSON Schemas by their paths",
      })
      .optional()
      .openapi({
        description: "JSON Schemas that compositions name, by the path they have for them.",
        type: "object",
        additionalProperties: { type: "object", additionalProperties: true },
      }),
    skills: z
      .custom<Readonly<Record<string, readonly SkillFile[]>>>((value) => isSkills(value as Json), {
        error: "expected lists of {folder, name, description, instructions, resources} by their paths",
      })
      .optional()
      .openapi({
        description:
          "The skills at each path that the pack lists: `folder`, `name`, `description`, `instructions`, and as `resources` the texts in the folder by their paths.",
        type: "object",
        additionalProperties: { type: "array", items: { type: "object", additionalProperties: true } },
      }),
  })
  .openapi("PackBeside", { description: "What the pack names by a path, as it is in the files beside it." });

const budgets = z
  .strictObject({
    max_total_visits: whole.optional(),
    max_tool_calls: whole.optional(),
    max_wall_time_sec: z.number().min(0).optional(),
    max_model_calls: whole.optional(),
    max_input_tokens: whole.optional(),
    max_output_tokens: whole.optional(),
    max_cost_usd: z.number().min(0).optional(),
  })
  .openapi({ description: "Tighter than the pack's." });

export const startBody = z
  .strictObject({
    pack: packText.optional(),
    digest: digest.optional(),
    file: file.optional(),
    beside: beside.optional(),
    variables: jsonObject.optional(),
    input: z.string().optional().openapi({ description: "The task." }),
    mode: z.enum(["autonomous", "conversational"]).optional(),
    prompt: z.string().optional().openapi({ description: "Which prompt of a pack without a workflow." }),
    agent: z.string().optional().openapi({ description: "A member of the pack's agents." }),
    context_id: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .openapi({ description: "Groups runs that the caller wants together." }),
    budgets: budgets.optional(),
    script: script.optional(),
    goal: z
      .strictObject({ max_steps: whole.min(1) })
      .optional()
      .openapi({ description: "The pack is that of `packloop goal`: what the run claims is judged." }),
  })
  .openapi("StartRun");

export const packBody = z
  .strictObject({ source: packText, file: file.optional(), beside: beside.optional() })
  .openapi("RegisterPack");

export const eventBody = z
  .strictObject({
    name: z.string().min(1).openapi({ description: "One of the events the state allows." }),
    context: z.string().optional(),
    artifacts: jsonObject.optional(),
    by: by.optional(),
    dedupe_key: z.string().min(1).max(500).optional(),
  })
  .openapi("SendEvent");

export const messageBody = z
  .strictObject({
    text: z.string().min(1),
    by: by.optional(),
    dedupe_key: z.string().min(1).max(500).optional(),
  })
  .openapi("SayMessage");

export const answerBody = z
  .strictObject({
    result: jsonValue.optional(),
    error: z.string().min(1).optional(),
    retry: z.literal(true).optional(),
    abort: z.literal(true).optional(),
    by: by.optional(),
  })
  .openapi("AnswerStep", { description: "One of `result`, `error`, `retry` and `abort`." });

export const approvalBody = z
  .strictObject({
    decision: z.enum(["approve", "edit", "reject", "respond"]),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits")
      .optional()
      .openapi({ description: "What was read; refused when it changed meanwhile." }),
    value: jsonValue
      .optional()
      .openapi({ description: "With `edit` the other arguments; with `respond` what the model hears." }),
    reason: z
      .string()
      .optional()
      .openapi({ description: "With `reject` what the model hears; with `approve` and `edit` a comment." }),
    by: by.optional(),
  })
  .openapi("DecideApproval");

export const cancelBody = z
  .strictObject({ reason: z.string().optional(), by: by.optional() })
  .openapi("CancelRun");

export const pauseBody = z
  .strictObject({ reason: z.string().max(2_000).optional(), by: by.optional() })
  .openapi("PauseRun");

export const unpauseBody = z.strictObject({ by: by.optional() }).openapi("UnpauseRun");

const name = z.string().min(1).max(500);

const forkEdit = z
  .union([
    z.strictObject({ artifact: name, value: jsonValue }),
    z.strictObject({ variable: name, value: jsonValue }),
    z.strictObject({ event: name }),
    z.strictObject({ step: whole.min(1), value: jsonValue }),
    z.strictObject({ pack: packText, file: file.optional(), beside: beside.optional() }),
    z.strictObject({ digest }),
    z.strictObject({ model: z.string().min(1) }),
    z.strictObject({ script }),
  ])
  .openapi("ForkEdit", {
    description:
      "An artifact's or a variable's value, the event to go on with, an answer to an open step, another pack, model or script.",
  });

export const forkBody = z
  .strictObject({
    turn: whole
      .min(1)
      .optional()
      .openapi({ description: "The last turn that is copied; the last one if left out." }),
    edits: z.array(forkEdit).max(1_000).optional(),
    reset_budget: z.boolean().optional(),
  })
  .openapi("ForkRun");
