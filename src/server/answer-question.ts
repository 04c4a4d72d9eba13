// What somebody says to an open question: whether they may, what it means to the run, and saying it. An
// answer meets the very question it was given to, or nothing.

import { Validator } from "@cfworker/json-schema";
import { get, type Json, type JsonObject } from "../base/json.ts";
import type { Input, Refusal } from "../core/input.ts";
import { selfApproval } from "./approver.ts";
import { lackOf } from "./demand-scope.ts";
import { type OpenQuestion, scopeOf } from "./open-questions.ts";
import { Problem } from "./problem.ts";
import type { Principal } from "./scope.ts";
import { seenRun } from "./seen-run.ts";
import type { ServerParts } from "./server-parts.ts";

/** What keeps the principal from answering; undefined when nothing does. */
export async function hindrance(
  parts: ServerParts,
  principal: Principal,
  question: OpenQuestion,
): Promise<Problem | undefined> {
  const lack = lackOf(principal, scopeOf(question));
  if (lack !== undefined || question.wait.kind !== "approval") return lack;
  return selfApproval(parts, principal, question.run);
}

export interface SaidTerms {
  readonly by: string;
  readonly at: number;
  readonly dedupeKey?: string;
}

/** What is said as an input, or a problem when it does not fit the form. */
export function saidTo(question: OpenQuestion, given: Json, terms: SaidTerms): Input {
  const { wait, schema, id, holds } = question;
  const { step } = wait;
  const { by, at, dedupeKey } = terms;
  const said = chosen(schema, given);
  const misfit = misfitOf(schema, said);
  if (misfit !== undefined)
    throw new Problem("bad-request", `the answer to \`${id}\` does not fit: ${misfit}`, {
      extras: { errors: [{ pointer: "", message: misfit }] },
    });
  if (holds === true) return { type: "unpause", at, by };
  const field = (name: string): Json | undefined => get(said, name);
  const keyed = dedupeKey === undefined ? {} : { dedupeKey };
  switch (wait.kind) {
    case "event": {
      const context = field("context");
      const artifacts = field("artifacts");
      return {
        ...{ type: "event", at, by, name: String(field("event")), ...keyed },
        ...(typeof context === "string" && { context }),
        ...(artifacts !== undefined && { artifacts: artifacts as JsonObject }),
      };
    }
    case "message":
      return { type: "message", at, by, text: String(field("text")), ...keyed };
    case "approval":
      return decided(said, { at, by, step, seen: wait.sha256 });
    case "in_doubt": {
      const decision = field("decision");
      if (decision === "retry" || decision === "abort") return { type: decision, at, step, by };
      return { type: "answer", at, step, by, outcome: { ok: true, value: field("result") ?? null } };
    }
    case "answer":
      return { type: "answer", at, step, by, outcome: { ok: true, value: said } };
  }
}

/** One of the choices however it is written, as the tools that give choices read it; yes and no are two. */
function chosen(schema: JsonObject, said: Json): Json {
  const choices = schema["type"] === "boolean" ? [true, false] : schema["enum"];
  if (typeof said !== "string" || !Array.isArray(choices)) return said;
  const word = said.trim().toLowerCase();
  const alike = (choices as readonly Json[]).filter((one) => shown(one).toLowerCase() === word);
  return (choices as readonly Json[]).includes(said) || alike.length !== 1 ? said : (alike[0] ?? null);
}

const shown = (choice: Json): string => (typeof choice === "string" ? choice : JSON.stringify(choice));

interface ApprovalPlace {
  readonly at: number;
  readonly by: string;
  readonly step: number;
  readonly seen: string | undefined;
}

function decided(said: Json, { at, by, step, seen }: ApprovalPlace): Input {
  const decision = get(said, "decision");
  const reason = get(said, "reason");
  if (decision === "reject")
    return { type: "reject", at, by, step, reason: typeof reason === "string" ? reason : "" };
  const value = get(said, "value");
  if ((decision === "edit") !== (value !== undefined))
    throw new Problem("bad-request", "`value` holds the other arguments of an `edit`, and of nothing else");
  const pinned = get(said, "sha256") ?? seen;
  return {
    ...{ type: "approve", at, by, step },
    ...(typeof pinned === "string" && { sha256: pinned }),
    ...(value !== undefined && { edit: value }),
  };
}

/** The form may come from a server elsewhere: one that cannot be understood holds nobody up. */
function misfitOf(schema: JsonObject, said: Json): string | undefined {
  try {
    const { valid, errors } = new Validator(schema, "2020-12", false).validate(said);
    return valid ? undefined : (errors.at(-1)?.error ?? "it does not fit its schema");
  } catch {
    return undefined;
  }
}

export type SaidAnswer =
  | { readonly kind: "taken" }
  /** The question was answered before, or is asked no more (S50). */
  | { readonly kind: "closed" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** A run that moves all the time is not waited for. */
const ATTEMPTS = 5;

/**
 * Commits it at the very turn that was looked at: the same event may be asked for again later. A run that
 * moved on and still asks the same is looked at again.
 */
export async function sayAnswer(
  parts: ServerParts,
  question: OpenQuestion,
  says: Input,
): Promise<SaidAnswer> {
  const { engine, store, worlds } = parts;
  const { run, wait } = question;
  await worlds.learn(store, run);
  let { turn: ifTurn } = question;
  for (let attempt = 1; ; attempt++) {
    const submitted = await engine.submit(run, says, { ifTurn });
    if (submitted.kind === "done") return { kind: "taken" };
    if (submitted.kind === "ignored") return { kind: "closed" };
    const { refusal } = submitted;
    if (refusal.code !== "precondition-failed" || attempt === ATTEMPTS) return { kind: "refused", refusal };
    const { summary } = await seenRun(parts, run);
    if (!summary.waiting_for.some(({ step }) => step === wait.step)) return { kind: "closed" };
    ifTurn = summary.turns;
  }
}
