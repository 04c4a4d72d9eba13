// Long runs for measuring the debugger: decided by the rules themselves from made-up answers, so that every
// turn is one that a run could have.

import { must } from "../src/base/assert.ts";
import type { JsonObject } from "../src/base/json.ts";
import { applyTurn } from "../src/core/apply.ts";
import { decide } from "../src/core/decide.ts";
import { FACTS_VERSION, type ModelReply, type Outcome, type TurnRow } from "../src/core/facts.ts";
import type { Input } from "../src/core/input.ts";
import { SET_ARTIFACT, TRANSITION } from "../src/core/reserved.ts";
import { emptyRun, type Run } from "../src/core/run.ts";
import type { Store } from "../src/engine/ports.ts";
import { openPack } from "../src/pack/open-pack.ts";

const source = `id: long
name: Long
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  look: { id: look, name: Look, version: 1.0.0, system_template: "Look. Before: {{artifacts.note}}", tools: [find] }
  think: { id: think, name: Think, version: 1.0.0, system_template: "Think about {{artifacts.note}}." }
tools:
  find: { name: find, description: Finds., parameters: { type: object, properties: { query: { type: string } } } }
workflow:
  version: 2
  entry: look
  engine: { budget: { max_total_visits: 1000000, max_tool_calls: 1000000 } }
  states:
    look: { prompt_task: look, artifacts: { note: { type: text/plain } }, on_event: { Found: think } }
    think: { prompt_task: think, artifacts: { plan: { type: application/json } }, on_event: { More: look, Enough: end } }
    end: { prompt_task: think, terminal: true }
`;

export interface LongRun {
  readonly run: string;
  readonly turns: number;
  /** Characters of what one call in the middle brings. */
  readonly large?: number;
  /** From this turn on it notes something else than other runs do. */
  readonly differsFrom?: number;
}

/** Puts a run of so many turns into the store; the last one cancels it, so that no server goes on with it. */
export async function longRun(store: Store, wanted: LongRun): Promise<void> {
  const { run, turns, large = 0, differsFrom = Number.POSITIVE_INFINITY } = wanted;
  const pack = openPack(source, { file: "long.yaml" });
  if (!pack.ok)
    throw new Error(
      `the pack is wrong: ${pack.diagnostics.find((one) => one.severity === "error")?.message ?? ""}`,
    );
  const { program, digest } = pack;
  const rows: TurnRow[] = [];
  let state: Run = emptyRun;
  let hasLarge = false;
  const at = () => 1_750_000_000_000 + rows.length * 350;
  const take = (input: Input): void => {
    const decision = decide(program, state, input);
    if (decision.kind !== "facts") throw new Error(`turn ${rows.length + 1} was not decided`);
    const row = { turn: rows.length + 1, at: at(), v: FACTS_VERSION, facts: decision.facts };
    rows.push(row);
    state = applyTurn(state, row);
  };
  take({ type: "start", at: at(), digest, mode: "autonomous", variables: {}, input: "Go on." });
  while (rows.length < turns - 1) {
    const [step, open] = must(
      Object.entries(state.open).find(([, { ask }]) => ask.kind !== "timer"),
      "it goes on",
    );
    const isLarge: boolean = open.ask.kind === "tool" && large > 0 && !hasLarge && rows.length > turns / 2;
    hasLarge ||= isLarge;
    const outcome: Outcome = isLarge
      ? { ok: true, value: "All that was found. ".repeat(large / 20) }
      : answerTo(state, open.ask.kind, { turn: rows.length, isOther: rows.length >= differsFrom });
    take({ type: "answer", at: at(), step: Number(step), outcome });
  }
  take({ type: "cancel", at: at(), by: "bench", reason: "" });
  await store.putProgram(digest, program as unknown as JsonObject, source);
  const create = { digest, packId: program.id, packVersion: program.version, setup: {} };
  const journal = JSON.parse(JSON.stringify(rows)) as readonly TurnRow[];
  if (!(await store.take({ run, rows: journal, shared: 0, end: state, create })))
    throw new Error("the run was not taken");
}

/** In every visit of `look` a call, then a note and on; in every visit of `think` a plan and back. */
function answerTo(
  { state, round }: Run,
  kind: string,
  { turn, isOther }: { readonly turn: number; readonly isOther: boolean },
): Outcome {
  if (kind !== "model") return { ok: true, value: { found: `thing ${turn}`, score: turn % 17 } };
  const call = (tool: string, args: JsonObject, nth: number) => ({ id: `c${turn}_${nth}`, tool, args });
  const calls =
    state === "look" && round === 1
      ? [call("find", { query: `what about ${turn}` }, 1)]
      : state === "look"
        ? [
            call(
              SET_ARTIFACT,
              {
                name: "note",
                value: `Found thing ${turn}, which is ${isOther ? "un" : ""}like the one before.`,
              },
              1,
            ),
            call(TRANSITION, { event: "Found" }, 2),
          ]
        : [
            call(SET_ARTIFACT, { name: "plan", value: { next: `look ${turn}`, after: [turn, turn + 1] } }, 1),
            call(TRANSITION, { event: "More" }, 2),
          ];
  const usage = { inputTokens: 900, outputTokens: 80, costUsd: 0.0004 };
  const reply: ModelReply = { text: `Turn ${turn}: I go on.`, calls, usage };
  return { ok: true, value: reply as unknown as JsonObject };
}
