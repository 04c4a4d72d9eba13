// The second opinion on compositions: what a journal says of their parts, held against the pack as written.
// Kept apart from the product's own reading, so that a mistake there is not made here, too (S29).

import { canonical, isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import type { Ask, Fact, ModelReply, PartNoted, TurnRow } from "../../src/core/facts.ts";
import type { Program } from "../../src/core/program.ts";
import { claim } from "./claim.ts";
import { stepsIn } from "./expected.ts";

interface Part {
  is: "running" | "done" | "failed" | "skipped";
  attempt: number;
  output: Json;
  /** The last text of its model; without a model, what its tool gave. */
  said: Json;
  models: number;
  tools: number;
}

const NEW: Part = { is: "running", attempt: 0, output: null, said: null, models: 0, tools: 0 };

export class PartBooks {
  #state: string | null = null;
  #steps: readonly JsonObject[] = [];
  #composition: JsonObject = {};
  readonly #parts = new Map<string, Part>();
  readonly #asks = new Map<number, Ask>();
  /** The part that this turn's answer belongs to, and what was said. */
  #answered: { readonly part: string | undefined } | undefined;
  /** Parallel parts that this turn begins another time. */
  #again = new Set<string>();

  turn(program: Program, { facts }: TurnRow): void {
    this.#answered = undefined;
    this.#again = new Set();
    for (const fact of facts) this.#fact(program, fact);
  }

  #fact(program: Program, fact: Fact): void {
    switch (fact.type) {
      case "entered":
        this.#state = fact.state;
        this.#parts.clear();
        return;
      case "asked":
        this.#asks.set(fact.step, fact.ask);
        return this.#asked(fact.ask);
      case "answered":
        return this.#hear(fact.step, fact.outcome.ok ? fact.outcome.value : null);
      case "noted":
        if (fact.what === "composing") return this.#begin(program, fact.composition);
        if (fact.what === "part") return this.#part(fact);
        if (fact.what === "composed") return this.#over(fact.output);
        if (fact.what === "resumed" && fact.input !== undefined) this.#hear(fact.step, fact.input);
        return;
      default:
    }
  }

  #begin(program: Program, name: string): void {
    const spec = program.workflow?.states[this.#state ?? ""];
    claim(spec?.composition === name, "S29: another composition than the state's");
    this.#composition = program.compositions[name] ?? {};
    this.#steps = stepsIn(this.#composition["steps"]);
    this.#parts.clear();
  }

  #hear(step: number, value: Json): void {
    const ask = this.#asks.get(step);
    const part = ask !== undefined && "part" in ask ? ask.part : undefined;
    this.#answered = { part };
    const heard = this.#parts.get(part ?? "");
    if (heard === undefined) return;
    if (ask?.kind === "model" && isObject(value)) heard.said = (value as unknown as ModelReply).text;
    else if (this.#step(part ?? "")["kind"] === "tool") heard.said = value;
  }

  #asked(ask: Ask): void {
    if (!("part" in ask) || ask.part === undefined) return;
    const part = this.#parts.get(ask.part);
    claim(part?.is === "running", `a part asks that does not run: ${ask.part}`);
    const kind = this.#step(ask.part)["kind"];
    if (ask.kind === "model") {
      part.models++;
      claim(kind === "prompt" || kind === "agent", "a part without a prompt asks a model");
      claim(kind === "agent" || part.models === 1, "a prompt asks more than once in one attempt");
    } else if (ask.kind !== "approval") {
      part.tools++;
      claim(kind === "tool" || kind === "agent", "a part without tools calls one");
      claim(kind === "agent" || part.tools === 1, "a tool is called more than once in one attempt");
    }
  }

  #step(id: string): JsonObject {
    const step = this.#steps.find((one) => one["id"] === id);
    claim(step !== undefined, `no step ${id}`);
    return step;
  }

  #part(fact: PartNoted): void {
    const step = this.#step(fact.part);
    const before = this.#parts.get(fact.part);
    const part = before ?? NEW;
    if (fact.is === "begun") this.#begun(step, before, fact.attempt);
    if (fact.is === "skipped")
      claim(before === undefined && this.#isSkipped(step), "S29: skipped for no reason");
    if (fact.is === "done") this.#done(step, fact.output);
    if (fact.is === "failed") this.#failed(step, before, fact.code);
    const output = fact.is === "done" ? (fact.output ?? part.said) : null;
    if (fact.is === "begun") this.#parts.set(fact.part, { ...NEW, attempt: fact.attempt });
    else this.#parts.set(fact.part, { ...part, is: fact.is, output });
  }

  #begun(step: JsonObject, before: Part | undefined, attempt: number): void {
    const id = String(step["id"]);
    const parent = this.#parentOf(id);
    const most = Number(at(step["modifiers"], "retry", "max_attempts") ?? 1);
    claim(attempt <= most, `S29: attempt ${attempt} of ${most} at ${id}`);
    if (before?.is === "failed")
      claim(parent !== undefined && this.#again.has(parent), "a failed part runs again");
    else claim(attempt === (before?.attempt ?? 0) + 1, `attempt ${attempt} after ${before?.attempt ?? 0}`);
    claim(before?.is !== "done" && before?.is !== "skipped", `S45: ${id} runs twice`);
    if (before !== undefined && step["kind"] === "parallel") this.#again.add(id);
    if (before !== undefined) return;
    claim(!this.#isSkipped(step), `S29: ${id} runs although it is to be skipped`);
    claim(
      this.#waitsFor(step).every((one) => this.#isSettled(one)),
      `S29: ${id} runs too early`,
    );
    if (parent !== undefined) claim(this.#parts.get(parent)?.is === "running", "a branch runs alone");
    else claim(!this.#top().some((one) => this.#parts.get(one)?.is === "running"), "two steps run at once");
  }

  #done(step: JsonObject, output: Json | undefined): void {
    const id = String(step["id"]);
    if (step["kind"] === "branch") return;
    if (step["kind"] === "parallel") {
      const said = canonical(output ?? null);
      claim(said === canonical(this.#merged(step)), `S29: ${id} merges to ${said}`);
      return;
    }
    claim(this.#answered?.part === id, `${id} is done by the answer to ${this.#answered?.part ?? "nobody"}`);
    if (step["output_schema"] === undefined && output !== undefined)
      claim(step["termination"] !== undefined, "an output that nobody said");
  }

  #failed(step: JsonObject, before: Part | undefined, code: string): void {
    const most = Number(at(step["modifiers"], "retry", "max_attempts") ?? 1);
    const lasting = ["unresolved", "bad_predicate", "bad_arguments", "guarded", "rejected"].includes(code);
    claim(
      lasting || before?.attempt === most,
      `S29: given up after ${before?.attempt ?? 0} of ${most} attempts`,
    );
    if (step["kind"] !== "parallel") return;
    const inner = stepsOf(step).map((one) => this.#parts.get(String(one["id"]))?.is);
    claim(!inner.includes("running"), "a parallel step fails before its branches are through");
    claim(inner.includes("failed"), "a parallel step fails without a failed branch");
  }

  #merged(step: JsonObject): Json {
    const done = stepsOf(step).flatMap((one) => {
      const part = this.#parts.get(String(one["id"]));
      return part?.is === "done" ? [{ id: String(one["id"]), output: part.output }] : [];
    });
    const into = String(at(step["reduce"], "into"));
    const strategy = at(step["reduce"], "strategy");
    if (strategy === "append")
      return {
        [into]: done.flatMap(({ output }) => (Array.isArray(output) ? (output as Json[]) : [output])),
      };
    if (strategy === "replace") return { [into]: done.at(-1)?.output ?? null };
    return { [into]: Object.fromEntries(done.map(({ id, output }) => [id, output])) };
  }

  #isSkipped(step: JsonObject): boolean {
    const id = String(step["id"]);
    const parent = this.#parentOf(id);
    if (parent !== undefined && this.#parts.get(parent)?.is === "skipped") return true;
    const leading = this.#branchesTo(id);
    const isTaken = leading.some((one) => {
      const part = this.#parts.get(String(one["id"]));
      return part?.is === "done" && (part.output === true ? one["then"] : one["else"]) === id;
    });
    if (leading.length > 0 && !isTaken) return true;
    const needed = step["depends_on"] as readonly string[] | undefined;
    if (needed !== undefined && needed.length > 0)
      return needed.every((one) => this.#parts.get(one)?.is === "skipped");
    const top = this.#top();
    const previous = top[top.indexOf(id) - 1];
    const behind = previous === undefined ? undefined : this.#step(previous);
    const both = behind?.["kind"] === "branch" && behind["else"] !== undefined;
    return !isTaken && both && this.#parts.get(previous ?? "")?.is === "done";
  }

  #waitsFor(step: JsonObject): readonly string[] {
    const id = String(step["id"]);
    const needed = (step["depends_on"] ?? []) as readonly string[];
    const top = this.#top();
    const previous = needed.length === 0 ? top[top.indexOf(id) - 1] : undefined;
    const leading = this.#branchesTo(id).map((one) => String(one["id"]));
    return [...needed, ...leading, ...(previous === undefined ? [] : [previous])];
  }

  #over(output: Json): void {
    claim(
      this.#top().every((id) => this.#isSettled(id)),
      "S29: over before every step is settled",
    );
    const named = this.#composition["output"];
    const last = this.#top().findLast((id) => this.#parts.get(id)?.is === "done");
    const part = this.#parts.get(typeof named === "string" ? named : (last ?? ""));
    claim(canonical(part?.output ?? null) === canonical(output), "S29: another output than the last step's");
  }

  #isSettled(id: string): boolean {
    const is = this.#parts.get(id)?.is;
    return is === "done" || is === "skipped";
  }

  #top(): readonly string[] {
    return (this.#composition["steps"] as readonly JsonObject[]).map((step) => String(step["id"]));
  }

  #branchesTo(id: string): readonly JsonObject[] {
    return this.#steps.filter((one) => one["kind"] === "branch" && [one["then"], one["else"]].includes(id));
  }

  #parentOf(id: string): string | undefined {
    const parent = this.#steps.find((one) => stepsOf(one).some((inner) => inner["id"] === id));
    return parent === undefined ? undefined : String(parent["id"]);
  }
}

const stepsOf = (step: JsonObject): readonly JsonObject[] =>
  (step["branches"] ?? []) as readonly JsonObject[];

function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  return found;
}
