// A run as a test of its pack: what models, tools and people said becomes a script, and where it led becomes
// what is expected. The text is a file for `packloop test`. What a test cannot play again is refused, with the
// reason.

import { deepEqual, get, type Json, type JsonObject, put } from "../base/json.ts";
import { applyTurn } from "./apply.ts";
import type { Ask, Fact, ModelReply, Outcome, Started, TurnRow, Usage } from "./facts.ts";
import type { Input } from "./input.ts";
import type { Program } from "./program.ts";
import { type Recorded, recordedInput } from "./recorded-input.ts";
import { SET_ARTIFACT, TRANSITION } from "./reserved.ts";
import { emptyRun, hasOwnWork, type Run, statusOf } from "./run.ts";
import { artifactsOf, limitsOf } from "./summary.ts";

export interface TestedRun {
  readonly id: string;
  readonly program: Program;
  readonly rows: readonly TurnRow[];
  /** The pack's file, as the test shall name it. */
  readonly pack: string;
}

export type ExportedTest =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

/** The file's usual name; tests are found by its ending. */
export const testFileName = (run: string): string => `${run.replaceAll(/[^\w-]/g, "_")}.test.json`;

export function exportedTest({ id, program, rows, pack }: TestedRun): ExportedTest {
  const player = new Recording(program);
  for (const row of rows) {
    const why = player.take(row);
    if (why !== undefined) return { ok: false, why };
  }
  const why = player.refusal();
  if (why !== undefined) return { ok: false, why };
  return { ok: true, text: `${JSON.stringify({ pack, tests: [player.test(`as ${id} went`)] }, null, 2)}\n` };
}

interface Entry {
  readonly list: "states" | "prompts" | "tools";
  readonly name: string;
  /** Stays as it is where a call was never answered. */
  entry: JsonObject;
}

class Recording {
  readonly #program: Program;
  #run: Run = emptyRun;
  #started: Started | undefined;
  /** In the order they were asked, which is the order in which a script is read. */
  readonly #entries = new Map<number, Entry>();
  readonly #people: JsonObject[] = [];
  readonly #path: string[] = [];

  constructor(program: Program) {
    this.#program = program;
  }

