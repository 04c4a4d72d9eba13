// Whether an answer of the model may be acted on. Budgets are the core's to decide; here it is seen to that a
// tool gets an input it can use, and that a claim of success is borne out.

import { Validator } from "@cfworker/json-schema";
import type { Json, JsonObject } from "../base/json.ts";
import { type Claim, refusedCompletion } from "../goal/completion-gate.ts";
import { substitute } from "../goal/input-references.ts";
import {
  type Action,
  type Answer,
  type Report,
  readAnswer,
  schemaProblems,
  type Violation,
} from "../goal/read-answer.ts";
import type { RunRecord } from "../goal/run-record.ts";
import { KIB, textBytes } from "../goal/state-size.ts";
import { blankedKeys, REQUEST_BYTES_MAX } from "../goal/tool-request.ts";
import type { LoopTurn } from "./loop-turn.ts";
import { resultOfStep } from "./step-result.ts";

export type Judged =
  /** With the references in its action replaced. */
  | {
      readonly kind: "good";
      readonly answer: Answer;
      readonly reason: "";
      readonly problems: readonly string[];
    }
  | { readonly kind: "invalid"; readonly reason: string; readonly problems: readonly string[] }
  /** A claim of success that is not granted; `spent` when nothing can follow it any more. */
  | { readonly kind: "unsupported" | "spent"; readonly reason: string; readonly problems: readonly string[] };

interface Given {
  readonly runId: string;
  readonly run: RunRecord;
  readonly first: boolean;
  readonly value: Json | undefined;
}

export function judgeAnswer(turn: LoopTurn, { runId, run, first, value }: Given): Judged {
  const read = readAnswer(value, { first, tools: turn.config.tools });
  if (!read.ok) return invalid(read.violations);
  const answer = fitted(read.answer);
  const large = [...tooLarge("frame", answer.frame), ...tooLarge("plan", answer.plan)];
  if (large.length > 0) return invalid(large);
  const { reflect, action } = answer;
  if (reflect?.next_stage === "done") {
    const problems = refusedCompletion(claimOf(turn, { runId, run, report: reflect.success_report }));
    if (problems.length === 0) return good(answer);
    if (run.step >= run.max_steps) return { kind: "spent", reason: "max_steps_exceeded", problems };
    return { kind: "unsupported", reason: "completion_unsupported", problems };
  }
  if (action === null || isSpent(run, answer)) return good(answer);
  return withInput(turn, { runId, run, answer, action });
}

function claimOf(
  turn: LoopTurn,
  { runId, run, report }: { runId: string; run: RunRecord; report: Report | null },
): Claim {
  const { frame, completed_steps: completed, failed_steps: failed, artifacts } = run;
  const workspace = turn.workspaceOf(runId);
  return {
    frame,
    report,
    hasSucceeded: (step) => completed.includes(step) && !failed.includes(step),
    // Without a workspace only what results named can be claimed.
    hasFile: (path) => workspace?.isFile(path) ?? artifacts.includes(path),
  };
}

const good = (answer: Answer): Judged => ({ kind: "good", answer, reason: "", problems: [] });

/** The core ends such a run whatever the action is. */
const isSpent = (run: RunRecord, { reflect }: Answer): boolean =>
  run.step >= run.max_steps || ((reflect?.reframe ?? null) !== null && run.reframes >= run.max_reframes);

function invalid(violations: readonly Violation[]): Judged {
  const has = (kind: Violation["kind"]) => violations.some((one) => one.kind === kind);
  const reason = has("tool") ? "tool_not_allowed" : has("no-action") ? "no_action" : "model_output_invalid";
  return { kind: "invalid", reason, problems: violations.map(({ message }) => message) };
}

const NOTES_MAX = 4 * KIB;

/** What may be left out of notes that are too large to be kept. */
function fitted(answer: Answer): Answer {
  const { frame, plan, reflect } = answer;
  const reframe = reflect?.reframe ?? null;
  return {
    ...answer,
    frame: frame && fittedFrame(frame),
    plan: plan && fittedPlan(plan),
    reflect: reflect && { ...reflect, reframe: reframe && { ...reframe, frame: fittedFrame(reframe.frame) } },
  };
}

const isLarge = (value: JsonObject): boolean => textBytes(JSON.stringify(value)) > NOTES_MAX;

const fittedFrame = (frame: JsonObject): JsonObject =>
  isLarge(frame) ? { ...frame, assumptions: [], unknowns: [] } : frame;

function fittedPlan(plan: JsonObject): JsonObject {
  if (!isLarge(plan)) return plan;
  const todo = (plan["todo"] as readonly JsonObject[]).filter(
    ({ status }) => status !== "done" && status !== "dropped",
  );
  return todo.length === 0 ? plan : { ...plan, todo };
}

const tooLarge = (name: string, value: JsonObject | null): readonly Violation[] =>
  value === null || !isLarge(value)
    ? []
    : [{ kind: "shape", message: `${name}: is larger than ${NOTES_MAX} bytes (say it in fewer words)` }];

function withInput(
  turn: LoopTurn,
  { runId, run, answer, action }: { runId: string; run: RunRecord; answer: Answer; action: Action },
): Judged {
  const workspace = turn.workspaceOf(runId);
  const { input, problems } = substitute(action.input, {
    step: (step) => resultOfStep(run, step, workspace),
    file: (path) => workspace?.read(path),
  });
  const found = problems.length > 0 ? problems : inputProblems(turn, action.tool, input);
  if (found.length > 0) return invalid(found.map((message) => ({ kind: "input", message })));
  return good({ ...answer, action: { ...action, input } });
}

function inputProblems(turn: LoopTurn, tool: string, input: JsonObject): readonly string[] {
  const { toolInputBytesMax, toolSpec } = turn.config;
  const bytes = textBytes(JSON.stringify(input));
  const blanked = textBytes(JSON.stringify(blankedKeys(turn.request.context, input)));
  // The input travels twice in a request, and every blanked key with a null.
  const most = Math.min(toolInputBytesMax, (REQUEST_BYTES_MAX - 2 * KIB - 2 * blanked) / 2);
  if (bytes > most)
    return [`action/input: has ${bytes} bytes, at most ${most} are allowed (hand on a file's path instead)`];
  const { inputSchema } = toolSpec(tool);
  if (inputSchema === undefined || schemaFault(inputSchema) !== undefined) return [];
  return schemaProblems(input, inputSchema).map((problem) => `action/input: ${problem}`);
}

/** A schema of the configuration that cannot be used at all. */
export function schemaFault(schema: JsonObject): string | undefined {
  try {
    const copy = JSON.parse(JSON.stringify(schema)) as ConstructorParameters<typeof Validator>[0];
    new Validator(copy, "2020-12", false).validate({});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
