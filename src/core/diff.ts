// Two runs side by side (S54). Visits are aligned by (state, visit), and each is compared by what happened in
// it: what was written, which event left it, what was called and said. A difference is named where it was
// made and not again in every visit after it, so the work is linear in the turns that are compared.

import { deepEqual, type Json, type JsonObject, put } from "../base/json.ts";
import { applyTurn } from "./apply.ts";
import type { Fact, ModelReply, TurnRow } from "./facts.ts";
import { artifactValue, type Run, statusOf } from "./run.ts";

/** What two runs have in common is left out: both begin where they may differ. */
export interface DiffSide {
  readonly start: Run;
  readonly rows: Iterable<TurnRow>;
}

interface Place {
  readonly state: string;
  readonly visit: number;
  /** `visit` when only one run made it, else the part of it that differs: `event`, `artifacts.NAME`, … */
  readonly field: string;
}

export interface Change extends Place {
  readonly a: Json;
  readonly b: Json;
}

export interface Difference {
  readonly same: boolean;
  readonly first_divergence: Place | null;
  readonly changes: readonly Change[];
  /** Values at the end, where they differ; null where there is none. */
  readonly artifacts: Readonly<Record<string, { readonly a: Json; readonly b: Json }>>;
  readonly status: { readonly a: string; readonly b: string };
}

export function diffRuns(a: DiffSide, b: DiffSide): Difference {
  const left = walk(a);
  const right = walk(b);
  const changes = changesOf(left.visits, right.visits);
  const artifacts = finalArtifacts(left.end, right.end);
  const status = { a: statusOf(left.end), b: statusOf(right.end) };
  const [first] = changes;
  return {
    same: first === undefined && Object.keys(artifacts).length === 0 && status.a === status.b,
    first_divergence:
      first === undefined ? null : { state: first.state, visit: first.visit, field: first.field },
    changes,
    artifacts,
    status,
  };
}

interface Visit {
  readonly state: string;
  readonly visit: number;
  /** The turn that entered it, or the last one both runs share. */
  readonly turn: number;
  readonly fields: Map<string, Json>;
}

/** The order in which a visit's differences are named: the way, what was written, how it came to that. */
const WAY = ["from", "redirected_from", "event", "by", "status", "reason"];
const WORK = ["messages", "calls", "text"];

function walk({ start, rows }: DiffSide): { readonly visits: readonly Visit[]; readonly end: Run } {
  const walker = new Walker(start);
  for (const row of rows) walker.take(row);
  return walker;
}

class Walker {
  readonly visits: Visit[] = [];
  end: Run;
  /** Calls of the present visit by step, for their answers. */
  #calls = new Map<number, Record<string, Json>>();

  constructor(start: Run) {
    this.end = start;
    if (start.started) this.#open(placeOf(start), start.turn);
  }

  take(row: TurnRow): void {
    const before = this.end;
    for (const fact of row.facts) this.#note(fact, row, before);
    this.end = applyTurn(before, row);
  }

