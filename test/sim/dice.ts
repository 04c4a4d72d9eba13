// Chance, all of it from one seed.

import { type Random, randomFrom } from "../flow/small-pack.ts";

export class Dice {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  get random(): Random {
    return this.#random;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  /** Both ends included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error("nothing to pick from");
    return items[this.below(items.length)] as T;
  }

  /** One of the names, each as likely as its weight. */
  weighted<T extends string>(weights: Readonly<Partial<Record<T, number>>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.#random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return (entries.at(-1) as [T, number])[0];
  }
}
