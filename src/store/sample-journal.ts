// Journals for tests of stores: made of every kind of fact by a seeded chance, with texts that break careless
// code. They fold; beyond that they tell no sensible story.

import type { Json } from "../base/json.ts";
import { applyTurn } from "../core/apply.ts";
import { type Ask, FACTS_VERSION, type Fact, type TurnRow } from "../core/facts.ts";
import { emptyRun, type Run } from "../core/run.ts";
import type { RunCreation } from "../engine/ports.ts";

export interface SampleTurn {
  readonly row: TurnRow;
  readonly after: Run;
}

export const sampleCreation: RunCreation = {
  digest: "digest-of-a-pack",
  packId: "sample",
  packVersion: "1.0.0",
  setup: { script: "sample.yaml", ["__proto__"]: { nested: true } },
};

export const HOSTILE: readonly string[] = [
  "",
  "\u0000",
  "\u0001\u001f",
  "\ud800",
  "\udc00\ud800",
  '\u0001"\\ud800"',
  "__proto__",
  "constructor",
  "toString",
  "'; DROP TABLE turn; --",
  '{"type":"answered","step":',
  "\u{1f600}\u202e\u2028\ufeff\ufffd",
  "Ä\u0308\r\n\t%s",
];

/** Numbers from 0 up to 1, always the same for a seed. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A journal of `turns` turns that never ends. Every fourth word is hostile. */
export function sampleJournal(seed: number, turns: number): readonly SampleTurn[] {
  const random = chance(seed);
  const journal: SampleTurn[] = [];
  let run = emptyRun;
  for (let turn = 1; turn <= turns; turn++) {
    const facts = turn === 1 ? startingFacts(random) : nextFacts(run, random);
    const row: TurnRow = { turn, at: 1_700_000_000_000 + turn * 250, v: FACTS_VERSION, facts };
    run = applyTurn(run, row);
    journal.push({ row, after: run });
  }
  return journal;
}

function word(random: () => number): string {
  if (random() < 0.25) return HOSTILE[Math.floor(random() * HOSTILE.length)] as string;
  return `word-${Math.floor(random() * 5)}`;
}

const text = (random: () => number): string =>
  Array.from({ length: 1 + Math.floor(random() * 12) }, () => word(random)).join(" ");

function value(random: () => number): Json {
  const kind = Math.floor(random() * 4);
  if (kind === 0) return text(random);
  if (kind === 1) return [random(), null, word(random)];
  if (kind === 2) return Object.fromEntries([[word(random), { [word(random)]: text(random) }]]);
  return Math.floor(random() * 1e9);
}

function startingFacts(random: () => number): Fact[] {
  return [
    {
      type: "started",
      digest: sampleCreation.digest,
      mode: "autonomous",
      state: null,
      prompt: "p",
      variables: Object.fromEntries([[word(random), value(random)]]),
      input: text(random),
      limits: {
        visits: 10,
        toolCalls: null,
        wallMs: null,
        modelCalls: null,
        inputTokens: null,
        outputTokens: null,
        costUsd: null,
      },
      parent: null,
      wallClock: "total",
      gated: [],
    },
    entered(random, emptyRun),
    { type: "asked", step: 1, ask: { kind: "model", round: 1, nth: 0, tools: true } },
    { type: "asked", step: 2, ask: { kind: "timer", due: 1_800_000_000_000 } },
  ];
}

function entered(random: () => number, run: Run): Fact {
  const state = word(random);
  return {
    type: "entered",
    state,
    visit: ((Object.hasOwn(run.visits, state) ? run.visits[state] : 0) as number) + 1,
    prompt: word(random),
    cause: {
      kind: "event",
      from: run.state ?? "",
      event: word(random),
      ...(random() < 0.3 && { by: word(random) }),
    },
    fresh: random() < 0.02,
    context: random() < 0.5 ? "" : text(random),
  };
}

/** Closes one open ask with its consequences and opens the next, so that one is always open. */
function nextFacts(run: Run, random: () => number): Fact[] {
  const steps = Object.keys(run.open).map(Number);
  const step = steps[Math.floor(random() * steps.length)] as number;
  const held = run.open[step]?.hold;
  const kind = run.open[step]?.ask.kind;
  if ((kind === "tool" || kind === "model") && random() < 0.1) {
    return [
      { type: "noted", what: held === null ? (random() < 0.5 ? "in_doubt" : "deferred") : "retried", step },
    ];
  }
  const facts: Fact[] = [answer(step, kind === "model", random)];
  if (random() < 0.7) facts.push(wrote(step, random));
  if (random() < 0.2)
    facts.push({ type: "noted", what: "dedupe", key: word(random) + Math.floor(random() * 20) });
  if (random() < 0.2) facts.push({ type: "noted", what: "message", text: text(random), by: word(random) });
  if (random() < 0.2) facts.push({ type: "noted", what: "scheduled", event: word(random), context: "" });
  if (random() < 0.4) facts.push(entered(random, run));
  facts.push({ type: "asked", step: run.step + 1, ask: nextAsk(random, run) });
  return facts;
}

function answer(step: number, byModel: boolean, random: () => number): Fact {
  const calls = [{ id: word(random), tool: word(random), args: value(random) }];
  const usage = { inputTokens: Math.floor(random() * 500), outputTokens: 7, costUsd: random() / 100 };
  if (byModel)
    return { type: "answered", step, outcome: { ok: true, value: { text: text(random), calls, usage } } };
  if (random() < 0.3)
    return { type: "answered", step, outcome: { ok: false, code: "failed", message: text(random) } };
  return { type: "answered", step, outcome: { ok: true, value: value(random) }, by: word(random) };
}

function wrote(step: number, random: () => number): Fact {
  const append = random() < 0.6;
  const json = append && random() < 0.5;
  const artifact = append ? `log-${json}-${Math.floor(random() * 2)}` : word(random);
  const content = json ? value(random) : text(random);
  const mode = append ? "append" : "replace";
  return { type: "wrote", artifact, mode, json, value: content, source: { kind: "model", step } };
}

function nextAsk(random: () => number, run: Run): Ask {
  const kind = random();
  if (kind < 0.5) return { kind: "model", round: 1, nth: run.used.modelCalls, tools: true };
  if (kind < 0.8)
    return { kind: "tool", call: word(random), tool: word(random), args: value(random), nth: 0 };
  if (kind < 0.9) return { kind: "event", allow: [word(random)] };
  return { kind: "timer", due: 1_700_000_000_000 + Math.floor(random() * 1e9) };
}
