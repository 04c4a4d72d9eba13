// The workflows of the specification's own examples must check without an error, and with the findings they
// deserve. The packs have their states, events, guards, budgets, tools and placeholders; the texts are ours.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkText } from "../../src/pack/check-text.ts";
import type { Finding } from "../../src/pack/diagnostic.ts";

function findingsOf(name: string): readonly Finding[] {
  const file = fileURLToPath(new URL(`../../testdata/packs/seeds/${name}`, import.meta.url));
  return checkText(readFileSync(file, "utf8"), { file: name }).findings;
}

/** Codes of the graph and loop rules with the state they point at, in file order. */
function aboutLoops(name: string): readonly string[] {
  return findingsOf(name)
    .filter((finding) => /^PP[34]/.test(finding.code))
    .map((finding) => `${finding.code} ${finding.path.slice(1).join("/")}`);
}

const expected: Readonly<Record<string, readonly string[]>> = {
  // RFC 0009, examples 1 to 4
  "codegen-agent.yaml": [
    "PP411 engine/budget/max_tool_calls",
    "PP414 states/test/max_visits",
    "PP403 states/review",
  ],
  "data-explorer.yaml": ["PP411 engine/budget/max_tool_calls"],
  "self-correcting.json": ["PP408 states/work"],
  "ops-remediation.yaml": [
    "PP409 engine/budget/max_wall_time_sec",
    "PP412 states/diagnose",
    "PP403 states/propose",
    "PP309 states/await_approval",
  ],
  // RFC 0005, examples 1 to 3
  "simple-agent.json": ["PP303 states/execute"],
  "multi-phase-agent.yaml": [
    "PP302 states/intake",
    "PP401 states/intake",
    "PP408 states/intake",
    "PP302 states/planning",
    "PP302 states/execution",
    "PP302 states/validation",
  ],
  "orchestrated-agent.json": ["PP309 states/analyze", "PP308 states/report"],
  // The how-to's complete example
  "support-pack.json": ["PP303 states/closing_state", "PP308 states/escalation"],
};

describe.each(Object.entries(expected))("%s", (name, codes) => {
  test("has no error", () => {
    expect(findingsOf(name).filter((finding) => finding.severity === "error")).toEqual([]);
  });

  test("gets its findings about graph and loops", () => {
    expect(aboutLoops(name)).toEqual(codes);
  });
});

test("the code generation loop gets the run that its guards do not end", () => {
  const found = findingsOf("codegen-agent.yaml").filter((finding) => finding.code === "PP403");
  expect(found.map((finding) => finding.message)).toEqual([
    "after `implement` is exhausted, `review → review` can repeat for ever",
  ]);
  const [finding] = found;
  expect(finding?.data).toMatchObject({
    cycle: ["review"],
    full_guards: ["implement"],
    path: "plan → (implement → test)×10 → review → ChangesNeeded ⟲ review",
    guard: { state: "review", visitsMax: 3, fallback: "done" },
  });
  expect(finding?.related.map((leg) => leg.message)).toEqual([
    "the shortest such run: plan → (implement → test)×10 → review → ChangesNeeded ⟲ review",
    "`plan` sends `PlanReady` to `implement`",
    "`implement` sends `CodeReady` to `test`",
    "`test` sends `TestsFailed` to `implement`",
    "`test` sends `TestsPassed` to `review`",
    "`review` sends `ChangesNeeded` to `implement`, which is full and falls back to `review`",
  ]);
});

test("its undeclared placeholder is found", () => {
  const found = findingsOf("codegen-agent.yaml").filter((finding) => finding.code === "PP509");
  expect(found.map((finding) => finding.message)).toEqual(["`plan` is not declared by prompt `coder`"]);
});

test("advice never takes the way that a person's decision opens", () => {
  const [finding] = findingsOf("ops-remediation.yaml").filter((one) => one.code === "PP403");
  expect(finding?.help).toBe("give `await_approval` `max_visits: 3`, `on_max_visits: postmortem`");
  expect(finding?.why).toContain("each lap waits for an event at `await_approval`");
});
