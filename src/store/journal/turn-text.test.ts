import fc from "fast-check";
import { expect, test } from "vitest";
import { sampleJournal } from "../sample-journal.ts";
import { packText, unpackText } from "./turn-text.ts";

const factsOf = (seed: number, turns: number) =>
  sampleJournal(seed, turns).map(({ row }) => JSON.stringify(row.facts));

test("any JSON text comes back as it was", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (json) => {
      expect(unpackText(packText(json))).toBe(json);
    }),
    { numRuns: 2_000 },
  );
});

test("texts made of the very phrases come back as they were", () => {
  const pieces = factsOf(1, 200).flatMap((text) => text.split(/(?=[,{}[\]])/));
  const texts = fc.array(fc.constantFrom(...new Set(pieces)), { maxLength: 40 }).map((list) => list.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      expect(unpackText(packText(text))).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test("the facts of every kind of turn come back as they were", () => {
  for (const text of factsOf(2, 500)) expect(unpackText(packText(text))).toBe(text);
});

test("an ordinary visit takes less than half its JSON", () => {
  const value = "A note of some length about what was done in this visit.";
  const text = JSON.stringify([
    {
      type: "answered",
      step: 41,
      outcome: {
        ok: true,
        value: {
          text: "Done.",
          calls: [
            { id: "c1", tool: "workflow__set_artifact", args: { name: "notes", value } },
            { id: "c2", tool: "workflow__transition", args: { event: "Written" } },
          ],
          usage: { inputTokens: 1200, outputTokens: 85, costUsd: 0.0021 },
        },
      },
    },
    {
      type: "wrote",
      artifact: "notes",
      mode: "replace",
      json: false,
      value,
      source: { kind: "model", step: 41 },
    },
    {
      type: "noted",
      what: "result",
      call: "c1",
      result: { status: "artifact_set", artifact: "notes" },
      error: false,
    },
    { type: "noted", what: "scheduled", event: "Written", context: "" },
    {
      type: "noted",
      what: "result",
      call: "c2",
      result: { status: "transition_scheduled", event: "Written" },
      error: false,
    },
    {
      type: "entered",
      state: "check",
      visit: 20,
      prompt: "checker",
      cause: { kind: "event", from: "write", event: "Written" },
      fresh: true,
      context: "",
    },
    { type: "asked", step: 42, ask: { kind: "model", round: 1, nth: 19, tools: true } },
  ]);
  expect(packText(text).length).toBeLessThan(text.length / 2);
});
