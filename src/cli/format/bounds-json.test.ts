// The `bounds` of the JSON document for every verdict and every kind of file.

import { expect, test } from "vitest";
import { checkedFile, sampleFile } from "../../../test/formats/sample-report.ts";
import type { CheckedPack } from "../../pack/check-text.ts";
import type { Bound } from "../../pack/flow/bound.ts";
import { boundsJson } from "./bounds-json.ts";
import { reportOf } from "./check-report.ts";

const head = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts: { p: { id: p, name: P, version: 1.0.0, system_template: Go on. } }
`;
const workflow = (states: string, engine = "") =>
  `${head}workflow:
  version: 2
  entry: work
${engine}  states:
    ${states}
    done: { prompt_task: p, terminal: true }
`;
const loop = `work: { prompt_task: p, on_event: { Again: check, Done: done } }
    check: { prompt_task: p, on_event: { Back: work } }`;

const boundsOf = (text: string) => boundsJson(reportOf([checkedFile("pack.yaml", text)]));

test("guards that bound a run give numbers and no witness", () => {
  const states = "work: { prompt_task: p, max_visits: 3, on_max_visits: done, on_event: { Again: work } }";
  expect(boundsOf(workflow(states))).toEqual({
    "pack.yaml": {
      terminates: true,
      visits: 4,
      model_calls: expect.any(Number) as number,
      tool_calls: 0,
      wall_time_sec: null,
      witness: null,
      verdict: "guards",
      exact: true,
      entry: "work",
      per_state: { work: 3, done: 1 },
      configurations: expect.any(Number) as number,
    },
  });
});

test("an endless run has a witness: the way to the cycle, then the cycle", () => {
  const states = `work: { prompt_task: p, on_event: { Go: a } }
    a: { prompt_task: p, on_event: { Go: b } }
    b: { prompt_task: p, on_event: { Back: a, Done: done } }`;
  const { witness, ...rest } = boundsOf(workflow(states))["pack.yaml"] as { witness: readonly string[] };
  expect(rest).toMatchObject({ terminates: false, visits: null, verdict: "unbounded" });
  expect(rest).not.toHaveProperty("decided");
  const [first] = checkedFile("pack.yaml", workflow(states)).packs;
  const path = first?.bounds[0]?.witness;
  expect(witness).toEqual([...(path?.prefix ?? []), ...(path?.cycle ?? [])]);
  expect(witness[0]).toBe("work");
});

test("a run that only a budget or the clock ends terminates and has no witness", () => {
  const budget = boundsOf(workflow(loop, "  engine: { budget: { max_total_visits: 9 } }\n"))["pack.yaml"];
  expect(budget).toMatchObject({ terminates: true, visits: 9, witness: null, verdict: "budget" });
  const time = boundsOf(workflow(loop, "  engine: { budget: { max_wall_time_sec: 60 } }\n"))["pack.yaml"];
  expect(time).toMatchObject({
    terminates: true,
    visits: null,
    wall_time_sec: 60,
    witness: null,
    verdict: "time",
  });
});

test("a file whose states do not link has no entry, one without workflow has one visit", () => {
  expect(boundsOf(workflow(loop).replace("entry: work", "entry: nowhere"))).toEqual({});
  expect(boundsOf(head)).toMatchObject({ "pack.yaml": { terminates: true, visits: 1, witness: null } });
});

const made = (changes: Partial<Bound>): Bound => ({
  entry: "a",
  verdict: "guards",
  exact: true,
  configurations: 1,
  visits: 1,
  modelCalls: 1,
  toolCalls: 0,
  wallTimeSec: null,
  perState: {},
  proof: null,
  witness: null,
  longestRun: [],
  ...changes,
});

const [anyPack] = checkedFile("pack.yaml", head).packs;
const pack = (embeddedAs: string, ...bounds: readonly Bound[]): CheckedPack => {
  return { ...(anyPack as CheckedPack), embeddedAs, bounds };
};
const madeBounds = (packs: readonly CheckedPack[]) =>
  boundsJson(reportOf([sampleFile([], { file: "map.yaml", packs })]));

test("an undecided question says so, and what was only suspected is not called a witness", () => {
  const witness = { prefix: [], cycle: ["a", "b"] };
  const bounds = madeBounds([pack("", made({ verdict: "undecided", visits: null, exact: false, witness }))]);
  expect(bounds["map.yaml"]).toMatchObject({
    terminates: false,
    decided: false,
    witness: null,
    suspect: ["a", "b"],
  });
});

test("of several entry points the workflow's own counts", () => {
  const bounds = madeBounds([pack("", made({ visits: 7 }), made({ visits: 9, entry: "b" }))]);
  expect(bounds).toMatchObject({ "map.yaml": { visits: 7, entry: "a" } });
});

test("further packs of a ConfigMap are named by their data key, also when keys repeat", () => {
  const packs = [1, 2, 3, 4].map((visits) => pack(visits === 2 ? "b.json" : "a.json", made({ visits })));
  const bounds = madeBounds(packs);
  expect(Object.entries(bounds).map(([key, bound]) => [key, (bound as { visits: number }).visits])).toEqual([
    ["map.yaml", 1],
    ["map.yaml#b.json", 2],
    ["map.yaml#a.json", 3],
    ["map.yaml#a.json#2", 4],
  ]);
});

test("a file called __proto__ and a state of that name are ordinary keys", () => {
  const perState = Object.fromEntries([["__proto__", 2]]);
  const files = [sampleFile([], { file: "__proto__", packs: [pack("", made({ perState }))] })];
  expect(JSON.stringify(boundsJson(reportOf(files)))).toMatch(
    /^\{"__proto__":\{.*"per_state":\{"__proto__":2\}/,
  );
});
