// An answer meets the very question it was given to, whatever has happened to the run since it was read.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { saidTo, sayAnswer } from "../../src/server/answer-question.ts";
import { beginRun } from "../../src/server/begin-run.ts";
import type { OpenQuestion } from "../../src/server/open-questions.ts";
import { restingRun, standingRun } from "../../src/server/resting-run.ts";
import { somebodyHere } from "../../src/server/scope.ts";
import type { ServerParts } from "../../src/server/server-parts.ts";
import { asks, pack, start } from "./sample-pack.ts";
import { servedParts } from "./served.ts";

/** Comes back to the gate as often as it is told to. */
const loop = pack.replace("Yes: end, No: work", "Yes: end, No: gate");

async function asked(parts: ServerParts): Promise<{ readonly run: string; readonly question: OpenQuestion }> {
  const { record } = await beginRun(parts, somebodyHere, { ...start(asks), pack: loop, requestHash: "" });
  const { questions } = await restingRun(parts, record.run, AbortSignal.timeout(10_000));
  return { run: record.run, question: questions[0] as OpenQuestion };
}

const says = (question: OpenQuestion, said: JsonObject) =>
  saidTo(question, said, { by: "ann", at: Date.now() });

describe("an answer", () => {
  test("to a question that was answered meanwhile changes nothing, though the same is asked again", async () => {
    const parts = await servedParts();
    const { run, question } = await asked(parts);
    expect(await sayAnswer(parts, question, says(question, { event: "No" }))).toEqual({ kind: "taken" });
    const { summary, questions } = await standingRun(parts, run);
    expect(questions[0]).toMatchObject({ schema: question.schema, run });
    expect(questions[0]?.id).not.toBe(question.id);
    const late = await sayAnswer(parts, question, says(question, { event: "Yes" }));
    expect(late).toEqual({ kind: "closed" });
    expect((await standingRun(parts, run)).summary).toEqual(summary);
  });

  test("to a question that is still open is taken, though the run has moved since it was read", async () => {
    const parts = await servedParts();
    const { run, question } = await asked(parts);
    const before = { ...question, turn: question.turn - 1 };
    expect(await sayAnswer(parts, before, says(question, { event: "Yes" }))).toEqual({ kind: "taken" });
    const { summary } = await restingRun(parts, run, AbortSignal.timeout(10_000));
    expect(summary.status).toBe("completed");
  });

  test("that the run refuses leaves the question open", async () => {
    const parts = await servedParts();
    const { run, question } = await asked(parts);
    const artifacts = { none: "x" };
    const refused = await sayAnswer(parts, question, says(question, { event: "Yes", artifacts }));
    expect(refused).toMatchObject({ kind: "refused", refusal: { code: "bad-artifact" } });
    expect((await standingRun(parts, run)).questions).toEqual([question]);
  });
});
