// What a run wants of somebody outside, the wants of its agents included, each with the form of what may be
// said to it. Protocols that bring people or programs to a run ask from this list, so all offer the same.

import { get, isObject, type Json, type JsonObject, put } from "../base/json.ts";
import type { Parent } from "../core/facts.ts";
import { missingKey } from "../core/missing-key.ts";
import type { Program } from "../core/program.ts";
import type { WaitingFor } from "../core/summary.ts";
import type { Scope } from "./scope.ts";
import { type SeenRun, seenRun } from "./seen-run.ts";
import type { ServerParts } from "./server-parts.ts";

export interface OpenQuestion {
  /** The step, after the steps of the agents that lead to it: `7`, or `3/7` in the run of step 3's agent. */
  readonly id: string;
  /** The run that waits, its turn when it was looked at, and where it stands. */
  readonly run: string;
  readonly turn: number;
  readonly state: string | null;
  /** Who called it, where it is the run of an agent. */
  readonly parent: Parent | null;
  readonly wait: WaitingFor;
  /** For people: what is asked. */
  readonly text: string;
  /** JSON Schema of what may be said. */
  readonly schema: JsonObject;
  /** It is held for want of a key: to answer is to let it go. */
  readonly holds?: true;
}

export async function openQuestions(parts: ServerParts, seen: SeenRun): Promise<readonly OpenQuestion[]> {
  const { run, turns: turn, state, parent, waiting_for: waits } = seen.summary;
  const found: OpenQuestion[] = [];
  // What is held asks nobody: an answer would change nothing before it is let go.
  if (seen.summary.held !== null) return keyQuestion(seen);
  for (const wait of waits) {
    if (wait.run !== undefined && wait.kind === "answer") {
      // A fork of a run that waits for an agent calls its own, which may not be there yet.
      const isThere = (await parts.store.record(wait.run)) !== undefined;
      const inner = isThere ? await openQuestions(parts, await seenRun(parts, wait.run)) : [];
      found.push(...inner.map((one) => ({ ...one, id: `${wait.step}/${one.id}` })));
    } else if (wait.kind !== "answer" || wait.question !== undefined) {
      const program = await parts.engine.program(seen.run.digest);
      const schema = schemaOf(wait, artifactsAt(program, state));
      found.push({ id: String(wait.step), run, turn, state, parent, wait, text: textOf(wait), schema });
    }
  }
  return found;
}

/** A run that lacks a key waits for somebody who gives it one. Keys themselves never go through a run. */
function keyQuestion({ run: held, summary }: SeenRun): readonly OpenQuestion[] {
  const lack = missingKey(held);
  const step = Number(Object.entries(held.open).find(([, { ask }]) => ask.kind === "model")?.[0] ?? 0);
  if (lack === undefined || held.final !== null) return [];
  const text = `${lack}\ndo that where packloop runs, write no secret here, then answer true`;
  const schema = { type: "boolean", const: true };
  const wait: WaitingFor = { step, kind: "answer", question: { text, schema, auth: true } };
  const { run, turns: turn, state, parent } = summary;
  return [{ id: String(step), run, turn, state, parent, wait, text, schema, holds: true }];
}

/** Somebody has to see to access, here or elsewhere, before it goes on. */
export const needsAuth = ({ wait }: OpenQuestion): boolean => get(wait.question ?? null, "auth") === true;

/** What is needed to answer it. */
export const scopeOf = ({ wait }: OpenQuestion): Scope =>
  wait.kind === "approval" ? "approvals:decide" : "events:send";

function textOf({ kind, events = [], tool = "", args = null, question = null }: WaitingFor): string {
  switch (kind) {
    case "event":
      return `one of these events: ${events.join(", ")}`;
    case "message":
      return "a message";
    case "approval":
      return `may \`${tool}\` be called with ${JSON.stringify(args)}?`;
    case "in_doubt":
      return `\`${tool}\` was called with ${JSON.stringify(args)} and its end is unknown: retry, supply the result, or abort?`;
    case "answer": {
      const [asked, problem] = [get(question, "text"), get(question, "problem")];
      const wanted = typeof asked === "string" ? asked : `an answer for \`${tool}\``;
      return typeof problem === "string" ? `${wanted}\n${problem}` : wanted;
    }
  }
}

const text = (title: string): JsonObject => ({ type: "string", title });
const choice = (title: string, values: readonly string[]): JsonObject => ({ title, enum: [...values] });

const MESSAGE = form({ text: { ...text("What to say"), minLength: 1 } }, ["text"]);
const APPROVAL = form(
  {
    decision: choice("What to do with the call", ["approve", "edit", "reject"]),
    value: { title: "With edit: the other arguments" },
    reason: text("With reject: why"),
    sha256: text("Of the arguments that were read"),
  },
  ["decision"],
);
const IN_DOUBT = form(
  {
    decision: choice("What to do about it", ["retry", "result", "abort"]),
    result: { title: "With result: what the call gave" },
  },
  ["decision"],
);

function schemaOf({ kind, events = [], question = null }: WaitingFor, artifacts: JsonObject): JsonObject {
  switch (kind) {
    case "event": {
      const event = choice("Which event to send", events);
      return form({ event, context: text("What the next state is told"), artifacts }, ["event"]);
    }
    case "message":
      return MESSAGE;
    case "approval":
      return APPROVAL;
    case "in_doubt":
      return IN_DOUBT;
    case "answer": {
      const [choices, schema] = [get(question, "choices"), get(question, "schema")];
      if (Array.isArray(choices)) return { enum: choices as readonly Json[] };
      return isObject(schema) ? schema : {};
    }
  }
}

function form(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", additionalProperties: false, properties, required: [...required] };
}

/** Artifacts of the state are named; others of the workflow may be given as well (S32). */
function artifactsAt({ workflow }: Program, state: string | null): JsonObject {
  const known = workflow !== null && state !== null && Object.hasOwn(workflow.states, state);
  const properties: Record<string, Json> = {};
  for (const [name, spec] of Object.entries(known ? (workflow.states[state]?.artifacts ?? {}) : {})) {
    const { type, description } = spec;
    put(properties, name, { contentMediaType: type, ...(description !== "" && { description }) });
  }
  return { type: "object", ...(Object.keys(properties).length > 0 && { properties }) };
}
