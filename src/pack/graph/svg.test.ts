import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyGraph, graph, node } from "../../../test/graph/hostile-graphs.ts";
import { oneLine } from "./label-text.ts";
import { sentenceOf } from "./node-facts.ts";
import { toSvg } from "./svg.ts";

/** Fails unless the text is well-formed XML of the plain kind we write; gives the text of each element. */
function readXml(text: string): readonly { readonly name: string; readonly text: string }[] {
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\ufffe\uffff]/u);
  const unpaired: string[] = [];
  const elements: { name: string; text: string }[] = [];
  const open: { name: string; text: string }[] = [];
  const body = text.replace(/^<\?xml version="1.0" encoding="UTF-8"\?>\n/, "").trimEnd();
  const token = /<\/(\w+)>|<(\w+)((?:\s+[\w:-]+="[^"<&]*")*)\s*(\/?)>|((?:[^<&]|&(?:amp|lt|gt|quot);)+)/gy;
  for (const [, closing, opening, , empty, words] of body.matchAll(token)) {
    if (words !== undefined) {
      const top = open.at(-1);
      if (top === undefined) unpaired.push(words);
      else top.text += words;
    } else if (closing !== undefined) {
      if (open.pop()?.name !== closing) unpaired.push(closing);
    } else {
      const element = { name: opening as string, text: "" };
      elements.push(element);
      if (empty !== "/") open.push(element);
    }
  }
  const read = [...body.matchAll(token)].reduce((length, [all]) => length + all.length, 0);
  expect(read).toBe(body.length);
  expect([...unpaired, ...open]).toEqual([]);
  return elements;
}

const decode = (text: string) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

test("whatever the names are, the file is well-formed and tells every node in words", () => {
  fc.assert(
    fc.property(anyGraph, (any) => {
      const elements = readXml(toSvg(any));
      const titles = elements.filter(({ name }) => name === "title").map(({ text }) => decode(text));
      for (const each of any.nodes) expect(titles).toContain(sentenceOf(each));
      expect(titles[0]).toBe(oneLine(`${any.name} ${any.version}`));
    }),
    { numRuns: 40 },
  );
});

test("shapes tell states apart without colour", () => {
  const nodes = [
    node("start", { entry: true }),
    node("ask", { external: true }),
    node("both", { hybrid: true }),
    node("steps", { composition: "c" }),
    node("done", { terminal: true }),
  ];
  const svg = toSvg(graph(nodes, []));
  const shapeOf = (name: string) =>
    new RegExp(`<title>${name}.*?</title>((?:<(?:rect|polygon|path)[^>]*>)+)`).exec(svg)?.[1];
  expect(svg).toContain('<circle class="dot"');
  expect(svg).toContain('<g class="node external"');
  expect(svg).toContain(".external .box{stroke-dasharray:6 4}");
  expect(shapeOf("ask")).toMatch(/^<polygon class="box"/);
  expect(shapeOf("both")).toMatch(/^<polygon class="box"/);
  expect(shapeOf("steps")?.match(/<path class="inner"/g)).toHaveLength(2);
  expect(shapeOf("done")).toMatch(/<rect class="box".*<rect class="inner"/);
  expect(shapeOf("start")).not.toContain("inner");
});

test("a guard is a badge, and its redirect a dashed edge that says when", () => {
  const nodes = [node("work", { maxVisits: 6, onMaxVisits: "stop" }), node("stop", { terminal: true })];
  const svg = toSvg(graph(nodes, [{ from: 0, to: 1, kind: "redirect", labels: ["after 6 visits"] }]));
  expect(svg).toMatch(/class="badge-text"[^>]*>max 6</);
  expect(svg).toContain('<path class="edge redirect"');
  expect(svg).toMatch(/class="label redirect-label"[^>]*>after 6 visits</);
});

test("nothing is loaded from elsewhere", () => {
  const svg = toSvg(graph([node("a", { entry: true })], []));
  expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
    /https?:|<script|<image|@import|href/,
  );
});
