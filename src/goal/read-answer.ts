// A model's answer, held against its schema, its lengths, and the table of what belongs to which next stage.
// What is wrong is said in words that the model gets back.

import { Validator } from "@cfworker/json-schema";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";
import { firstTurnSchema, resumeTurnSchema } from "./answer-schema.ts";
import { isDeeper } from "./shallow.ts";

export interface Action {
  readonly tool: string;
  readonly input: JsonObject;
  readonly expect: string;
}

export interface Report {
  readonly summary: string;
  readonly criteria: readonly {
    readonly id: string;
    readonly met: boolean;
    readonly evidence: readonly string[];
  }[];
  readonly artifacts: readonly string[];
}

export interface Reflection {
  readonly observation: string;
  readonly verdict: "progress" | "no_progress" | "failed";
  readonly evidence: readonly JsonObject[];
  readonly memory_update: string | null;
  readonly next_stage: "plan" | "act" | "done";
  readonly reframe: { readonly reason: string; readonly frame: JsonObject } | null;
  readonly success_report: Report | null;
}

/** `frame` of a first turn, `reflect` of a later one. */
export interface Answer {
  readonly frame: JsonObject | null;
  readonly reflect: Reflection | null;
  readonly plan: JsonObject | null;
  readonly action: Action | null;
}

export interface Violation {
  readonly kind: "shape" | "tool" | "no-action" | "input";
  readonly message: string;
}

export type ReadAnswer =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly violations: readonly Violation[] };

const SHOWN = 6;
const DEPTH_MAX = 100;

export function readAnswer(
  value: Json | undefined,
  { first, tools }: { first: boolean; tools: readonly string[] },
): ReadAnswer {
  if (!isObject(value)) return wrong([{ kind: "shape", message: "the answer is not one JSON object" }]);
  if (isDeeper(value, DEPTH_MAX))
    return wrong([{ kind: "shape", message: `the answer is nested deeper than ${DEPTH_MAX} levels` }]);
  const early = first ? noAction(value) : undefined;
  const tool = get(get(value, "action"), "tool");
  const violations: Violation[] = [];
  if (early !== undefined) violations.push(early);
  if (typeof tool === "string" && !tools.includes(tool))
    violations.push({
      kind: "tool",
      message: `\`${tool.slice(0, 80)}\` is not a tool you may use (use one of ${tools.join(", ")})`,
    });
  const schema = first ? firstTurnSchema(tools) : resumeTurnSchema(tools);
  for (const message of schemaProblems(value, schema)) violations.push({ kind: "shape", message });
  if (violations.length > 0) return wrong(violations);
  const answer: Answer = {
    frame: (get(value, "frame") ?? null) as JsonObject | null,
    reflect: (get(value, "reflect") ?? null) as unknown as Reflection | null,
    plan: (get(value, "plan") ?? null) as JsonObject | null,
    action: (get(value, "action") ?? null) as unknown as Action | null,
  };
  const found = [...tooLong(value, "answer"), ...inconsistent(answer), ...repeated(answer)];
  return found.length === 0 ? { ok: true, answer } : wrong(found.map(shape));
}

const shape = (message: string): Violation => ({ kind: "shape", message });
const wrong = (violations: readonly Violation[]): ReadAnswer => ({
  ok: false,
  violations: violations.slice(0, SHOWN),
});

function noAction(value: JsonObject): Violation | undefined {
  if ((get(value, "action") ?? null) !== null) return undefined;
  return { kind: "no-action", message: "the first turn must end with an action (use one of the tools)" };
}

export function schemaProblems(value: Json, schema: JsonObject): readonly string[] {
  // The validator writes into the schema it is given.
  const copy = JSON.parse(JSON.stringify(schema)) as ConstructorParameters<typeof Validator>[0];
  const { valid, errors } = new Validator(copy, "2020-12", false).validate(value);
  if (valid) return [];
  // The deepest say most; those above only say that something below is wrong.
  const deepest = errors.toSorted((a, b) => depth(b.instanceLocation) - depth(a.instanceLocation));
  const lines = deepest.map(({ instanceLocation, error }) => `${placeOf(instanceLocation)}: ${error}`);
  return [...new Set(lines)].slice(0, SHOWN);
}

const depth = (location: string): number => location.split("/").length;
const placeOf = (location: string): string => location.replace(/^#\/?/, "") || "answer";

const LENGTHS: ReadonlyMap<string, number> = new Map([
  ["restated", 600],
  ...["text", "task", "note", "expect", "next_focus"].map((key) => [key, 300] as const),
  ["observation", 1200],
  ["memory_update", 1000],
  ["summary", 1500],
]);

/** The input of a tool is the tool's business. */
function tooLong(value: Json, place: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one: Json, index) => tooLong(one, `${place}/${index}`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => {
    if (key === "input") return [];
    const most = LENGTHS.get(key);
    const length = typeof one === "string" ? [...one].length : 0;
    if (most !== undefined && length > most)
      return [`${place}/${key}: has ${length} characters, at most ${most} are allowed`];
    return tooLong(one, `${place}/${key}`);
  });
}

/** Which parts go with which next stage. */
function inconsistent({ reflect, plan, action }: Answer): readonly string[] {
  if (reflect === null) return [];
  const { next_stage: stage, reframe, success_report: report } = reflect;
  const wants = { plan: stage === "plan", action: stage !== "done", success_report: stage === "done" };
  const has = { plan: plan !== null, action: action !== null, success_report: report !== null };
  const problems: string[] = [];
  for (const part of ["plan", "action", "success_report"] as const) {
    if (wants[part] === has[part]) continue;
    problems.push(`${part}: must ${wants[part] ? "be given" : "be null"} when next_stage is \`${stage}\``);
  }
  if (reframe !== null && stage !== "plan") problems.push("reframe: needs next_stage `plan`");
  return problems;
}

/** An id that stands twice could be met once and missed once. */
function repeated({ frame, reflect }: Answer): readonly string[] {
  const frames = [frame, reflect?.reframe?.frame ?? null];
  return frames.flatMap((one) => {
    const ids = criteriaOf(one).map(({ id }) => id);
    return new Set(ids).size === ids.length ? [] : ["frame/criteria: ids must differ"];
  });
}

export function criteriaOf(
  frame: JsonObject | null,
): readonly { readonly id: string; readonly text: string }[] {
  const criteria = get(frame ?? {}, "criteria");
  if (!Array.isArray(criteria)) return [];
  return (criteria as readonly Json[]).flatMap((one) => {
    const id = get(one, "id");
    const text = get(one, "text");
    return typeof id === "string" ? [{ id, text: typeof text === "string" ? text : "" }] : [];
  });
}
