// P10: what the engine itself adds to a round with a model: no store, 20 pieces of text streamed.

import type { Figure } from "./figure.ts";
import { LoopModel, loopEngine } from "./loop.ts";
import { interleaved, median, quickest } from "./measure.ts";
import { voidStore } from "./void-store.ts";

const DELTAS = 20;
const STEPS = 500;

export async function rounds(): Promise<readonly Figure[]> {
  await using loop = loopEngine(voidStore(), "replace", new LoopModel(DELTAS));
  const cases = { rounds: () => loop.steps("run", STEPS) };
  const times = await interleaved(cases, { rounds: 200, warmUp: 5, forMs: 10_000 });
  if (loop.deltas() === 0) throw new Error("nothing was streamed");
  const us = times.rounds.map((ms) => (ms / STEPS) * 1_000);
  const what = "a model round, 20 deltas, nothing stored";
  return [{ id: "P10", what, value: median(us), quickest: quickest(us), unit: "us", bar: { max: 60 } }];
}
