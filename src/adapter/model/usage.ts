// Tokens and money of one call.

import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../../core/facts.ts";
import type { Price } from "./price-list.ts";
import { costOf } from "./prices.ts";

/** Texts are made only where they are needed: the conversation may be long. */
interface Texts {
  readonly input: () => string;
  readonly output: () => string;
}

/** Roughly right for English and code; only used where a provider gives no figure. */
const CHARACTERS_PER_TOKEN = 4;

export function usageOf(
  given: LanguageModelV4Usage | undefined,
  price: Price | undefined,
  { input, output }: Texts,
): Usage {
  const inputTotal = given?.inputTokens?.total;
  const outputTotal = given?.outputTokens?.total;
  const estimated = inputTotal === undefined || outputTotal === undefined;
  const inputTokens = inputTotal ?? Math.ceil(input().length / CHARACTERS_PER_TOKEN);
  const outputTokens = outputTotal ?? Math.ceil(output().length / CHARACTERS_PER_TOKEN);
  const cacheRead = given?.inputTokens?.cacheRead ?? 0;
  const cacheWrite = given?.inputTokens?.cacheWrite ?? 0;
  const costUsd =
    price === undefined ? 0 : costOf(price, { inputTokens, outputTokens, cacheRead, cacheWrite });
  return { inputTokens, outputTokens, costUsd, ...(estimated && { estimated }) };
}
