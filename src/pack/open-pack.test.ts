// The library's way in.

import { describe, expect, test } from "vitest";
import { openPack } from "./open-pack.ts";

const yaml = `
# a comment
id: tick
name: Tick
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p:
    id: p
    name: P
    version: 1.0.0
    system_template: "Emit Again. Topic: {{topic}}"
    variables: [{ name: topic, type: string, required: true }]
workflow:
  version: 2
  entry: tick
  states:
    tick: { prompt_task: p, max_visits: 5, on_max_visits: sum, on_event: { Again: tick } }
    sum: { prompt_task: p, terminal: true }
`;
const json = JSON.stringify({
  workflow: {
    states: {
      sum: { terminal: true, prompt_task: "p" },
      tick: { on_event: { Again: "tick" }, on_max_visits: "sum", max_visits: 5, prompt_task: "p" },
    },
    entry: "tick",
    version: 2,
  },
  prompts: {
    p: {
      variables: [{ required: true, type: "string", name: "topic" }],
      system_template: "Emit Again. Topic: {{topic}}",
      version: "1.0.0",
      name: "P",
      id: "p",
    },
  },
  template_engine: { syntax: "{{variable}}", version: "v1" },
  version: "1.0.0",
  name: "Tick",
  id: "tick",
});

function digest(text: string, file = "pack.yaml"): string {
  const opened = openPack(text, { file });
  if (!opened.ok) throw opened.toError();
  return opened.digest;
}

describe("the digest", () => {
  test("does not depend on syntax, formatting, comments or key order", () => {
    expect(digest(yaml)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digest(json, "pack.json")).toBe(digest(yaml));
    expect(digest(yaml.replaceAll("\n", "\r\n"))).toBe(digest(yaml));
  });

  test("does not depend on what has no effect", () => {
    expect(digest(yaml.replace("version: 2\n", "version: 1\n"))).toBe(digest(yaml));
    expect(digest(yaml.replace("terminal: true", "terminal: true, on_event: {}"))).toBe(digest(yaml));
    expect(digest(`$schema: https://example.test/schema.json\n${yaml}`)).toBe(digest(yaml));
  });

  test("changes with everything a run could notice", () => {
    const changes = [
      yaml.replace("max_visits: 5", "max_visits: 6"),
      yaml.replace("Emit Again.", "Emit Again!"),
      yaml.replace("Again: tick", "Again: sum"),
      yaml.replace("required: true", "required: false"),
      yaml.replace("version: 1.0.0\ntemplate", "version: 1.0.1\ntemplate"),
    ];
    expect(new Set([yaml, ...changes].map((text) => digest(text))).size).toBe(changes.length + 1);
  });
});

test("a program cannot be changed", () => {
  const opened = openPack(yaml);
  if (!opened.ok) throw opened.toError();
  expect(() => Object.assign(opened.program.workflow?.states["tick"] as object, { maxVisits: 99 })).toThrow(
    TypeError,
  );
});

test("a pack with an error gives diagnostics and an error to throw, never a program", () => {
  const opened = openPack(yaml.replace("entry: tick", "entry: tock"), { file: "tick.yaml" });
  expect(opened.ok).toBe(false);
  if (opened.ok) return;
  expect(opened.toError().message).toMatch(/^tick\.yaml:16:10: PP201: /);
  expect(opened.toError().diagnostics).toBe(opened.diagnostics);
});

test("a state called __proto__ is a state like any other", () => {
  const text = yaml.replaceAll("sum", "__proto__");
  const opened = openPack(text);
  if (!opened.ok) throw opened.toError();
  expect(Object.keys(opened.program.workflow?.states ?? {})).toEqual(["tick", "__proto__"]);
  expect(opened.bound.visits).toBe(6);
});

test("one of several packs in a manifest is opened by its key", () => {
  const block = (text: string) => text.trim().replaceAll(/^/gm, "    ");
  const second = yaml.replace("id: tick", "id: tock");
  const manifest = `apiVersion: v1\nkind: ConfigMap\ndata:\n  a.pack.yaml: |\n${block(yaml)}\n  b.pack.yaml: |\n${block(second)}\n`;
  const opened = openPack(manifest, { file: "m.yaml", embeddedAs: "b.pack.yaml" });
  expect(opened.ok && opened.program.id).toBe("tock");
});
