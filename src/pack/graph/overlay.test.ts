import { expect, test } from "vitest";
import { graph, node } from "../../../test/graph/hostile-graphs.ts";
import { toAscii } from "./ascii.ts";
import { toDot } from "./dot.ts";
import { toGraphJson } from "./json.ts";
import { toMermaid } from "./mermaid.ts";
import { withRun } from "./overlay.ts";
import { toSvg } from "./svg.ts";

const guarded = { guarded: true, maxVisits: 2, onMaxVisits: "b" };
const nodes = [node("a", { entry: true, ...guarded }), node("b", { guarded: true, maxVisits: 1 }), node("c")];
const pack = graph(nodes, [
  { from: 0, to: 0, kind: "event", labels: ["Again", "More"] },
  { from: 0, to: 1, kind: "redirect", labels: ["after 2 visits"] },
  { from: 1, to: 2, kind: "event", labels: ["Go"] },
]);

const way = (from: string | null, event: string | null, to: string, redirected: readonly string[] = []) => ({
  ...{ from, event, to, redirected_from: redirected },
  cause: from === null ? ("entry" as const) : ("event" as const),
});

const run = {
  state: "b",
  ways: [way(null, null, "a"), way("a", "Again", "a"), way("a", "More", "b", ["a"])],
};

test("an event counts for where it leads, a guard for where it sends on, and each event by itself", () => {
  const drawn = withRun(pack, run);
  expect(drawn.nodes.map(({ name, visits, current }) => [name, visits, current])).toEqual([
    ["a", 2, false],
    ["b", 1, true],
    ["c", 0, false],
  ]);
  expect(drawn.edges.map(({ taken }) => taken)).toEqual([[1, 1], [1], [0]]);
});

test("an entry that its guard sent on counts for the guard alone", () => {
  const drawn = withRun(pack, { state: "b", ways: [way(null, null, "b", ["a"])] });
  expect(drawn.edges.map(({ taken }) => taken)).toEqual([[0, 0], [1], [0]]);
});

test("states and ways of another pack are passed over", () => {
  const drawn = withRun(pack, { state: "zz", ways: [way("zz", "Again", "yy"), way("a", "Gone", "c")] });
  expect(drawn.nodes.map(({ visits }) => visits)).toEqual([0, 0, 1]);
  expect(drawn.edges.flatMap(({ taken }) => taken)).toEqual([0, 0, 0, 0]);
});

test("every format tells visits of limits, the ways taken and where the run is", () => {
  const drawn = withRun(pack, run);
  const ascii = toAscii(drawn);
  expect(ascii).toContain("a  (2/2 ↪ b");
  expect(ascii).toContain("b  (1/1, then the run ends · here");
  expect(ascii).toContain("c  (×0");
  expect(ascii).toContain("Again ×1 | More ×1");
  expect(toMermaid(drawn)).toContain("2#47;2");
  expect(toDot(drawn)).toContain('xlabel="×0"');
  expect(toSvg(drawn)).toMatch(/class="node guarded current"/);
  const json = JSON.parse(toGraphJson(drawn)) as { nodes: readonly object[]; edges: readonly object[] };
  expect(json.nodes[1]).toMatchObject({ name: "b", visits: 1, current: true });
  expect(json.edges[0]).toMatchObject({ events: ["Again", "More"], taken: 2 });
});
