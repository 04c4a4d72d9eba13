import { expect, test } from "vitest";
import { graph, node } from "../../../test/graph/hostile-graphs.ts";
import { isDrawable } from "./drawable.ts";

const chain = (length: number, more: (at: number) => readonly number[]) => {
  const nodes = Array.from({ length }, (_, at) => node(`s${at}`, { entry: at === 0 }));
  const edges = nodes.flatMap((_, from) =>
    [...(from + 1 < length ? [from + 1] : []), ...more(from)].map((to) => {
      return { from, to, kind: "event" as const, labels: ["Go"] };
    }),
  );
  return graph(nodes, edges);
};

test("an ordinary pack is drawable, also with a loop over all of it", () => {
  expect(isDrawable(chain(40, () => [0]))).toBe(true);
});

test("a chain longer than the layout can walk is not", () => {
  expect(isDrawable(chain(400, () => []))).toBe(true);
  expect(isDrawable(chain(2000, () => []))).toBe(false);
});

test("edges that pass too many rows are not", () => {
  expect(isDrawable(chain(300, () => [0, 299]))).toBe(false);
});
