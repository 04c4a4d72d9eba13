import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { get, type Json } from "../base/json.ts";
import { linkPack } from "../pack/link.ts";
import type { PackFile } from "../pack/shape/generated/pack-file.ts";
import { type RenderRequest, renderPrompt } from "./render.ts";

interface Sample extends Partial<Omit<RenderRequest, "artifactOf">> {
  readonly template: string;
  readonly artifacts?: Readonly<Record<string, Json>>;
  readonly declared?: readonly object[];
  readonly fragments?: Readonly<Record<string, string>>;
  readonly overrides?: object;
  readonly syntax?: string;
}

function render({ template, declared, fragments, overrides, syntax, artifacts, ...request }: Sample) {
  const prompt = {
    id: "p",
    name: "P",
    version: "1.0.0",
    system_template: template,
    variables: declared ?? [],
    model_overrides: overrides ?? {},
  };
  const program = linkPack({
    id: "sample",
    name: "Sample",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: syntax ?? "{{variable}}" },
    prompts: { p: prompt },
    fragments: fragments ?? {},
  } as unknown as PackFile);
  return renderPrompt(program, {
    prompt: "p",
    variables: {},
    artifactOf: (name) => get(artifacts ?? {}, name),
    workflowContext: null,
    ...request,
  });
}

const optional = (name: string, more: object = {}) => ({ name, type: "string", required: false, ...more });

describe("values (S38)", () => {
  test("names, dot paths, list indexes and inner spaces are filled", () => {
    const variables = {
      who: "Ann",
      user: { profile: { name: "Bo" } },
      items: [{ title: "first" }, ["x", "y"]],
    };
    const template = "{{who}} {{ who }} {{user.profile.name}} {{items[0].title}} {{items[1][1]}}";
    expect(render({ template, variables }).text).toBe("Ann Ann Bo first y");
  });

  test("strings stay as they are, other scalars are text, the rest is JSON", () => {
    const variables: Record<string, Json> = { s: 'a "b"', n: 1.5, t: true, o: { a: [1] }, l: ["x"], e: "" };
    expect(render({ template: "{{s}}|{{n}}|{{t}}|{{o}}|{{l}}|{{e}}|", variables }).text).toBe(
      'a "b"|1.5|true|{"a":[1]}|["x"]||',
    );
  });

  test("artifacts are read by name, JSON ones also by path", () => {
    const artifacts = { sha: "abc", report: { failed: [{ name: "t1" }] } };
    const template = "{{artifacts.sha}} {{artifacts.report.failed[0].name}} {{artifacts.report}}";
    expect(render({ template, artifacts }).text).toBe('abc t1 {"failed":[{"name":"t1"}]}');
  });

  test("a text artifact has no parts", () => {
    expect(render({ template: "{{artifacts.sha.length}}", artifacts: { sha: "abc" } }).missing).toEqual([
      "artifacts.sha.length",
    ]);
  });

  test("the context of the last transition is shown", () => {
    const { parts } = render({ template: "{{workflow_context}}", workflowContext: "tests fail" });
    expect(parts).toEqual([
      { text: "tests fail", source: { kind: "workflow_context", name: "workflow_context" } },
    ]);
  });

  test("a declared default applies where no value was given", () => {
    const declared = [optional("lang", { default: "en" }), optional("tone", { default: "dry" })];
    const { text, parts } = render({ template: "{{lang}} {{tone}}", declared, variables: { tone: "warm" } });
    expect(text).toBe("en warm");
    expect(parts.map(({ source }) => source.kind)).toEqual(["default", "template", "variable"]);
  });

  test("other delimiters are those of the template engine", () => {
    const variables = { a: "1" };
    expect(render({ template: "${a} {{a}}", syntax: "${variable}", variables }).text).toBe("1 {{a}}");
    expect(render({ template: '{a} {"k": 1}', syntax: "{variable}", variables }).text).toBe('1 {"k": 1}');
  });

  test("braces that are no placeholder stay text", () => {
    const template = '{{#if x}} {{fragment:tone}} {"a": {"b": 1}} {{not closed';
    expect(render({ template, fragments: { tone: "T" } }).text).toBe(template);
  });

  test("a key of every object is no value", () => {
    const { missing } = render({
      template: "{{constructor}} {{a.toString}} {{a.__proto__}}",
      variables: { a: {} },
    });
    expect(missing).toEqual(["constructor", "a.toString", "a.__proto__"]);
  });
});

describe("missing values (S39)", () => {
  test("are empty, recorded once and marked where they stand", () => {
    const { text, parts, missing } = render({ template: "a {{x.y}} b {{x.y}} {{artifacts.z}}." });
    expect(text).toBe("a  b  .");
    expect(missing).toEqual(["x.y", "artifacts.z"]);
    expect(parts[1]).toEqual({ text: "", source: { kind: "missing", name: "x.y" } });
  });

  test("a transition without context has none", () => {
    expect(render({ template: "{{workflow_context}}" }).missing).toEqual(["workflow_context"]);
  });

  test("`default: null` is no default", () => {
    expect(render({ template: "[{{a}}]", declared: [optional("a", { default: null })] }).text).toBe("[]");
  });
});