  /** Why it cannot be played again, if it cannot. */
  take(row: TurnRow): string | undefined {
    const recorded = recordedInput(this.#program, this.#run, row);
    const why = recorded === undefined ? undefined : this.#say(recorded);
    const before = this.#run;
    this.#run = applyTurn(before, row);
    for (const fact of row.facts) this.#note(fact);
    return why;
  }

  refusal(): string | undefined {
    const { reason } = this.#run;
    if (this.#started === undefined) return "it has not begun";
    if (statusOf(this.#run) === "running") return "it is at work (try again when it waits or has ended)";
    if (reason?.limit === "max_wall_time_sec") return "time ended it, and a test has another";
    return undefined;
  }

  test(name: string): JsonObject {
    const { variables, input, mode, prompt, gated, limits } = this.#started as Started;
    const run = this.#run;
    const budgets = tighter(limitsOf(limits), this.#program);
    const status = statusOf(run);
    return {
      name,
      ...(Object.keys(variables).length > 0 && { variables }),
      ...(input !== "" && { input }),
      ...(mode !== "autonomous" && { mode }),
      ...(this.#path.length === 0 && { prompt }),
      ...(Object.keys(budgets).length > 0 && { budgets }),
      ...(gated.length > 0 && { approvals: gated }),
      script: this.#script(),
      ...(this.#people.length > 0 && { people: this.#people }),
      expect: {
        status,
        ...(run.reason?.limit !== undefined && { reason: { limit: run.reason.limit } }),
        ...(this.#path.length > 0 && { path: this.#path }),
        ...(run.final === "completed" && { output: { equals: run.lastText } }),
        artifacts: Object.fromEntries(
          Object.entries(artifactsOf(run)).map(([key, value]) => [key, { equals: value }]),
        ),
      },
    };
  }

  #script(): JsonObject {
    const script: Record<Entry["list"], Record<string, JsonObject[]>> = {
      states: {},
      prompts: {},
      tools: {},
    };
    const steps = [...this.#entries].toSorted(([a], [b]) => a - b);
    for (const [, { list, name, entry }] of steps) {
      const known = Object.hasOwn(script[list], name) ? script[list][name] : undefined;
      if (known === undefined) put(script[list], name, [entry]);
      else known.push(entry);
    }
    return Object.fromEntries(Object.entries(script).filter(([, lists]) => Object.keys(lists).length > 0));
  }

  #note(fact: Fact): void {
    if (fact.type === "started") this.#started = fact;
    if (fact.type === "entered") this.#path.push(fact.state);
    if (fact.type === "asked") this.#asked(fact.step, fact.ask);
  }

  #asked(step: number, ask: Ask): void {
    const { state } = this.#run;
    if (ask.kind === "model")
      this.#entries.set(step, {
        ...(state === null ? { list: "prompts", name: this.#run.prompt } : { list: "states", name: state }),
        entry: { text: "" },
      });
    if (ask.kind === "tool")
      this.#entries.set(step, { list: "tools", name: ask.tool, entry: { error: "it was never answered" } });
  }

  #say(recorded: Recorded): string | undefined {
    if (recorded.kind === "input") return this.#input(recorded.input);
    const { artifacts, variables, pack, answers, event } = recorded.input;
    if (Object.keys(artifacts).length > 0 || !deepEqual(variables, this.#run.variables) || pack !== undefined)
      return "it was forked with edits, which no test can make";
    for (const { step, outcome } of answers) this.#answer(step, outcome);
    if (event !== undefined) this.#people.push({ send: event, by: "fork" });
    return undefined;
  }

  #input(input: Input): string | undefined {
    switch (input.type) {
      case "start":
        return this.#start(input.state ?? null, input.parent !== undefined);
      case "answer":
        return this.#answer(input.step, input.outcome);
      case "event": {
        const { name, by, context, artifacts = {} } = input;
        const written = Object.keys(artifacts).length === 0 ? {} : { artifacts };
        this.#people.push({ send: name, by, ...(context !== undefined && { context }), ...written });
        return undefined;
      }
      case "message":
        this.#people.push({ say: input.text, by: input.by });
        return undefined;
      case "approve":
        this.#people.push({ approve: this.#toolOf(input.step), by: input.by, ...edited(input.edit) });
        return undefined;
      case "reject":
        this.#people.push({ reject: this.#toolOf(input.step), by: input.by, reason: input.reason });
        return undefined;
      case "cancel":
        if (hasOwnWork(this.#run)) return "it was cancelled while it was at work";
        this.#people.push({ cancel: input.reason === "" ? "cancelled" : input.reason, by: input.by });
        return undefined;
      case "abort":
      case "fail":
        return "somebody ended it from outside";
      default:
        // What only says how a call stands is in its answer.
        return undefined;
    }
  }

  #start(state: string | null, isCalled: boolean): string | undefined {
    const { workflow } = this.#program;
    if (isCalled) return "it is the run of an agent (export the run that called it)";
    if (state !== null && workflow !== undefined && workflow !== null && state !== workflow.entry)
      return `it began at \`${state}\`, and tests begin at the entry`;
    return undefined;
  }

  #answer(step: number, outcome: Outcome): string | undefined {
    const ask = this.#run.open[step]?.ask;
    if (ask?.kind === "agent") return "it called agents, whose answers a script cannot tell apart";
    const entry = this.#entries.get(step);
    if (entry === undefined) return undefined;
    if (ask?.kind === "model")
      entry.entry = outcome.ok
        ? scriptedReply(outcome.value as unknown as ModelReply)
        : { fail: { status: 400, message: outcome.message } };
    else entry.entry = outcome.ok ? { ok: outcome.value } : { error: outcome.message };
    return undefined;
  }

  #toolOf(step: number): string {
    const ask = this.#run.open[step]?.ask;
    return ask?.kind === "approval" ? ask.tool : "";
  }
}

const edited = (edit: Json | undefined): JsonObject => (edit === undefined ? {} : { edit });

/** In the short forms of a script where they say the same. */
function scriptedReply({ text, calls, usage }: ModelReply): JsonObject {
  const said = { ...(text !== "" && { text }), ...usedIn(usage) };
  const written: Record<string, Json> = {};
  const plain: JsonObject[] = [];
  let end: JsonObject = {};
  for (const { tool, args } of calls) {
    const name = get(args, "name");
    const isLate = Object.keys(end).length > 0;
    if (tool === TRANSITION && !isLate && isTransition(args)) end = args;
    else if (tool === SET_ARTIFACT && !isLate && typeof name === "string" && !Object.hasOwn(written, name))
      put(written, name, get(args, "value") ?? null);
    else if (isLate || tool === TRANSITION || Object.keys(written).length > 0)
      return { ...said, calls: calls.map((call) => ({ tool: call.tool, args: call.args })) };
    else plain.push({ tool, args });
  }
  return {
    ...said,
    ...(plain.length > 0 && { calls: plain }),
    ...(Object.keys(written).length > 0 && { artifacts: written }),
    ...end,
  };
}

function isTransition(args: Json): args is JsonObject {
  const [event, context] = [get(args, "event"), get(args, "context")];
  const known = context === undefined ? 1 : 2;
  return (
    typeof event === "string" &&
    (context === undefined || typeof context === "string") &&
    Object.keys(args as JsonObject).length === known
  );
}

function usedIn({ inputTokens, outputTokens, costUsd }: Usage): JsonObject {
  if (inputTokens === 0 && outputTokens === 0 && costUsd === 0) return {};
  return { usage: { input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd } };
}

/** Limits that the run was given beside those of its pack; time is left out, which no test measures. */
function tighter(limits: JsonObject, program: Program): JsonObject {
  const budget = program.workflow?.budget;
  const own: Readonly<Record<string, number | null | undefined>> = {
    max_total_visits: budget?.visitsMax,
    max_tool_calls: budget?.toolCallsMax,
    max_model_calls: budget?.modelCallsMax,
    max_input_tokens: budget?.inputTokensMax,
    max_output_tokens: budget?.outputTokensMax,
    max_cost_usd: budget?.costUsdMax,
  };
  const given = Object.entries(limits).filter(
    ([name, limit]) => Object.hasOwn(own, name) && own[name] !== limit,
  );
  return Object.fromEntries(given);
}
