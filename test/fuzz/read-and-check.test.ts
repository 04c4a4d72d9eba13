// Whatever is in a file, the checker gives findings: no exception, no long wait, no place outside the file.
// FUZZ_RUNS sets how many texts of each kind are tried.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CheckConfig, emptyConfig } from "../../src/pack/check/rule.ts";
import { checkText } from "../../src/pack/check-text.ts";
import type { Span } from "../../src/pack/read/tree.ts";
import { anyJson, anyText, garbage, mutatedPacks, plantedPacks, type Sample } from "./samples.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 150);
/** Of the processor, not of the clock: the machine may be busy with other tests. */
const limitMs = 1000;

const config: CheckConfig = { ...emptyConfig, bound: true, probeFile: () => "missing" };

interface Judged {
  readonly codes: readonly string[];
  /** What must never happen: too long a wait, a place outside the file. */
  readonly faults: readonly string[];
}

function judge({ file, text }: Sample): Judged {
  const before = process.threadCpuUsage();
  const { findings } = checkText(text, { file, config });
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1000;
  const isOutside = ({ start, end }: Span) => start < 0 || start > end || end > text.length;
  const faults = findings
    .filter(({ span, related, fix }) =>
      [span, ...related.map((one) => one.span), ...(fix?.edits ?? [])].some(isOutside),
    )
    .map(({ code, message }) => `outside the file: ${code} ${message}`);
  if (ms > limitMs) faults.push(`took ${Math.round(ms)} ms`);
  return { codes: findings.map((finding) => finding.code), faults };
}

test.each([
  ["any text", anyText],
  ["any JSON", anyJson],
  ["data with the words of the format", garbage],
  ["packs with a few bytes changed", mutatedPacks],
  ["packs with values of any shape", plantedPacks],
])("%s is checked without exception, in time, with places inside the file", (_name, samples) => {
  fc.assert(
    fc.property(samples, (sample) => {
      expect(judge(sample).faults).toEqual([]);
    }),
    { numRuns },
  );
});

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("");
const bomb = (names: string) =>
  [...names]
    .map(
      (name, i) =>
        `${name}: &${name} [${Array(9)
          .fill(i === 0 ? "x" : `*${names[i - 1]}`)
          .join(", ")}]\n`,
    )
    .join("");

const prompt = { id: "p", name: "P", version: "1.0.0", system_template: "Emit Go or Done." };
const syntax = "{{variable}}";

/** A pack of one prompt with more beside it. */
function packWith(more: object): Sample {
  const engine = { version: "v1", syntax };
  const head = { id: "s", name: "S", version: "1.0.0", template_engine: engine, prompts: { p: prompt } };
  return { file: "pack.json", text: JSON.stringify({ ...head, ...more }) };
}

const object = <T>(count: number, entry: (i: number) => readonly [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => entry(i)));

describe("a hostile file gets one clear finding, quickly", () => {
  test.each([
    ["alias bomb", "PP104", "pack.yaml", bomb("abcdefghij")],
    ["a hundred thousand aliases", "PP104", "pack.yaml", `a: &a x\nb: [${"*a, ".repeat(100_000)}]\n`],
    ["alias inside its own value", "PP102", "pack.yaml", "a: &a { b: *a }\n"],
    ["deep brackets", "PP104", "pack.yaml", "[".repeat(100_000)],
    ["deep brackets that are closed", "PP104", "pack.yaml", "[".repeat(100_000) + "]".repeat(100_000)],
    ["deep brackets in JSON", "PP104", "pack.json", "[".repeat(100_000)],
    ["deep braces", "PP104", "pack.yaml", "{a: ".repeat(100_000)],
    ["deep objects in JSON", "PP104", "pack.json", '{"a":'.repeat(100_000)],
    ["deep dashes", "PP104", "pack.yaml", "- ".repeat(100_000)],
    ["deep question marks", "PP104", "pack.yaml", "? ".repeat(100_000)],
    ["deep dashes and question marks", "PP104", "pack.yaml", "- ? ".repeat(100_000)],
    ["deep keys on one line", "PP104", "pack.yaml", "a: ".repeat(100_000)],
    ["deep indentation", "PP104", "pack.yaml", lines(2000, (i) => `${" ".repeat(i)}a:\n`)],
    ["deep indented dashes", "PP104", "pack.yaml", lines(2000, (i) => `${" ".repeat(i)}-\n`)],
    ["many anchors", "PP104", "pack.yaml", "&a ".repeat(100_000)],
    ["many tags", "PP104", "pack.yaml", "!!map ".repeat(100_000)],
    ["many documents", "PP104", "pack.yaml", "---\na: 1\n".repeat(5_000)],
    ["fifty megabytes", "PP104", "pack.yaml", `a: ${"x".repeat(50_000_000)}`],
    ["fifty megabytes in JSON", "PP104", "pack.json", `{"a": "${"x".repeat(50_000_000)}"}`],
    ["millions of line ends", "PP104", "pack.yaml", "\n".repeat(4_900_000)],
    ["millions of brackets", "PP104", "pack.yaml", "]".repeat(4_900_000)],
    ["millions of quotes", "PP104", "pack.yaml", '"'.repeat(4_900_000)],
    ["millions of quotes in JSON", "PP102", "pack.json", '"'.repeat(4_900_000)],
    ["zero bytes", "PP102", "pack.yaml", "id: \u0000\u0000\u0000"],
    ["zero bytes in JSON", "PP102", "pack.json", '{"id": "\u0000"}'],
    ["a UTF-16 file read as UTF-8", "PP102", "pack.json", "\ufffd\ufffd{\u0000}\u0000"],
  ])("%s", (_name, code, file, text) => {
    expect(judge({ file, text })).toEqual({ codes: [code], faults: [] });
  });

  test("a manifest with a manifest in it, many times over", () => {
    let text = "id: x\n";
    for (let i = 0; i < 60; i++) {
      text = `apiVersion: v1\nkind: ConfigMap\ndata:\n  pack.yaml: |\n${text.replaceAll(/^(?=.)/gm, "    ")}`;
    }
    expect(judge({ file: "pack.yaml", text })).toEqual({ codes: ["PP101"], faults: [] });
  });
});

