// A composition at work (S29): every part that calls something becomes ordinary asks, and what follows from
// an answer is decided from the parts alone. `advance` goes on until answers are due or all is over; each of
// its moves begins, settles or skips a part, so it ends.

import { must } from "../base/assert.ts";
import { isObject, type Json } from "../base/json.ts";
import { callProblem } from "./call-check.ts";
import { dispatch, overCalls } from "./calls.ts";
import { compositionOf, type PartSpec, type PromptWork } from "./composition.ts";
import { guardsFired } from "./guard.ts";
import { partOf } from "./part-fold.ts";
import { nextMove } from "./part-order.ts";
import { offersTools, partCallSite, partPrompt, schemaNamed } from "./part-site.ts";
import { judgePredicate } from "./predicate.ts";
import { type Merged, merged } from "./reducer.ts";
import { asText, type LookUp, type Resolved, resolve } from "./reference.ts";
import type { Composing } from "./run.ts";
import { schemaProblem } from "./schema-problem.ts";
import type { Turn } from "./turn.ts";

/** Begins the composition of the present state with what it is given. */
export function compose(turn: Turn, input: Json): void {
  const composition = must(compositionOf(turn.program, turn.run.state), "the state runs a composition");
  const name = turn.state?.composition ?? "";
  if (turn.overTime()) return undefined;
  turn.record({ type: "noted", what: "composing", composition: name, input });
  const problem = misfit(turn, composition.inputSchema, input);
  if (problem !== undefined) return failRun(turn, "bad_input", `the input of \`${name}\` ${problem}`);
  return advance(turn);
}