describe("one pass (S39)", () => {
  test("a placeholder inside a value stays text", () => {
    const variables = { a: "{{b}} {{artifacts.c}} {{fragments.f}}", b: "secret" };
    const { text } = render({
      template: "{{a}}",
      variables,
      artifacts: { c: "{{b}}" },
      fragments: { f: "F" },
    });
    expect(text).toBe("{{b}} {{artifacts.c}} {{fragments.f}}");
  });

  test("any value stays as it is, wherever it comes from", () => {
    const piece = fc.constantFrom(
      "{{",
      "}}",
      "x",
      "{{x}}",
      "{{fragments.f}}",
      "{{artifacts.a}}",
      "$&",
      "$1",
      "\n",
      "{",
    );
    const value = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(value, value, value, value, (x, a, context, byDefault) => {
        const { text, parts } = render({
          template: "1{{x}}2{{fragments.f}}3{{d}}4",
          fragments: { f: "<{{artifacts.a}}|{{workflow_context}}>" },
          declared: [optional("d", { default: byDefault })],
          variables: { x },
          artifacts: { a },
          workflowContext: context,
        });
        expect(text).toBe(`1${x}2<${a}|${context}>3${byDefault}4`);
        expect(parts.map((part) => part.text).join("")).toBe(text);
      }),
    );
  });
});

describe("fragments (S38)", () => {
  test("are expanded first, within each other, with variables in them", () => {
    const fragments = { house: "{{fragments.tone}} at {{company}}", tone: "Be brief" };
    const { text, parts } = render({
      template: "> {{fragments.house}}!",
      fragments,
      variables: { company: "Acme" },
    });
    expect(text).toBe("> Be brief at Acme!");
    expect(parts.map(({ text: part, source }) => [part, source.kind, source.name])).toEqual([
      ["> ", "template", "p"],
      ["Be brief", "fragment", "tone"],
      [" at ", "fragment", "house"],
      ["Acme", "variable", "company"],
      ["!", "template", "p"],
    ]);
  });

  test("a cycle ends at the fragment that is already open", () => {
    const fragments = { a: "a{{fragments.b}}", b: "b{{fragments.a}}" };
    const { text, missing } = render({ template: "{{fragments.a}}", fragments });
    expect(text).toBe("ab");
    expect(missing).toEqual(["fragments.a"]);
  });

  test("the same fragment twice in a row is no cycle", () => {
    expect(render({ template: "{{fragments.a}}{{fragments.a}}", fragments: { a: "x" } }).text).toBe("xx");
  });

  test("a bare name means the fragment unless a variable has it", () => {
    const fragments = { tone: "Be brief", lang: "F" };
    const declared = [optional("lang")];
    const { text, missing } = render({ template: "{{tone}}|{{lang}}", fragments, declared });
    expect(text).toBe("Be brief|");
    expect(missing).toEqual(["lang"]);
    expect(render({ template: "{{tone}}", fragments, variables: { tone: "given" } }).text).toBe("given");
  });

  test("an unknown fragment is missing", () => {
    expect(render({ template: "{{fragments.x}}" }).missing).toEqual(["fragments.x"]);
  });

  test("fragments that double at every level end soon", () => {
    const fragments: Record<string, string> = { f0: "" };
    for (let n = 1; n <= 40; n++) fragments[`f${n}`] = `{{fragments.f${n - 1}}}{{fragments.f${n - 1}}}`;
    expect(render({ template: "{{fragments.f30}}", fragments }).missing.length).toBeGreaterThan(0);
    expect(render({ template: "{{fragments.f40}}", fragments }).missing.length).toBeGreaterThan(0);
  });
});

describe("model overrides", () => {
  const overrides = {
    small: { system_template_prefix: "Think, {{who}}. ", system_template_suffix: " Then stop." },
    other: { system_template: "Other for {{who}}", system_template_prefix: "> " },
  };
  const sample = { template: "Base", overrides, variables: { who: "Ann" } };

  test("a prefix and a suffix go around the template and are templates themselves", () => {
    expect(render({ ...sample, model: "small" }).text).toBe("Think, Ann. Base Then stop.");
  });

  test("a replacement takes the template's place, inside the prefix", () => {
    const { text, parts } = render({ ...sample, model: "other" });
    expect(text).toBe("> Other for Ann");
    expect(parts[0]?.source).toEqual({ kind: "template", name: "model_overrides.other" });
  });

  test("another model, or none, gets the template as it is", () => {
    expect(render({ ...sample, model: "big" }).text).toBe("Base");
    expect(render({ ...sample, model: "constructor" }).text).toBe("Base");
    expect(render(sample).text).toBe("Base");
  });
});