describe("a hostile pack gets its finding, quickly", () => {
  /** How often a code is reported; the faults instead, if there are any. */
  const times = (code: string, sample: Sample): number | readonly string[] => {
    const { codes, faults } = judge(sample);
    return faults.length > 0 ? faults : codes.filter((one) => one === code).length;
  };

  test("duplicate keys", () => {
    expect(times("PP103", { file: "pack.yaml", text: `metadata:\n${"  a: 1\n".repeat(10_000)}` })).toBe(1);
    const pairs = lines(20_000, (i) => `"k${i}":1,"k${i}":2,`);
    expect(times("PP103", { file: "pack.json", text: `{"metadata":{${pairs}"z":1}}` })).toBe(100);
  });

  test("keys of the prototype", () => {
    const text = "__proto__: { polluted: 1 }\nmetadata: { __proto__: { polluted: 1 }, constructor: 1 }\n";
    expect(times("PP105", { file: "pack.yaml", text })).toBe(1);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("fragments in a circle", () => {
    const fragments = object(500, (i) => {
      return [`f${i}`, `{{fragments.f${(i + 1) % 500}}} {{fragments.f${(i * 7) % 500}}}`];
    });
    const prompts = { p: { ...prompt, system_template: "{{fragments.f0}}" } };
    expect(times("PP210", packWith({ prompts, fragments }))).toBe(1);
  });

  test("a long chain of fragments", () => {
    const fragments = object(2_000, (i) => [`f${i}`, `{{fragments.f${i + 1}}}`]);
    const prompts = { p: { ...prompt, system_template: "{{fragments.f0}}" } };
    expect(times("PP210", packWith({ prompts, fragments }))).toBe(1);
  });

  test("a pattern that never ends", () => {
    const validation = { pattern: "^(a+)+$" };
    const variable = {
      name: "v",
      type: "string",
      required: false,
      default: `${"a".repeat(40)}!`,
      validation,
    };
    const prompts = { p: { ...prompt, system_template: "{{v}}", variables: [variable] } };
    expect(times("PP706", packWith({ prompts }))).toBe(1);
  });

  test("names of a megabyte that are nearly alike", () => {
    const name = "x".repeat(900_000);
    const states = {
      [`${name}a`]: { prompt_task: "p", terminal: true },
      [`${name}b`]: { prompt_task: "p", on_event: { Go: `${name}c` } },
    };
    expect(times("PP203", packWith({ workflow: { version: 2, entry: `${name}b`, states } }))).toBe(1);
  });

  test("thousands of wrong targets", () => {
    const states = object(2000, (i) => {
      return [`state_${i}`, { prompt_task: "p", on_event: { Go: `stat_${i}`, Done: "state_0" } }];
    });
    expect(times("PP203", packWith({ workflow: { version: 2, entry: "state_0", states } }))).toBe(2000);
  });

  test("thousands of tools that are defined nowhere", () => {
    const prompts = object(500, (i) => [
      `p${i}`,
      { ...prompt, id: `p${i}`, tools: Array.from({ length: 10 }, (_, j) => `tool_${i}_${j}`) },
    ]);
    expect(times("PP209", packWith({ prompts }))).toBe(5000);
  });
});
