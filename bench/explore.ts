// How long the bound of a large workflow takes, and how much memory: exploration near its limit, and packs of
// 2,000 states of several kinds. Run with `npx node bench/explore.ts`; a word chooses the cases that hold it.

import { type Flow, flowOf } from "../src/core/flow.ts";
import type { Program } from "../src/core/program.ts";
import { analyse } from "../src/pack/flow/analysis.ts";
import { boundOf } from "../src/pack/flow/bound.ts";
import { programOf, randomFrom, type SmallPack, type SmallState } from "../test/flow/small-pack.ts";

const STATES = 2_000;

interface Case {
  readonly name: string;
  readonly make: () => SmallPack;
}

const cases: readonly Case[] = [
  { name: "6 guarded states, all connected", make: () => connected([7, 7, 7, 7, 6, 6]) },
  { name: "the same, past the limit", make: () => connected([9, 9, 9, 9, 9, 9]) },
  { name: "chain", make: () => ring({ closed: false, guardEvery: 0, max: 1 }) },
  { name: "unguarded ring", make: () => ring({ closed: true, guardEvery: 0, max: 1 }) },
  {
    name: "unguarded ring, budget 1,000",
    make: () => ({ ...ring({ closed: true, guardEvery: 0, max: 1 }), visitsMax: 1_000 }),
  },
  { name: "ring, one guard", make: () => ring({ closed: true, guardEvery: STATES, max: 10 }) },
  { name: "ring, 20 guards", make: () => ring({ closed: true, guardEvery: 100, max: 3 }) },
  { name: "ring, all guarded", make: () => ring({ closed: true, guardEvery: 1, max: 3 }) },
  { name: "dense, unguarded", make: () => dense({ guarded: 0, events: 20 }) },
  {
    name: "dense, unguarded, budget 500",
    make: () => ({ ...dense({ guarded: 0, events: 20 }), visitsMax: 500 }),
  },
  { name: "dense, half guarded", make: () => dense({ guarded: 0.5, events: 20 }) },
  { name: "many small loops, not decided", make: () => undecided() },
  { name: "dense, all guarded", make: () => dense({ guarded: 1, events: 20 }) },
];

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`.padStart(7);

interface Measured {
  readonly ms: number;
  readonly text: string;
}

function measure(program: Program, flow: Flow): Measured {
  const used = process.cpuUsage();
  const start = performance.now();
  const analysis = analyse(flow, flow.entry);
  const explored = performance.now();
  const bound = boundOf(program, analysis, flow);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(used);
  const share = `cpu ${Math.round((user + system) / 1000)}, analyse ${(explored - start).toFixed(0)}`;
  const { configurations, verdict, exact, visits } = bound;
  return { ms, text: `${share}, ${configurations} configurations, ${verdict}, exact ${exact}, ${visits}` };
}

function packOf(states: readonly SmallState[]): SmallPack {
  const prompt = { name: "p", tools: ["look"], blocked: [], choice: "auto", rounds: 5, calls: 10 } as const;
  return {
    entry: (states[0] as SmallState).name,
    states,
    prompts: [prompt],
    agentStates: [],
    hasArtifact: false,
    nudges: 1,
    visitsMax: null,
    toolCallsMax: null,
    modelCallsMax: null,
    wallTimeSec: null,
  };
}

const done: SmallState = {
  name: "done",
  prompt: 0,
  orchestration: "internal",
  terminal: true,
  events: [],
  max: null,
  fallback: null,
};

function stateOf(name: string, targets: readonly string[], max: number | null): SmallState {
  const events = targets.map((target, i) => [`E${i}`, target] as const);
  return { ...done, name, terminal: false, events, max, fallback: max === null ? null : "done" };
}

function connected(limits: readonly number[]): SmallPack {
  const names = limits.map((_, i) => `s${i}`);
  return packOf([...limits.map((max, i) => stateOf(`s${i}`, names, max)), done]);
}

function ring(with_: { closed: boolean; guardEvery: number; max: number }): SmallPack {
  const states = Array.from({ length: STATES }, (_, i) => {
    const after = i + 1 < STATES ? `s${i + 1}` : with_.closed ? "s0" : "done";
    return stateOf(`s${i}`, [after], with_.guardEvery > 0 && i % with_.guardEvery === 0 ? with_.max : null);
  });
  return packOf([...states, done]);
}

function dense(with_: { guarded: number; events: number }): SmallPack {
  const random = randomFrom(1);
  const states = Array.from({ length: STATES }, (_, i) => {
    const targets = Array.from({ length: with_.events }, () => `s${Math.floor(random() * STATES)}`);
    return stateOf(`s${i}`, targets, random() < with_.guarded ? 2 : null);
  });
  return packOf([...states, done]);
}

/** No guard of a loop is ever full, which only counting shows, and there is too much to count. */
function undecided(): SmallPack {
  const loops = Array.from({ length: STATES / 2 }, (_, i) => i);
  const hub = stateOf(
    "hub",
    loops.map((i) => `g${i}`),
    3,
  );
  const guards = loops.map((i) => ({ ...stateOf(`g${i}`, ["hub"], 3), fallback: `b${i}` }));
  return packOf([hub, ...guards, ...loops.map((i) => stateOf(`b${i}`, [`g${i}`], null)), done]);
}

for (const { name, make } of cases) {
  if (!name.includes(process.argv[2] ?? "")) continue;
  const program = programOf(make());
  const flow = flowOf(program);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const first = measure(program, flow);
  const grown = process.memoryUsage().rss - before;
  const times = [first, measure(program, flow), measure(program, flow)];
  const [best] = times.toSorted((a, b) => a.ms - b.ms) as [Measured];
  const figures = `${best.ms.toFixed(0).padStart(6)} ms ${megabytes(grown)}  first ${first.ms.toFixed(0)} ms`;
  process.stdout.write(`${name.padEnd(36)}${figures}  ${best.text}\n`);
}
