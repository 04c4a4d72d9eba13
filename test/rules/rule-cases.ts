// Fixtures of the rules: `testdata/rules/PP203.txt` holds cases, each a part of a pack and the exact findings
// of that code.
//
//   === bad: a misspelt target          (bad and edge-bad must report, ok and edge-ok must not)
//   workflow: …                          (missing id, name, version, template_engine, prompts are appended)
//                                        (a first line `#raw` is dropped, and nothing is appended)
//   --- packloop.yaml                    (optional: what the configuration holds, as JSON or YAML)
//   tools: …
//   ---                                  (the expected text, exactly)
//   error PP203: …
//
// Run with UPDATE_RULES=1 to write the expected text, then read the difference.

import { parse } from "yaml";
import { diagnosticText } from "../../src/cli/format/pretty.ts";
import { type CheckConfig, emptyConfig } from "../../src/pack/check/rule.ts";
import { checkText } from "../../src/pack/check-text.ts";
import { locate } from "../../src/pack/diagnostic.ts";
import { LineIndex } from "../../src/pack/read/line-index.ts";

export interface RuleCase {
  readonly kind: "bad" | "ok";
  readonly title: string;
  /** As written in the file, before completion. */
  readonly pack: string;
  readonly config: string;
  readonly expected: string;
}

export function parseCases(text: string): readonly RuleCase[] {
  const cases: RuleCase[] = [];
  for (const chunk of text.split(/^=== /m).slice(1)) {
    const newline = chunk.indexOf("\n");
    const header = /^(edge-)?(bad|ok): (.+)$/.exec(chunk.slice(0, newline));
    if (header === null)
      throw new Error(`a case begins "=== bad: title" or "=== ok: title", not ${chunk.slice(0, newline)}`);
    const [body = "", expected = ""] = chunk.slice(newline + 1).split(/^---\n/m);
    const [pack = "", config = ""] = body.split(/^--- packloop\.yaml\n/m);
    cases.push({
      kind: header[2] as "bad" | "ok",
      title: `${header[1] ?? ""}${header[2]}: ${header[3]}`,
      pack,
      config,
      expected,
    });
  }
  return cases;
}

export function printCases(cases: readonly RuleCase[]): string {
  return cases
    .map(({ title, pack, config, expected }) => {
      const setup = config === "" ? "" : `--- packloop.yaml\n${config}`;
      return `=== ${title}\n${pack}${setup}${expected === "" ? "" : `---\n${expected}`}`;
    })
    .join("");
}

/** Top-level keys a case leaves out are put behind it, so that the lines of the case keep their numbers. */
export function completed(pack: string): string {
  if (pack.trimStart().startsWith("{")) return pack;
  const has = (key: string) => new RegExp(`^["']?${key}["']?\\s*:`, "m").test(pack);
  let text = pack.endsWith("\n") ? pack : `${pack}\n`;
  if (!has("id")) text += "id: sample\n";
  if (!has("name")) text += "name: Sample\n";
  if (!has("version")) text += "version: 1.0.0\n";
  if (!has("template_engine")) text += 'template_engine: { version: v1, syntax: "{{variable}}" }\n';
  if (!has("prompts"))
    text += "prompts: { p: { id: p, name: P, version: 1.0.0, system_template: Go on. } }\n";
  return text;
}

/** A first line that says the case is a whole file. */
const RAW = "#raw\n";

/** All findings of one code in a case, as the terminal shows them. */
export function findingsText(code: string, ruleCase: Pick<RuleCase, "pack" | "config">): string {
  const text = ruleCase.pack.startsWith(RAW) ? ruleCase.pack.slice(RAW.length) : completed(ruleCase.pack);
  const file = text.trimStart().startsWith("{") ? "pack.json" : "pack.yaml";
  const lines = new LineIndex(text);
  const { findings } = checkText(text, { file, ...readCaseConfig(ruleCase.config) });
  return findings
    .filter((finding) => finding.code === code)
    .map((finding) => diagnosticText(locate(finding, file, lines), { lines }))
    .join("");
}

/** What a case sets beside its pack; `strict`, `bound` and `limit` stand for the options of the same name. */
export function readCaseConfig(text: string): { config: CheckConfig; strict: boolean; limit?: number } {
  if (text === "") return { config: emptyConfig, strict: false };
  const value = parse(text) as Record<string, unknown>;
  const files = value["files"] as Record<string, "inside" | "outside" | "missing"> | undefined;
  return {
    config: {
      tools: (value["tools"] ?? {}) as CheckConfig["tools"],
      approvals: (value["approvals"] ?? []) as readonly string[],
      waitExpires: value["waitExpires"] === true,
      bound: value["bound"] === true,
      ...(files !== undefined && { probeFile: (path: string) => files[path] ?? "missing" }),
    },
    strict: value["strict"] === true,
    ...(typeof value["limit"] === "number" && { limit: value["limit"] }),
  };
}
