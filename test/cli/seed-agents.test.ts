// The agents of RFC 0005 and of the guide, run to every ending they can have: completed, waiting, moved from
// outside, handed over.

import { describe, expect, test } from "vitest";
import { pathOf, runFolder, seed } from "./run-folder.ts";
import { completed, exhausted, play, rowsOf } from "./seed-runs.ts";

describe("RFC 0005 and the guide", () => {
  test("a simple agent analyses, then executes", () => {
    using folder = runFolder({
      "s.yaml": "states:\n  analyze: [{ event: AnalysisComplete }]\n  execute: [{ text: Gone. }]\n",
    });
    expect(play(folder, ["run", seed("simple-agent.json"), "--script", "s.yaml"])).toEqual({
      ...completed,
      text: "Gone.",
    });
    expect(rowsOf(folder)).toEqual([
      [null, null, "analyze", 1, "entry", [], {}],
      ["analyze", "AnalysisComplete", "execute", 1, "event", [], {}],
    ]);
  });

  test("an orchestrated agent only moves from outside, and its end is a hand-off", () => {
    using folder = runFolder({ "s.yaml": "states: {}\n" });
    const waits = folder.summary(["run", seed("orchestrated-agent.json"), "--script", "s.yaml"]);
    expect(waits).toMatchObject({ code: 10, summary: { state: "analyze", used: { model_calls: 0 } } });
    const ended = folder.summary(["send", "@", "AnalysisComplete", "--by", "host"]);
    expect(ended).toMatchObject({ code: 0, summary: { status: "completed", used: { model_calls: 0 } } });
    expect(ended.summary.output?.text).toContain("Write up what the data showed.");
    expect(rowsOf(folder)).toEqual([
      [null, null, "analyze", 1, "entry", [], {}],
      ["analyze", "AnalysisComplete", "report", 1, "outside", [], {}],
    ]);
  });

  test("a multi-phase agent waits in a hybrid state without an event, and takes one from outside", () => {
    using folder = runFolder({
      "s.yaml": `states:
  intake: [{ event: RequirementsGathered }]
  planning: [{ text: Which of the two? }]
  execution: [{ event: TaskComplete }]
  validation: [{ event: ValidationFailed }]
`,
    });
    const pack = seed("multi-phase-agent.yaml");
    const waits = folder.summary(["run", pack, "--script", "s.yaml", "--budget-visits", "6"]);
    expect(waits).toMatchObject({ code: 10, summary: { state: "planning", used: { model_calls: 2 } } });
    expect(play(folder, ["send", "@", "PlanReady", "--by", "dora", "--follow"])).toMatchObject(
      exhausted("max_total_visits", 6, "validation"),
    );
    expect(rowsOf(folder)).toEqual([
      [null, null, "intake", 1, "entry", [], {}],
      ["intake", "RequirementsGathered", "planning", 1, "event", [], {}],
      ["planning", "PlanReady", "execution", 1, "outside", [], {}],
      ["execution", "TaskComplete", "validation", 1, "event", [], {}],
      ["validation", "ValidationFailed", "execution", 2, "event", [], {}],
      ["execution", "TaskComplete", "validation", 2, "event", [], {}],
    ]);
  });

  test.each([
    ["billing", "Resolved.", "triage → billing_state → closing_state"],
    ["**Technical**", "event: resolved", "triage → tech_state → closing_state"],
    ["It does not start.\ntechnical", "I cannot.\n\nescalate", "triage → tech_state → escalation"],
  ])("a support desk is moved by words alone: %j, %j", (first, second, path) => {
    const said = (text: string) => `[{ text: ${JSON.stringify(text)} }]`;
    using folder = runFolder({
      "s.yaml": `states:
  triage: ${said(first)}
  billing_state: ${said(second)}
  tech_state: ${said(second)}
  closing_state: [{ text: Anything else? }]
`,
    });
    expect(play(folder, ["run", seed("support-pack.json"), "--script", "s.yaml"])).toMatchObject(completed);
    expect(pathOf(folder.trace())).toBe(path);
  });

  test("words that name no event leave the support desk waiting", () => {
    using folder = runFolder({
      "s.yaml": "states:\n  triage: [{ text: This may be billing or technical }]\n",
    });
    const { code, summary } = folder.summary(["run", seed("support-pack.json"), "--script", "s.yaml"]);
    expect(code).toBe(10);
    expect(summary.waiting_for).toMatchObject([{ kind: "event", events: ["billing", "technical"] }]);
  });
});
