// Checks of the common types on what a run did. One that cannot be judged is neither good nor bad, and the
// test that has it does not pass.

import { deepEqual, get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { checkTypeOf, judgesText } from "../../core/check-names.ts";
import { judgeText, type Verdict } from "../../core/text-check.ts";
import { COMPOSITION_JUDGES } from "./judge-composition.ts";
import type { Observed, ObservedCall } from "./observed.ts";
import type { Check } from "./pack-test.ts";

export interface Judgement {
  readonly verdict: Verdict | "idle";
  /** What was there instead. */
  readonly actual: string;
}

/** What a check looks at: turns of the journal after `after`, up to `until`. */
export interface Span {
  readonly after: number;
  readonly until: number;
}

type Judge = (observed: Observed, params: JsonObject, span: Span) => boolean | undefined;

const JUDGES: Readonly<Record<string, Judge>> = {
  tools_called: (observed, params, span) => called(callsIn(observed, span), params),
  tools_called_session: (observed, params) => called(observed.calls, params),
  tools_not_called: (observed, params, span) => notCalled(callsIn(observed, span), params),
  tools_not_called_session: (observed, params) => notCalled(observed.calls, params),
  tool_args: (observed, params, span) => calledWith(callsIn(observed, span), params),
  tool_args_session: (observed, params) => calledWith(observed.calls, params),
  tool_call_sequence: ({ calls }, params) => {
    const sequence = textsOf(params, "sequence");
    return (
      sequence &&
      inOrder(
        calls.map(({ tool }) => tool),
        sequence,
      )
    );
  },
  no_tool_errors: (observed, params, span) => {
    const tools = textsOf(params, "tools");
    return !callsIn(observed, span).some(
      ({ tool, isError }) => isError === true && (tools === undefined || tools.includes(tool)),
    );
  },
  state_is: ({ run }, params) => withText(params, "state", (state) => run.state === state),
  transitioned_to: ({ trace }, params) =>
    withText(params, "state", (state) => trace.some(({ to, from }) => to === state && from !== null)),
  spoke_in_state: ({ texts }, params) =>
    withText(params, "state", (state) => texts.some((one) => one.state === state && one.text.trim() !== "")),
  workflow_complete: ({ run, program }) =>
    run.final === "completed" && program.workflow?.states[run.state ?? ""]?.terminal === true,
  workflow_transition_order: ({ trace }, params) => {
    const sequence = textsOf(params, "sequence");
    return (
      sequence &&
      inOrder(
        trace.map(({ to }) => to),
        sequence,
      )
    );
  },
  ...COMPOSITION_JUDGES,
  cost_budget: ({ run }, params) => withinCost(run.used, params),
  guardrail_triggered: guardTriggered,
};

/** Texts that are judged one by one over the whole run, and whether one of them is enough. */
const SESSION_TEXTS: ReadonlyMap<string, "some" | "every"> = new Map([
  ["contains_any", "some"],
  ["content_excludes", "every"],
]);

export const isJudged = (type: string): boolean =>
  judgesText(type) || Object.hasOwn(JUDGES, checkTypeOf(type));

export function judgeCheck(observed: Observed, { type, params, when }: Check, span: Span): Judgement {
  const applies = when === undefined ? true : holds(observed, when, span);
  if (applies === false) return { verdict: "idle", actual: "" };
  if (applies === undefined)
    return {
      verdict: "unknown",
      actual: `its condition \`${Object.keys(when ?? {}).join(", ")}\` is not known`,
    };
  if (judgesText(type)) return judgeTexts(observed, { type, params }, span);
  const name = checkTypeOf(type);
  const judge = Object.hasOwn(JUDGES, name) ? JUDGES[name] : undefined;
  if (judge === undefined) return { verdict: "unknown", actual: "packloop test does not judge this type" };
  return judgement(judge(observed, params, span), actualFor(observed, name, span));
}

function judgement(good: boolean | undefined, actual: string): Judgement {
  if (good === undefined) return { verdict: "unknown", actual: "its params are not those of the type" };
  return { verdict: good ? "good" : "bad", actual };
}

function judgeTexts(
  { texts, run }: Observed,
  { type, params }: Pick<Check, "type" | "params">,
  { after, until }: Span,
): Judgement {
  const session = SESSION_TEXTS.get(checkTypeOf(type));
  const whole = after === 0 && until >= run.turn;
  const last = texts.findLast(({ turn }) => turn > after && turn <= until)?.text ?? "";
  const heard = session === undefined ? [whole ? run.lastText : last] : texts.map(({ text }) => text);
  const verdicts = heard.map((text) => judgeText(text, type, params));
  const wanted = session === "some" ? verdicts.includes("good") : !verdicts.includes("bad");
  const unknown =
    verdicts.includes("unknown") || (heard.length === 0 && judgeText("", type, params) === "unknown");
  return judgement(
    unknown ? undefined : wanted,
    heard.length === 1 ? quoted(heard[0] ?? "") : `${heard.length} texts`,
  );
}

function actualFor({ calls, trace, run, guards, parts }: Observed, type: string, span: Span): string {
  if (type.startsWith("tool") || type === "no_tool_errors") {
    const names = callsIn({ calls }, type.endsWith("_session") ? WHOLE : span).map(({ tool, isError }) =>
      isError === true ? `${tool} (error)` : tool,
    );
    return names.length === 0 ? "no call" : names.join(", ");
  }
  if (type.startsWith("composition_")) {
    const ended = parts.map(({ part, is }) => (is === "done" ? part : `${part} (${is})`));
    return ended.length === 0 ? "no step ran" : ended.join(", ");
  }
  if (type === "cost_budget") {
    const { costUsd, inputTokens, outputTokens } = run.used;
    return `${costUsd} USD, ${inputTokens} tokens in, ${outputTokens} out`;
  }
  if (type === "guardrail_triggered")
    return guards.length === 0 ? "none fired" : guards.map(({ validator }) => validator).join(", ");
  return `${trace.map(({ to }) => to).join(" → ")} (${run.final ?? "not over"})`;
}

/** Everything a run did. */
export const WHOLE: Span = { after: 0, until: Number.MAX_SAFE_INTEGER };

const callsIn = ({ calls }: Pick<Observed, "calls">, { after, until }: Span): readonly ObservedCall[] =>
  calls.filter(({ turn }) => turn > after && turn <= until);

function called(calls: readonly ObservedCall[], params: JsonObject): boolean | undefined {
  const tools = textsOf(params, "tool_names", "tools");
  const least = get(params, "min_calls") ?? 1;
  const most = get(params, "max_calls") ?? Number.MAX_SAFE_INTEGER;
  if (tools === undefined || typeof least !== "number" || typeof most !== "number") return undefined;
  if (get(params, "require_args") !== undefined) return undefined;
  return tools.every((name) => {
    const good = calls.filter(({ tool, isError }) => tool === name && isError !== true).length;
    return good >= least && good <= most;
  });
}

function notCalled(calls: readonly ObservedCall[], params: JsonObject): boolean | undefined {
  return textsOf(params, "tool_names", "tools")?.every((name) => !calls.some(({ tool }) => tool === name));
}

function calledWith(calls: readonly ObservedCall[], params: JsonObject): boolean | undefined {
  const [name, expected] = [get(params, "tool_name"), get(params, "expected_args")];
  if (typeof name !== "string" || !isObject(expected)) return undefined;
  return calls.some(({ tool, args }) => tool === name && holdsAll(args, expected));
}

const holdsAll = (args: Json, expected: JsonObject): boolean =>
  Object.entries(expected).every(([key, value]) => {
    const given = get(args, key);
    return given !== undefined && deepEqual(given, value);
  });

function inOrder(names: readonly string[], sequence: readonly string[]): boolean {
  let at = 0;
  for (const name of names) if (name === sequence[at]) at++;
  return at === sequence.length;
}

const LIMITS: Readonly<Record<string, (used: Observed["run"]["used"]) => number>> = {
  max_cost_usd: ({ costUsd }) => costUsd,
  max_input_tokens: ({ inputTokens }) => inputTokens,
  max_output_tokens: ({ outputTokens }) => outputTokens,
  max_total_tokens: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
};

function withinCost(used: Observed["run"]["used"], params: JsonObject): boolean | undefined {
  const given = Object.entries(LIMITS).filter(([name]) => get(params, name) !== undefined);
  const limits = given.map(([name, count]) => ({ most: get(params, name), count: count(used) }));
  if (limits.length === 0 || limits.some(({ most }) => typeof most !== "number")) return undefined;
  return limits.every(({ most, count }) => count <= (most as number));
}

/** By type or by id: what the journal names is the id of a validator that has one. */
function guardTriggered({ guards, program }: Observed, params: JsonObject): boolean | undefined {
  const type = get(params, "validator_type");
  const direction = get(params, "direction");
  if (typeof type !== "string") return undefined;
  const ids = Object.values(program.prompts)
    .flatMap(({ validators }) => validators)
    .filter((one) => checkTypeOf(one.type) === checkTypeOf(type))
    .map(({ id, type: own }) => id ?? own);
  const fired = guards.some(
    (guard) =>
      (guard.validator === type || ids.includes(guard.validator)) &&
      (direction === undefined || guard.direction === direction),
  );
  return fired === (get(params, "should_trigger") !== false);
}

/** Conditions of the reference runtime; undefined for one that is not known. */
function holds(observed: Observed, when: JsonObject, span: Span): boolean | undefined {
  const names = callsIn(observed, span).map(({ tool }) => tool);
  const results = Object.entries(when).map(([key, value]) => {
    if (key === "tool_called" && typeof value === "string") return names.includes(value);
    if (key === "any_tool_called" && typeof value === "boolean") return names.length > 0 === value;
    if (key === "min_tool_calls" && typeof value === "number") return names.length >= value;
    return undefined;
  });
  return results.includes(undefined) ? undefined : !results.includes(false);
}

function textsOf(params: JsonObject, ...names: readonly string[]): readonly string[] | undefined {
  const given = names.map((name) => get(params, name)).find((value) => value !== undefined);
  const isList = Array.isArray(given) && given.every((one: Json) => typeof one === "string");
  return isList ? given : undefined;
}

function withText(params: JsonObject, name: string, judge: (text: string) => boolean): boolean | undefined {
  const text = get(params, name);
  return typeof text === "string" ? judge(text) : undefined;
}

const quoted = (text: string): string => (text === "" ? "an empty text" : `\`${text}\``);
