// Files to packs: which parser reads them, what is refused, and packs inside manifests.

import { describe, expect, test } from "vitest";
import { limits } from "./limits.ts";
import { LineIndex } from "./line-index.ts";
import { readSource, type SourceFile } from "./read-source.ts";
import { entryAt, type Node, nodeAt, toJson } from "./tree.ts";

const messages = ({ findings }: SourceFile) =>
  findings.map((finding) => `${finding.code} ${finding.message}`);
const indent = (text: string, by: string) => text.replaceAll(/^(?=.)/gm, by);

/** The source text of the value at a path of a pack. */
function shown(text: string, root: Node, path: (string | number)[]): string {
  const { span } = nodeAt(root, path) as Node;
  return text.slice(span.start, span.end);
}

const manifest = (data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: packs }\ndata:\n${data}`;

describe("a file is read as JSON or YAML", () => {
  test("by its name", () => {
    expect(messages(readSource("{a: 1}", "pack.json"))).toEqual(["PP102 expected a quoted key, found `a`"]);
    expect(messages(readSource("{a: 1}", "pack.yaml"))).toEqual([]);
    expect(messages(readSource("{a: 1}", "PACK.YML"))).toEqual([]);
  });

  test("by its first character without a name that says it", () => {
    expect(messages(readSource(" \n{a: 1}", "-"))).toEqual(["PP102 expected a quoted key, found `a`"]);
    expect(messages(readSource("\ufeff[a]", "-"))).toEqual(["PP102 expected a value, found `a`"]);
    expect(messages(readSource("a: {b: 1}", "-"))).toEqual([]);
  });
});

describe("a text is refused", () => {
  test("when it is empty", () => {
    for (const text of ["", "\n\n", "# nothing", "---\n...\n"]) {
      expect(messages(readSource(text, "pack.yaml"))).toEqual(["PP102 the file is empty"]);
    }
  });

  test("when it holds a zero byte", () => {
    const { findings } = readSource("a: b\u0000c", "pack.yaml");
    expect(findings).toMatchObject([
      { code: "PP102", message: "the file is binary", span: { start: 4, end: 5 } },
    ]);
  });

  test("when it has more than 5 MB in UTF-8", () => {
    const ascii = (length: number) => `a: ${"x".repeat(length - 3)}`;
    expect(messages(readSource(ascii(limits.sizeBytes), "pack.yaml"))).toEqual([]);
    expect(messages(readSource(ascii(limits.sizeBytes + 1), "pack.yaml"))).toEqual(["PP104 file is 5.1 MB"]);
    expect(messages(readSource(`a: ${"ß".repeat(2_500_000)}`, "pack.yaml"))).toEqual([
      "PP104 file is 5.1 MB",
    ]);
    expect(messages(readSource(`a: ${"€".repeat(1_700_000)}`, "pack.yaml"))).toEqual([
      "PP104 file is 5.2 MB",
    ]);
    expect(messages(readSource(`a: ${"😀".repeat(1_200_000)}`, "pack.yaml"))).toEqual([]);
  });

  test("when it holds two packs, at the second", () => {
    const text = "a: 1\n---\nb: 2\n";
    const { packs, findings } = readSource(text, "pack.yaml");
    expect(packs).toEqual([]);
    expect(findings).toMatchObject([{ code: "PP102", span: { start: 9, end: 10 } }]);
  });

  test("and no finding points behind its end", () => {
    for (const text of ["a: 'x", "a: [", "{", "a:\n\t", '"', "- - [", "a: |\n b\n\tc: ["]) {
      for (const { span } of readSource(text, "pack.yaml").findings) {
        expect(span.start).toBeLessThanOrEqual(span.end);
        expect(span.end).toBeLessThanOrEqual(text.length);
      }
    }
  });
});

describe("manifests", () => {
  test("other than ConfigMaps are no packs", () => {
    const text = "apiVersion: promptkit.altairalabs.ai/v1alpha1\nkind: Scenario\n";
    const { packs, findings } = readSource(text, "pack.yaml");
    expect(packs).toEqual([]);
    expect(findings).toMatchObject([
      { code: "PP101", message: "a `Scenario` manifest is not a pack", path: ["kind"] },
    ]);
    expect(text.slice(findings[0]?.span.start, findings[0]?.span.end)).toBe("Scenario");
  });

  test("without a pack say so", () => {
    expect(messages(readSource(manifest("  notes.txt: hello\n  settings.yaml: 'a: 1'\n"), "m.yaml"))).toEqual(
      ["PP101 no pack in this manifest"],
    );
    expect(messages(readSource("apiVersion: v1\nkind: ConfigMap\n", "m.yaml"))).toEqual([
      "PP101 no pack in this manifest",
    ]);
  });

  test("hold packs by name, or by what they look like", () => {
    const pack = "'{ template_engine: {}, prompts: {} }'";
    const names = [
      "pack.json",
      "code.pack.yaml",
      "promptpack.yml",
      "my-pack.yaml",
      "other.yaml",
      "backpack.txt",
    ];
    const data = names.map((name) => `  ${name}: ${name.endsWith("json") ? "'{}'" : pack}\n`).join("");
    const { packs } = readSource(manifest(data), "m.yaml");
    expect(packs.map((one) => one.embeddedAs)).toEqual([
      "pack.json",
      "code.pack.yaml",
      "promptpack.yml",
      "my-pack.yaml",
      "other.yaml",
    ]);
  });

  test("in lists and streams are all read", () => {
    const map = (name: string) =>
      `apiVersion: v1\nkind: ConfigMap\ndata: { ${name}.pack.yaml: "id: ${name}" }\n`;
    const items = ["a", "b"].map((name) => `- ${indent(map(name), "  ").trimStart()}`);
    const list = `apiVersion: v1\nkind: List\nitems:\n${items.join("")}`;
    const service = "apiVersion: v1\nkind: Service\n";
    const { packs, findings } = readSource([list, service, map("c")].join("---\n"), "m.yaml");
    expect(findings).toEqual([]);
    expect(packs.map(({ root }) => toJson(root))).toEqual([{ id: "a" }, { id: "b" }, { id: "c" }]);
  });

  test("inside a pack's entry are not looked into", () => {
    const inner = manifest("  pack.yaml: 'id: x'\n");
    const text = manifest(`  pack.yaml: |\n${indent(inner, "    ")}`);
    const { packs, findings } = readSource(text, "m.yaml");
    expect(packs).toEqual([]);
    expect(findings.map((finding) => finding.message)).toEqual(["a `ConfigMap` manifest is not a pack"]);
    const { start, end } = findings[0]?.span ?? { start: 0, end: 0 };
    expect(text.slice(start, end)).toBe("ConfigMap");
    expect(start).toBeGreaterThan(40);
  });

  test("cannot repeat a large block without end", () => {
    const data = Array.from({ length: 50 }, (_, i) => `  p${i}.pack.yaml: *big\n`).join("");
    const text = manifest(`  pack.yaml: &big 'a: ${"x".repeat(200_000)}'\n${data}`);
    expect(messages(readSource(text, "m.yaml"))).toEqual([
      "PP104 the packs in this file are together 5.1 MB",
    ]);
  });
});

describe("positions of a pack in a manifest are those of the file", () => {
  const pack = 'id: sample\nnested:\n  list:\n    - "größe"\n    - 😀: two\n\nlast: |\n  one\n  two\n';
  const paths: [(string | number)[], string][] = [
    [["id"], "sample"],
    [["nested", "list", 0], '"größe"'],
    [["nested", "list", 1, "😀"], "two"],
  ];

  test.each([
    ["a literal block", `  pack.yaml: |\n${indent(pack, "    ")}`],
    [
      "a deeper one with a chomping mark and a comment",
      `  pack.yaml: |-   # here\n${indent(pack, "          ")}`,
    ],
    ["one that says its indentation", `  pack.yaml: |2\n${indent(pack, "    ")}`],
    ["one that begins with blank lines", `  pack.yaml: |\n\n  \n${indent(pack, "    ")}`],
    [
      "one with blank lines that are indented",
      `  pack.yaml: |\n${indent(pack, "    ").replaceAll("\n\n", "\n      \n")}`,
    ],
  ])("%s", (_name, data) => {
    for (const text of [manifest(data), manifest(data).replaceAll("\n", "\r\n")]) {
      const { packs, findings } = readSource(text, "m.yaml");
      expect(findings).toEqual([]);
      const { root, editable } = packs[0] as { root: Node; editable: boolean };
      expect(editable).toBe(true);
      for (const [path, expected] of paths) expect(shown(text, root, path)).toBe(expected);
      const { keySpan } = entryAt(root, ["nested"]) as { keySpan: { start: number; end: number } };
      expect(text.slice(keySpan.start, keySpan.end)).toBe("nested");
      expect(shown(text, root, ["last"])).toMatch(/^\|\r?\n {4,}one\r?\n {4,}two/);
    }
  });

  const json = '{"id": "sample",\n "nested": {"list": ["a \\"b\\"", {"😀": "two"}]}}\n';

  test.each([
    ["double quotes", `  pack.json: ${JSON.stringify(json)}\n`],
    [
      "double quotes with other escapes",
      `  pack.json: ${JSON.stringify(json).replace("\\n", "\\x0a").replace("😀", "\\U0001F600")}\n`,
    ],
    [
      "double quotes over two lines",
      `  pack.json: ${JSON.stringify(json).replace("\\n ", "\n    \\\n    ")}\n`,
    ],
    ["single quotes", `  pack.json: '${json.trim().replace("\n", "\n    ")}'\n`],
    ["a folded block", `  pack.json: >-\n${indent(json, "    ")}`],
  ])("%s", (_name, data) => {
    const text = manifest(data);
    const { packs, findings } = readSource(text, "m.yaml");
    expect(findings).toEqual([]);
    const { root, editable } = packs[0] as { root: Node; editable: boolean };
    expect(editable).toBe(false);
    expect(shown(text, root, ["id"])).toContain("sample");
    expect(shown(text, root, ["nested", "list", 1, "😀"])).toContain("two");
    const { line } = new LineIndex(text).position((nodeAt(root, ["nested", "list", 0]) as Node).span.start);
    expect(new LineIndex(text).lineText(line)).toContain("nested");
  });

  test("a JSON manifest", () => {
    const text = JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      data: { "pack.yaml": "id: x\nname: sample\n" },
    });
    const { packs } = readSource(text, "m.json");
    const { root, editable } = packs[0] as { root: Node; editable: boolean };
    expect(editable).toBe(false);
    expect(shown(text, root, ["name"])).toBe("sample");
  });

  test("places beside a finding too", () => {
    const text = manifest("  pack.yaml: |\n    id: sample\n    tools: [a, b }\n");
    const { related } = readSource(text, "m.yaml").findings[0] ?? { related: [] };
    expect(related.map(({ span }) => text.slice(span.start, span.end))).toEqual(["["]);
  });

  test("syntax errors too", () => {
    const text = manifest('  pack.yaml: |\n    id: sample\n    name: "x\n');
    const { findings } = readSource(text, "m.yaml");
    expect(findings).toMatchObject([{ code: "PP102", message: "the quoted text is not closed" }]);
    expect(new LineIndex(text).position(findings[0]?.span.start ?? 0)).toEqual({ line: 7, column: 11 });
  });
});
