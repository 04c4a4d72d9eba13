import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyGraph, graph, node } from "../../../test/graph/hostile-graphs.ts";
import { toAscii } from "./ascii.ts";
import { columns } from "./label-text.ts";

const event = (from: number, to: number, ...labels: string[]) => ({
  from,
  to,
  kind: "event" as const,
  labels,
});

test("states follow each other breadth first, with aligned arrows and marks", () => {
  const nodes = [
    node("plan", { entry: true, prompt: "plan" }),
    node("implement", { maxVisits: 6, onMaxVisits: "review", prompt: "coder" }),
    node("done", { terminal: true, prompt: "done" }),
    node("review", { external: true, prompt: "review" }),
    node("attic", { prompt: "attic" }),
  ];
  const edges = [
    event(0, 1, "PlanReady"),
    event(1, 1, "Again"),
    event(1, 3, "CodeReady", "Stuck"),
    { from: 1, to: 3, kind: "redirect" as const, labels: ["after 6 visits"] },
    event(3, 2, "Approved"),
    event(3, 0, "Rejected"),
  ];
  expect(toAscii(graph(nodes, edges))).toBe(`Sample 1.0.0

▶ plan
   └─ PlanReady ───────────▶ implement

  implement  (max 6 ↪ review · prompt coder)
   ├─ Again ───────────────↺ implement
   └─ CodeReady | Stuck ───▶ review

◇ review  (external)
   ├─ Approved ────────────▶ done
   └─ Rejected ────────────↺ plan

■ done

not reached by any run:

  attic

▶ entry   ■ end   ◇ waits for an outside event   ↺ back   ↪ at the visit limit
`);
});

test("a state that is entry and end has both marks, and the others keep their column", () => {
  const nodes = [
    node("a", { entry: true, terminal: true, prompt: "a" }),
    node("b", { agents: ["x"], prompt: "b" }),
  ];
  const [, , first, , second] = toAscii(graph(nodes, [])).split("\n");
  expect(first).toBe("▶■ a");
  expect(second).toBe("▷  b  (agent x)");
});

test("a limit without a way out says that the run ends", () => {
  expect(toAscii(graph([node("a", { maxVisits: 2, prompt: "a" })], []))).toContain(
    "a  (max 2, then the run ends)",
  );
});

test("targets stand in one column whatever the events are called", () => {
  fc.assert(
    fc.property(anyGraph, (any) => {
      const rows = toAscii(any)
        .split("\n")
        .filter((line) => /^ +[├└]─ /.test(line));
      const starts = rows.map((row) => columns(row.slice(0, /─[▶↺] [^─]*$/.exec(row)?.index ?? 0)));
      expect(new Set(starts).size).toBeLessThanOrEqual(1);
    }),
  );
});
