// What calls cost. Prices of the configuration go before the table, which is only as good as its date.

import type { JsonObject } from "../../base/json.ts";
import { type OptionProblem, OptionReader } from "../tool/option-reader.ts";
import { listPrices, type Price } from "./price-list.ts";

export type Prices = ReadonlyMap<string, Price>;

interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export function costOf(price: Price, { inputTokens, outputTokens, cacheRead, cacheWrite }: Tokens): number {
  const { input, output, cachedInput = input, cacheWrite: written = input, long } = price;
  const isLong = long !== undefined && inputTokens > long.over;
  const fresh = Math.max(0, inputTokens - cacheRead - cacheWrite);
  const inputCost =
    (fresh * input + cacheRead * cachedInput + cacheWrite * written) * (isLong ? long.input : 1);
  return (inputCost + outputTokens * output * (isLong ? long.output : 1)) / 1_000_000;
}

/**
 * The price of a model by its name as the provider spells it, dated versions included. Undefined: its calls
 * are counted with a cost of 0, and a budget of money does not hold.
 */
export function priceOf(model: string, own: Prices | undefined): Price | undefined {
  for (const name of spellings(model)) {
    const price = own?.get(name) ?? listPrices.get(name);
    if (price !== undefined) return price;
  }
  return undefined;
}

/** `anthropic/claude-x-20250929` is `claude-x`, and so are its parts. */
function spellings(model: string): readonly string[] {
  const last = model.slice(model.lastIndexOf("/") + 1);
  const undated = last.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  return [model, last, undated];
}

/** Reads `prices: {model: {input, output, cached_input?, cache_write?}}`. */
export function readPrices(
  value: JsonObject,
  path: readonly (string | number)[],
  problems: OptionProblem[],
): Prices {
  const prices = new Map<string, Price>();
  const range = { least: 0, most: 1_000_000 };
  const models = new OptionReader(value, path, problems);
  for (const model of Object.keys(value)) {
    const reader = models.section(model);
    if (reader === undefined) continue;
    const input = reader.number("input", range);
    const output = reader.number("output", range);
    const cachedInput = reader.number("cached_input", range);
    const cacheWrite = reader.number("cache_write", range);
    reader.end();
    if (input === undefined || output === undefined) {
      models.wrong(model, "a price needs `input` and `output` (US dollars for a million tokens)");
      continue;
    }
    const cached = cachedInput === undefined ? {} : { cachedInput };
    prices.set(model, { input, output, ...cached, ...(cacheWrite !== undefined && { cacheWrite }) });
  }
  return prices;
}