  get #visit(): Visit | undefined {
    return this.visits.at(-1);
  }

  #open({ state, visit }: { state: string; visit: number }, turn: number): void {
    this.visits.push({ state, visit, turn, fields: new Map() });
    this.#calls = new Map();
  }

  #note(fact: Fact, row: TurnRow, before: Run): void {
    switch (fact.type) {
      case "started":
        // A pack without a workflow has one visit, of its prompt.
        if (fact.prompt !== "") this.#open({ state: fact.prompt, visit: 1 }, row.turn);
        return;
      case "entered": {
        const { cause } = fact;
        if (cause.kind === "event") {
          this.#set("event", cause.event);
          if (cause.by !== undefined) this.#set("by", cause.by);
        }
        this.#open(fact, row.turn);
        if (cause.kind === "event") this.#set("from", cause.from);
        if (cause.kind === "event" && cause.hops !== undefined) this.#set("redirected_from", cause.hops);
        return;
      }
      case "wrote":
        return fact.mode === "append"
          ? this.#add(`artifacts.${fact.artifact}`, fact.value)
          : this.#set(`artifacts.${fact.artifact}`, fact.value);
      case "asked":
        if (fact.ask.kind === "tool" || fact.ask.kind === "agent") {
          const call: Record<string, Json> = { tool: fact.ask.tool, args: fact.ask.args };
          this.#calls.set(fact.step, call);
          this.#add("calls", call);
        }
        return;
      case "answered":
        return this.#answered(fact, before);
      case "noted":
        if (fact.what === "message") this.#add("messages", fact.text);
        return;
      case "finished":
        this.#set("status", fact.status);
        if (fact.reason !== null) this.#set("reason", fact.reason as unknown as JsonObject);
        return;
      case "forked":
        return;
    }
  }

  #answered({ step, outcome }: Extract<Fact, { type: "answered" }>, before: Run): void {
    const called = this.#calls.get(step);
    const kind = before.open[step]?.ask.kind;
    if (called !== undefined) called["outcome"] = outcome as unknown as JsonObject;
    else if (kind === "model" && outcome.ok) {
      const { text } = outcome.value as unknown as ModelReply;
      if (text !== "") this.#set("text", text);
    } else if (kind === "tool" || kind === "agent")
      // Asked before the runs parted.
      this.#add("calls", { step, outcome: outcome as unknown as JsonObject });
  }

  #set(field: string, value: Json): void {
    this.#visit?.fields.set(field, value);
  }

  #add(field: string, value: Json): void {
    const list = this.#visit?.fields.get(field);
    if (Array.isArray(list)) (list as Json[]).push(value);
    else this.#visit?.fields.set(field, [value]);
  }
}

function placeOf(run: Run): { state: string; visit: number } {
  if (run.state === null) return { state: run.prompt, visit: 1 };
  const { state, visits } = run;
  return { state, visit: Object.hasOwn(visits, state) ? (visits[state] as number) : 0 };
}

const keyOf = ({ state, visit }: Visit): string => `${visit} ${state}`;

/**
 * In the order in which a reader of both would meet them; of two at one place the first run's comes first.
 */
function changesOf(a: readonly Visit[], b: readonly Visit[]): readonly Change[] {
  const others = new Map(b.map((visit) => [keyOf(visit), visit]));
  const found: { readonly at: number; readonly changes: readonly Change[] }[] = [];
  for (const [at, visit] of a.entries()) {
    const other = others.get(keyOf(visit));
    others.delete(keyOf(visit));
    const changes = other === undefined ? [alone(visit, "a")] : visitChanges(visit, other);
    if (changes.length > 0) found.push({ at, changes });
  }
  for (const [at, visit] of b.entries())
    if (others.has(keyOf(visit))) found.push({ at, changes: [alone(visit, "b")] });
  return found.toSorted((one, two) => one.at - two.at).flatMap(({ changes }) => changes);
}

function alone({ state, visit, turn }: Visit, side: "a" | "b"): Change {
  return { state, visit, field: "visit", a: side === "a" ? turn : null, b: side === "b" ? turn : null };
}

function visitChanges(a: Visit, b: Visit): readonly Change[] {
  const names = new Set([...a.fields.keys(), ...b.fields.keys()]);
  const written = [...names].filter((name) => name.startsWith("artifacts.")).sort();
  const changes: Change[] = [];
  for (const field of [...WAY, ...written, ...WORK]) {
    const [left, right] = [a.fields.get(field) ?? null, b.fields.get(field) ?? null];
    if (!deepEqual(left, right)) changes.push({ state: a.state, visit: a.visit, field, a: left, b: right });
  }
  return changes;
}

function finalArtifacts(a: Run, b: Run): Difference["artifacts"] {
  const differing: Record<string, { a: Json; b: Json }> = {};
  for (const name of new Set([...Object.keys(a.artifacts), ...Object.keys(b.artifacts)])) {
    const [left, right] = [valueIn(a, name), valueIn(b, name)];
    if (!deepEqual(left, right)) put(differing, name, { a: left, b: right });
  }
  return differing;
}

function valueIn({ artifacts }: Run, name: string): Json {
  const artifact = Object.hasOwn(artifacts, name) ? artifacts[name] : undefined;
  return artifact === undefined ? null : artifactValue(artifact);
}
