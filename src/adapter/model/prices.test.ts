// Prices by name, and what calls cost.

import { expect, test } from "vitest";
import type { OptionProblem } from "../tool/option-reader.ts";
import { costOf, priceOf, readPrices } from "./prices.ts";

const million = { inputTokens: 1_000_000, outputTokens: 0, cacheRead: 0, cacheWrite: 0 };

test("a model is found by its name, its dated name and its name at a gateway", () => {
  const price = priceOf("claude-sonnet-4-5", undefined);
  expect(price).toMatchObject({ input: 3, output: 15, cachedInput: 0.3 });
  expect(priceOf("claude-sonnet-4-5-20250929", undefined)).toBe(price);
  expect(priceOf("anthropic/claude-sonnet-4-5@20250929", undefined)).toBe(price);
  expect(priceOf("gpt-5-nano-2025-08-07", undefined)).toMatchObject({ input: 0.05 });
});

test("a model that only resembles one has no price", () => {
  expect(priceOf("claude-sonnet-4-5-turbo", undefined)).toBeUndefined();
  expect(priceOf("constructor", undefined)).toBeUndefined();
});

test("prices of the configuration go before the list", () => {
  const own = new Map([["gpt-5", { input: 7, output: 8 }]]);
  expect(priceOf("gpt-5-2025-08-07", own)).toEqual({ input: 7, output: 8 });
});

test("input costs by where it came from", () => {
  const price = { input: 10, output: 20, cachedInput: 1, cacheWrite: 12 };
  const tokens = { inputTokens: 1_000_000, outputTokens: 500_000, cacheRead: 600_000, cacheWrite: 100_000 };
  expect(costOf(price, tokens)).toBeCloseTo(3 + 0.6 + 1.2 + 10, 10);
  expect(costOf({ input: 10, output: 20 }, tokens)).toBeCloseTo(20, 10);
});

test("a long request costs more as a whole", () => {
  const price = { input: 2, output: 10, long: { over: 272_000, input: 2, output: 1.5 } };
  expect(costOf(price, { ...million, inputTokens: 272_000 })).toBeCloseTo(0.544, 10);
  expect(costOf(price, { ...million, outputTokens: 1_000_000 })).toBeCloseTo(4 + 15, 10);
});

test("prices are read with the place of every mistake", () => {
  const problems: OptionProblem[] = [];
  const value = {
    "my-model": { input: 1, output: 2, cached_input: 0.1 },
    half: { input: 1 },
    wrong: { input: -1, output: 2, outptu: 3 },
    text: "cheap",
  };
  expect([...readPrices(value, ["prices"], problems)]).toEqual([
    ["my-model", { input: 1, output: 2, cachedInput: 0.1 }],
  ]);
  expect(problems.map(({ path, message }) => `${path.join(".")}: ${message}`)).toEqual([
    "prices.half: a price needs `input` and `output` (US dollars for a million tokens)",
    "prices.wrong.input: `input` is a number from 0 to 1000000",
    "prices.wrong.outptu: unknown key `outptu` (did you mean `output`?)",
    "prices.wrong: a price needs `input` and `output` (US dollars for a million tokens)",
    "prices.text: `text` is a mapping",
  ]);
});
