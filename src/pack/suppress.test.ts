// Suppression comments: what they silence, and what is said about them.

import { describe, expect, test } from "vitest";
import { checkText } from "./check-text.ts";

const head = 'id: s\nname: S\nversion: 1.0.0\ntemplate_engine: { version: v1, syntax: "{{variable}}" }\n';
const prompts = "prompts:\n  p: { id: p, name: P, version: 1.0.0, system_template: Emit Go. }\n";

function codes(text: string, file = "pack.yaml"): readonly string[] {
  return checkText(text, { file })
    .findings.filter((finding) => ["PP203", "PP301"].includes(finding.code) || finding.code.startsWith("PP9"))
    .map((finding) => finding.code);
}

const workflow = (orphan: string) => `${head}${prompts}workflow:
  version: 2
  entry: a
  states:
    a: { prompt_task: p, on_event: { Go: b } }
    b: { prompt_task: p, terminal: true }
${orphan}`;

describe("a suppression with a reason", () => {
  test("at the end of the line silences the finding", () => {
    expect(
      codes(workflow("    lost: { prompt_task: p, terminal: true } # pp-ignore PP301: kept for later\n")),
    ).toEqual([]);
  });

  test("on its own line silences the finding below, blank lines and other comments between them", () => {
    const orphan =
      "    # pp-ignore PP301: kept for later\n    # another remark\n\n    lost: { prompt_task: p, terminal: true }\n";
    expect(codes(workflow(orphan))).toEqual([]);
  });

  test("does not reach further than its line", () => {
    const orphan =
      "    lost: { prompt_task: p, terminal: true } # pp-ignore PP301: fine\n    gone: { prompt_task: p, terminal: true }\n";
    expect(codes(workflow(orphan))).toEqual(["PP301"]);
  });

  test("for the whole file stands at its top", () => {
    const orphan =
      "    lost: { prompt_task: p, terminal: true }\n    gone: { prompt_task: p, terminal: true }\n";
    expect(codes(`# pp-ignore-file PP301: a library of states\n${workflow(orphan)}`)).toEqual([]);
    expect(codes(`${workflow(orphan)}# pp-ignore-file PP301: too late\n`)).toEqual(["PP301", "PP301"]);
  });

  test("works inside a ConfigMap's block", () => {
    const inner = workflow("    lost: { prompt_task: p, terminal: true } # pp-ignore PP301: kept\n");
    const manifest = `apiVersion: v1\nkind: ConfigMap\ndata:\n  pack.yaml: |\n${inner.replaceAll(/^(?=.)/gm, "    ")}`;
    expect(codes(manifest)).toEqual([]);
  });

  test("cannot silence an error, and is told so", () => {
    const text = workflow("")
      .replace("Go: b", "Go: nowhere")
      .replace("} }\n    b", "} } # pp-ignore PP203: please\n    b");
    const findings = checkText(text, { file: "pack.yaml" }).findings;
    expect(findings.map((finding) => finding.code)).toContain("PP203");
    expect(findings.find((finding) => finding.code === "PP901")?.why).toBe("errors cannot be suppressed");
  });
});

describe("what is wrong with a suppression", () => {
  test("without a reason it silences nothing", () => {
    expect(codes(workflow("    lost: { prompt_task: p, terminal: true } # pp-ignore PP301\n"))).toEqual([
      "PP301",
      "PP902",
    ]);
  });

  test("one that silences nothing is reported with a safe removal", () => {
    const text = workflow("").replace("entry: a", "entry: a # pp-ignore PP301: no reason left");
    const [finding] = checkText(text, { file: "pack.yaml" }).findings.filter((one) => one.code === "PP901");
    expect(finding?.fix?.applicability).toBe("safe");
    const edit = finding?.fix?.edits[0];
    expect(text.slice(0, edit?.start) + text.slice(edit?.end)).toContain("entry: a\n");
  });

  test("a code that is off is not called unused", () => {
    const text = workflow("").replace("entry: a", "entry: a # pp-ignore PP301: off anyway");
    const { findings } = checkText(text, { file: "pack.yaml", isEnabled: (code) => code !== "PP301" });
    expect(findings.filter((one) => one.code === "PP901")).toEqual([]);
  });

  test("an unknown code is an error", () => {
    expect(codes(workflow("    # pp-ignore PP999: what\n"))).toEqual(["PP903"]);
  });
});

test("a comment-like text inside a template is no suppression", () => {
  const text = workflow("").replace("Emit Go.", '"Emit Go. # pp-ignore PP999: text"');
  expect(codes(text)).toEqual([]);
});

test("JSON has no comments, so the same words there mean nothing", () => {
  const text = JSON.stringify({ name: "# pp-ignore PP999: text" });
  expect(codes(text, "pack.json")).toEqual([]);
});
