// How rough a simulated world is; smooth seeds show that the product also works when nothing goes wrong.

import type { Dice } from "./dice.ts";

export interface Weather {
  readonly processes: number;
  readonly ticks: number;
  readonly people: number;
  readonly resend: number;
  readonly crash: number;
  readonly pause: number;
  readonly jump: number;
  readonly fork: number;
}

export function weatherOf(dice: Dice): Weather {
  const rough = dice.chance(0.8);
  return {
    processes: rough ? dice.between(1, 3) : 1,
    ticks: dice.between(40, 220),
    people: dice.between(2, 25),
    resend: rough ? dice.between(0, 8) : 0,
    crash: rough ? dice.between(0, 3) : 0,
    pause: dice.chance(0.5) ? dice.below(3) : 0,
    jump: rough && dice.chance(0.5) ? dice.below(4) : 0,
    fork: dice.chance(0.5) ? 1.5 : 0,
  };
}