/** What `${input}` is: text that is a JSON object or list as such, other text as it is. */
export function inputFrom(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

export function advance(turn: Turn): void {
  const composition = must(compositionOf(turn.program, turn.run.state), "the state runs a composition");
  while (turn.run.final === null) {
    const move = nextMove(composition, composingOf(turn));
    if (move.kind === "wait") return;
    if (move.kind === "end") return end(turn);
    if (move.kind === "stuck") {
      const names = move.parts.map(({ id }) => `\`${id}\``).join(", ");
      return failRun(turn, "step_failed", `steps wait for each other: ${names}`);
    }
    if (move.kind === "skip") skip(turn, move.part);
    else if (move.kind === "begin") beginPart(turn, move.part, { attempt: 1 });
    else mergeParts(turn, move.part);
  }
}

const composingOf = (turn: Turn): Composing => must(turn.run.composing, "a composition has begun");

/** With a part everything inside it is skipped. */
function skip(turn: Turn, part: PartSpec): void {
  turn.record({ type: "noted", what: "part", part: part.id, is: "skipped" });
  for (const inner of part.kind === "parallel" ? part.branches : []) skip(turn, inner);
}

interface Attempt {
  readonly attempt: number;
  /** What was wrong with the answer of the attempt before. */
  readonly mends?: string;
}

function beginPart(turn: Turn, part: PartSpec, again: Attempt): void {
  switch (part.kind) {
    case "prompt":
    case "agent":
      return beginPrompt(turn, part, again);
    case "tool":
      return beginTool(turn, part, again);
    case "branch": {
      const judged = judgePredicate(part.predicate, lookUp(turn));
      return judged.ok
        ? turn.record({ type: "noted", what: "part", part: part.id, is: "done", output: judged.value })
        : failPart(turn, part, { code: "bad_predicate", message: judged.message });
    }
    case "parallel":
      return beginParallel(turn, part, again);
    case "unknown":
      return failPart(turn, part, {
        code: "unsupported",
        message: `steps of kind \`${part.name}\` are not run`,
      });
  }
}

function beginPrompt(turn: Turn, part: PartSpec & PromptWork, { attempt, mends }: Attempt): void {
  const { input } = composingOf(turn);
  const given: Resolved = part.input === undefined ? { ok: true, value: input } : filled(turn, part.input);
  if (!given.ok) return failPart(turn, part, unresolved(given.missing));
  const prompt = partPrompt(turn.program, part);
  const text = asText(given.value);
  const fired = guardsFired(prompt, text, { direction: "input", concluding: true });
  const blocked = text === "" ? undefined : fired.find(({ action }) => action === "blocked");
  if (blocked !== undefined) return failPart(turn, part, { code: "guarded", message: blocked.text });
  turn.record({
    type: "noted",
    what: "part",
    part: part.id,
    is: "begun",
    attempt,
    prompt: part.prompt,
    input: given.value,
    ...(mends !== undefined && { mends }),
  });
  return turn.askModel(offersTools(prompt) && prompt.roundsMax >= 1, part.id);
}

/** No model decides here, so a call that may not be made is a mistake of the pack. */
function beginTool(turn: Turn, part: PartSpec & { readonly kind: "tool" }, { attempt }: Attempt): void {
  const { program, run } = turn;
  const args = filled(turn, part.args);
  if (!args.ok) return failPart(turn, part, unresolved(args.missing));
  // By the number of its step: a part that runs again makes another call.
  const call = { id: `${part.id}.${run.step + 1}`, tool: part.tool, args: args.value };
  const problem = callProblem({ program, run, prompt: partCallSite(program, run, part.id).prompt }, call);
  if (problem !== undefined) return failPart(turn, part, { code: "bad_arguments", message: problem });
  if (overCalls(turn, 1)) return undefined;
  turn.record({ type: "noted", what: "part", part: part.id, is: "begun", attempt });
  return dispatch(turn, [call], part.id);
}

/** Failures that another attempt meets again. */
const LASTING = new Set([
  "unresolved",
  "bad_predicate",
  "bad_arguments",
  "guarded",
  "unsupported",
  "rejected",
]);

/** What has succeeded is kept: only branches that failed are tried again. */
function beginParallel(
  turn: Turn,
  part: PartSpec & { readonly kind: "parallel" },
  { attempt }: Attempt,
): void {
  turn.record({ type: "noted", what: "part", part: part.id, is: "begun", attempt });
  for (const inner of part.branches) {
    if (partOf(turn.run.composing, inner.id)?.is !== "failed") continue;
    beginPart(turn, inner, { attempt: 1 });
    if (turn.run.final !== null) return;
  }
}

/** All branches are at rest: their outputs in the order of the list, or all of their errors. */
function mergeParts(turn: Turn, part: PartSpec): void {
  if (part.kind !== "parallel") return;
  const composing = composingOf(turn);
  const inner = part.branches.map(({ id }) => ({ id, run: partOf(composing, id) }));
  const failed = inner.filter(({ run }) => run?.is === "failed");
  if (failed.length > 0) {
    const message = failed.map(({ id, run }) => `\`${id}\`: ${run?.error?.message ?? ""}`).join("; ");
    const lasting = failed.map(({ run }) => run?.error?.code ?? "").find((code) => LASTING.has(code));
    return lasting === undefined
      ? failPart(turn, part, { code: "branch_failed", message }, {})
      : failPart(turn, part, { code: lasting, message });
  }
  const done: Merged[] = inner.flatMap(({ id, run }) =>
    run?.is === "done" ? [{ id, output: run.output ?? null }] : [],
  );
  const output = merged(part, done);
  return turn.record({ type: "noted", what: "part", part: part.id, is: "done", output });
}

/** A part has come to a value: its output when it fits, else a failure that the model may mend. */
export function settlePart(turn: Turn, part: PartSpec, said: Json): void {
  const name = part.kind === "prompt" || part.kind === "agent" ? part.outputSchema : null;
  const value = name === null ? { ok: true as const, value: said } : jsonOf(said);
  const problem = value.ok ? misfit(turn, name, value.value) : value.message;
  if (problem !== undefined) {
    const mends = `Your answer ${problem}. Answer again: one JSON value that fits the schema, and nothing else.`;
    return failPart(turn, part, { code: "bad_output", message: `its answer ${problem}` }, { mends });
  }
  const output = value.ok ? value.value : said;
  const isSaid = name === null && output === partOf(turn.run.composing, part.id)?.said;
  return turn.record({
    type: "noted",
    what: "part",
    part: part.id,
    is: "done",
    ...(!isSaid && { output }),
  });
}

/** Models like to put a fence around JSON. */
function jsonOf(said: Json): { ok: true; value: Json } | { ok: false; message: string } {
  if (typeof said !== "string") return { ok: true, value: said };
  try {
    return { ok: true, value: JSON.parse(unfenced(said.trim())) as Json };
  } catch {
    return { ok: false, message: "is not JSON" };
  }
}

const FENCE = "```";

/** Without a regular expression: models at their wits' end write newlines by the thousand. */
function unfenced(text: string): string {
  const [from, to] = [text.indexOf("\n") + 1, text.length - FENCE.length];
  const isFenced = text.startsWith(FENCE) && text.endsWith(FENCE) && from > 0 && from <= to;
  return isFenced ? text.slice(from, to) : text;
}

function misfit(turn: Turn, name: string | null, value: Json): string | undefined {
  if (name === null) return undefined;
  const schema = schemaNamed(turn.program, name);
  if (schema === undefined) return `is to fit \`${name}\`, which is not there`;
  const problem = schemaProblem(schema, value);
  return problem && `does not fit \`${name}\`: ${problem.where || "value"}: ${problem.error}`;
}

/** `again`: another attempt may end otherwise. A part of a parallel one fails with it, when all are through. */
export function failPart(
  turn: Turn,
  part: PartSpec,
  { code, message }: { readonly code: string; readonly message: string },
  again?: { readonly mends?: string },
): void {
  const attempt = partOf(turn.run.composing, part.id)?.attempt ?? 0;
  if (again !== undefined && attempt < part.attemptsMax)
    return beginPart(turn, part, { ...again, attempt: attempt + 1 });
  turn.record({ type: "noted", what: "part", part: part.id, is: "failed", code, message });
  return part.parent === null
    ? failRun(turn, "step_failed", `step \`${part.id}\` failed: ${message}`)
    : undefined;
}

function failRun(turn: Turn, code: string, message: string): void {
  const { state } = turn.run;
  turn.finish("failed", { code, ...(state !== null && { state }), message });
}

const unresolved = (missing: readonly string[]) => ({
  code: "unresolved",
  message: `\`${missing.join("`, `")}\` leads to no value`,
});

/** A skipped part gave nothing, which a join behind a branch must be able to say. */
const filled = (turn: Turn, value: Json): Resolved => resolve(value, lookUp(turn, null));

function lookUp(turn: Turn, skipped?: null): LookUp {
  const { composing, variables } = turn.run;
  return ([name, field, ...rest]) => {
    if (name === "input") {
      const input = composing?.input ?? null;
      if (field === undefined) return input;
      const owner = hasField(input, field) ? input : variables;
      return valueAt(owner, [field, ...rest]);
    }
    const part = field === "output" ? partOf(composing, String(name)) : undefined;
    if (part?.is === "skipped") return skipped;
    return part?.is === "done" ? valueAt(part.output, rest) : undefined;
  };
}

const hasField = (input: Json, field: string | number): boolean =>
  Array.isArray(input) ? typeof field === "number" : isObject(input) && Object.hasOwn(input, field);

function valueAt(start: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let value = start;
  for (const key of path) {
    if (Array.isArray(value)) value = typeof key === "number" ? (value[key] as Json | undefined) : undefined;
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

/** The output of the part that `output` names, else of the last in the list that ran. */
function end(turn: Turn): void {
  const composition = must(compositionOf(turn.program, turn.run.state), "the state runs a composition");
  const composing = composingOf(turn);
  const ran = composition.parts.filter(({ id, parent }) => {
    return parent === null && partOf(composing, id)?.is === "done";
  });
  const id = composition.output ?? ran.at(-1)?.id ?? "";
  const part = partOf(composing, id);
  if (part?.is !== "done")
    return failRun(turn, "bad_output", `\`${composing.composition}\` returns \`${id}\`, which was skipped`);
  const output = part.output ?? null;
  const problem = misfit(turn, composition.outputSchema, output);
  if (problem !== undefined)
    return failRun(turn, "bad_output", `the output of \`${composing.composition}\` ${problem}`);
  return turn.record({ type: "noted", what: "composed", output });
}
