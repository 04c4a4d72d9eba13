// Fixes that rewrite templates and names: the exact text after applying them until none is left.

import { expect, test } from "vitest";
import { checkText } from "../../src/pack/check-text.ts";
import { applyFixes } from "../../src/pack/fix/apply-fixes.ts";
import { completed } from "./rule-cases.ts";

function fixed(pack: string, codes: readonly string[], unsafe = true): string {
  const text = completed(pack);
  const file = text.startsWith("{") ? "pack.json" : "pack.yaml";
  const choose: Parameters<typeof applyFixes>[1]["choose"] = (findings) =>
    findings.filter((finding) => codes.includes(finding.code));
  const result = applyFixes(text, { file, unsafe, choose });
  expect(result.refused).toBe(undefined);
  return result.text;
}

const prompt = (template: string, more = "") =>
  `prompts:\n  p:\n    id: p\n    name: P\n    version: 1.0.0\n    system_template: ${template}\n${more}`;

const workflow = (artifacts: string) =>
  "workflow:\n  version: 2\n  entry: w\n  states:\n" +
  `    w: { prompt_task: p, terminal: true, artifacts: ${artifacts} }\n`;

test("a misspelt artifact is renamed wherever the template reads it", () => {
  const pack = prompt(
    '"{{artifacts.plam}} {{ artifacts.plam.steps[0] }}"',
    workflow("{ plan: { type: text/plain } }"),
  );
  expect(fixed(pack, ["PP501"])).toContain('"{{artifacts.plan}} {{ artifacts.plan.steps[0] }}"');
});

test("a variable that is an artifact is read as one, in JSON behind escapes too", () => {
  const pack = JSON.stringify({
    id: "sample",
    name: "Sample",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    prompts: {
      p: { id: "p", name: "P", version: "1.0.0", system_template: 'A "b"\n\t{{plan}}\n{{ plan.x }}' },
    },
    workflow: {
      version: 2,
      entry: "w",
      states: { w: { prompt_task: "p", terminal: true, artifacts: { plan: { type: "text/plain" } } } },
    },
  });
  expect(fixed(pack, ["PP509"])).toContain('"A \\"b\\"\\n\\t{{artifacts.plan}}\\n{{ artifacts.plan.x }}"');
});

test("a misspelt variable and a misspelt namespace are corrected", () => {
  const pack = `fragments: { tone: Be brief. }\n${prompt(
    '"{{fragment.tone}} {{custmer}} {{fragment.missing}}"',
    "    variables: [{ name: customer, type: string, required: true }]\n",
  )}`;
  expect(fixed(pack, ["PP509"])).toContain('"{{fragments.tone}} {{customer}} {{fragment.missing}}"');
});

test("removing an unused variable is safe when it is optional and unsafe when it is required", () => {
  const variables =
    "    variables:" +
    " [{ name: a, type: string, required: false }, { name: b, type: string, required: true }]\n";
  const pack = prompt("Go on.", variables);
  expect(fixed(pack, ["PP510"], false)).toContain("variables: [{ name: b, type: string, required: true }]");
  expect(fixed(pack, ["PP510"], true)).toContain("variables: []");
});

test("placeholders are closed in front of punctuation and a single brace is completed", () => {
  const pack = prompt('"Use {{plan. Then {{ goal } and {{notes-"');
  expect(fixed(pack, ["PP511"])).toContain('"Use {{plan}}. Then {{ goal}} and {{notes}}-"');
});

test("closing a fragment that does not exist would be an error and is left to the author", () => {
  const pack = prompt('"Use {{fragments.tone now"');
  expect(fixed(pack, ["PP511"])).toBe(completed(pack));
});

test("fragments get the specification's spelling in every place", () => {
  const template = "'{{tone}} {{ tone }} {{fragment:tone}} {{> tone}} {{fragment:nope}}'";
  const pack = `fragments: { tone: Be brief. }\n${prompt(template)}`;
  expect(fixed(pack, ["PP513"])).toContain(
    "'{{fragments.tone}} {{fragments.tone}} {{fragments.tone}} {{fragments.tone}} {{fragment:nope}}'",
  );
});

test("placeholders in another notation and filters are rewritten in the pack's own", () => {
  const pack = prompt(
    "|\n      ${topic}, {topic} and {{ topic | upper }}, ${topic}; not ${HOME}\n",
    "    variables: [{ name: topic, type: string, required: true }]\n",
  );
  expect(fixed(pack, ["PP513"])).toContain("{{topic}}, {{topic}} and {{topic}}, {{topic}}; not ${HOME}");
});

const events = `
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: "Say resolved, unresolved, {{resolved}}: resolved." }
  q: { id: q, name: Q, version: 1.0.0, system_template: "Not resolved." }
workflow:
  version: 1
  entry: a
  states:
    a: { prompt_task: p, on_event: { resolved: b } }
    b: { prompt_task: p, on_event: { "resolved": c } }
    c: { prompt_task: q, terminal: true }
`;

test("an event is renamed in all states and as a whole word in their prompts only", () => {
  const after = fixed(events, ["PP601"]);
  expect(after).toContain('"Say Resolved, unresolved, {{resolved}}: Resolved."');
  expect(after).toContain('"Not resolved."');
  expect(after).toContain("on_event: { Resolved: b }");
  expect(after).toContain('on_event: { "Resolved": c }');
});

test("events that would become one are not renamed", () => {
  const pack = events.replace("{ resolved: b }", "{ resolved: b, resolved_: c, RESOLVED: c }");
  const { findings } = checkText(completed(pack), { file: "pack.yaml" });
  const fixes = findings.filter((finding) => finding.code === "PP601").map((finding) => finding.fix);
  expect(fixes).toEqual([null, null, null]);
});

test("unused parts are removed", () => {
  const pack = `
fragments: { tone: Be brief., spare: Not used. }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: "{{fragments.tone}} Go on.", tools: [look] }
  spare:
    id: spare
    name: Spare
    version: 1.0.0
    system_template: Not used.
tools: { look: { name: look, description: Looks }, shout: { name: shout, description: Shouts } }
workflow:
  version: 2
  entry: w
  states:
    w: { prompt_task: p, terminal: true }
`;
  const after = fixed(pack, ["PP605", "PP606"]);
  expect(after).toContain("fragments: { tone: Be brief. }");
  expect(after).toContain("tools: { look: { name: look, description: Looks } }");
  expect(after).not.toContain("spare");
});
