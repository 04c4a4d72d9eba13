import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { renderCommand } from "./render.ts";

const said = vi.hoisted(() => ({ out: "", err: "" }));
vi.mock("../output.ts", () => {
  return {
    write: (text: string) => {
      said.out += text;
    },
    note: (text: string) => {
      said.err += `${text}\n`;
    },
  };
});

const HEAD = `id: sample
name: Sample
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
`;

const LOOP = `${HEAD}
prompts:
  coder:
    id: coder
    name: Coder
    version: 1.0.0
    system_template: >-
      Do {{task}} in {{lang}}, {{count}} times.
      Report: {{artifacts.report.failed}} {{workflow_context}}. Emit Done.
    variables:
      - { name: task, type: string, required: true }
      - { name: lang, type: string, required: false, default: Python }
      - { name: count, type: number, required: false, default: 1, validation: { maximum: 3 } }
    parameters: { temperature: 1 }
    model_overrides: { small: { system_template_prefix: "Think. ", parameters: { temperature: 0 } } }
workflow:
  version: 2
  entry: work
  states:
    work:
      prompt_task: coder
      on_event: { Done: end }
      artifacts:
        report: { type: application/json }
        log: { type: text/plain, mode: append }
    end: { prompt_task: coder, terminal: true }
`;

const prompt = (name: string) =>
  `  ${name}: { id: ${name}, name: N, version: 1.0.0, system_template: I am ${name} }\n`;

let folder = "";
let pack = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "packloop-render-"));
  pack = save("sample.pack.yaml", LOOP);
  said.out = "";
  said.err = "";
});
afterEach(() => rmSync(folder, { recursive: true }));

function save(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const run = (...args: string[]) => renderCommand().exitOverride().parseAsync(args, { from: "user" });
const refused = (...args: string[]) =>
  run(...args).then(
    () => "not refused",
    (error: { code: number; message: string }) => `${error.code}: ${error.message}`,
  );

describe("the prompt of a state", () => {
  test("is printed as the model would get it, its sources on stderr", async () => {
    const given = ["--var", "task=a=b", "--var", "count=2", "--artifact", 'report={"failed": [1]}'];
    await run(pack, "work", ...given, "--context", "be quick");
    expect(said.out).toBe("Do a=b in Python, 2 times. Report: [1] be quick. Emit Done.\n");
    expect(said.err).toMatch(/variable +task +a=b\n/);
    expect(said.err).toMatch(/default +lang +Python\n/);
    expect(said.err).toMatch(/artifact +artifacts\.report\.failed +\[1\]\n/);
    expect(said.err).toMatch(/workflow context +workflow_context +be quick\n/);
  });

  test("is empty where values are missing, and says which", async () => {
    await run(pack, "work");
    expect(said.out).toBe("Do  in Python, 1 times. Report:  . Emit Done.\n");
    expect(said.err).toMatch(/missing +task +\(empty\)\n/);
    expect(said.err).toContain("note: variable `task` is required and has no value");
  });

  test("can be marked inline", async () => {
    await run(pack, "work", "--var", "task=x", "--marks");
    expect(said.out).toMatch(
      /^Do ⟦variable task: x⟧ in ⟦default lang: Python⟧.*⟦missing artifacts\.report\.failed⟧/,
    );
    expect(said.err).toBe("");
  });

  test("follows a model's overrides", async () => {
    await run(pack, "work", "--var", "task=x", "--model", "small", "--json");
    expect(JSON.parse(said.out)).toMatchObject({ model: "small", parameters: { temperature: 0 } });
    expect((JSON.parse(said.out) as { system: string }).system).toMatch(/^Think\. Do x/);
  });

  test("is data with --json", async () => {
    await run(pack, "work", "--var", "task=x", "--json");
    const data = JSON.parse(said.out) as Record<string, unknown>;
    expect(data).toMatchObject({
      state: "work",
      prompt: "coder",
      missing: ["artifacts.report.failed", "workflow_context"],
      parameters: { temperature: 1 },
      variables: { task: "x", lang: "Python", count: 1 },
    });
    expect((data["parts"] as readonly unknown[])[1]).toEqual({
      text: "x",
      source: { kind: "variable", name: "task" },
    });
    expect((data["tools"] as readonly { name: string }[]).map(({ name }) => name)).toEqual([
      "workflow__transition",
      "workflow__set_artifact",
    ]);
  });
});

describe("values", () => {
  test("come from a file of variables, and single ones win", async () => {
    const file = save("vars.yaml", "task: from file\nlang: Rust\n");
    await run(pack, "work", "--vars-file", file, "--var", "lang=Go");
    expect(said.out).toMatch(/^Do from file in Go/);
  });

  test("of artifacts may stand in a file", async () => {
    const file = save("report.json", '{"failed": "two"}');
    await run(pack, "work", "--artifact", `report=@${file}`);
    expect(said.out).toContain("Report: two ");
  });

  test("that are wrong are refused all at once", async () => {
    expect(await refused(pack, "work", "--var", "count=9", "--var", "lang=", "--var", "task=x")).toBe(
      "2: variable `count` must be at most 3, not 9",
    );
    expect(await refused(pack, "work", "--artifact", "report={", "--artifact", "lgo=x")).toBe(
      [
        "2: 2 values cannot be used",
        "  - artifact `report` is application/json, and its value is no JSON",
        "  - no state declares artifact `lgo` (did you mean `log`?)",
      ].join("\n"),
    );
  });

  test("of an append artifact add up (S34)", async () => {
    const text = LOOP.replace("{{artifacts.report.failed}}", "{{artifacts.log}} {{artifacts.report}}");
    const file = save("append.yaml", text.replace("application/json }", "application/json, mode: append }"));
    const given = ["log=a", "log=b", "report=[1]", "report=2"].flatMap((pair) => ["--artifact", pair]);
    await run(file, "work", "--var", "task=x", ...given);
    expect(said.out).toContain("Report: a\nb [1,2] ");
  });

  test("of an artifact over 64 KiB are refused (S37)", async () => {
    const file = save("big.txt", "x".repeat(65_537));
    expect(await refused(pack, "work", "--artifact", `log=@${file}`)).toBe(
      "2: artifact `log` has 65537 bytes, over the limit of 65536",
    );
  });

  test("need a name and an equals sign", async () => {
    expect(await refused(pack, "work", "--var", "task")).toMatch(/^2: `--var task` names no value/);
  });

  test("of a file that is no mapping are refused with the place", async () => {
    expect(await refused(pack, "work", "--vars-file", save("v.yaml", "- 1"))).toMatch(/^2: .* is no mapping/);
    expect(await refused(pack, "work", "--vars-file", save("v.json", '{"a": }'))).toMatch(
      /^2: .*v\.json:1:7: /,
    );
  });

  test("and the pack cannot both come by standard input", async () => {
    expect(await refused("-", "work", "--vars-file", "-")).toMatch(/^2: standard input cannot be both/);
  });
});

describe("what to render", () => {
  test("an unknown state is refused with a suggestion", async () => {
    expect(await refused(pack, "wrok")).toBe("2: `wrok` is no state of the pack (did you mean `work`?)");
    expect(await refused(pack, "__proto__")).toBe(
      "2: `__proto__` is no state of the pack (the pack has work, end)",
    );
  });

  test("a workflow needs a state or a prompt", async () => {
    expect(await refused(pack)).toBe("2: give a state: work, end");
    await run(pack, "--prompt", "coder", "--json");
    expect(JSON.parse(said.out)).toMatchObject({ state: null, prompt: "coder", tools: [] });
  });

  test("without a workflow it is the only prompt, the entry agent, or the one chosen (S5)", async () => {
    await run(save("one.yaml", `${HEAD}prompts:\n${prompt("a")}`));
    expect(said.out).toBe("I am a\n");
    const two = `${HEAD}prompts:\n${prompt("a")}${prompt("b")}`;
    expect(await refused(save("two.yaml", two))).toMatch(
      /^2: the pack has 2 prompts; choose one with --prompt: a, b/,
    );
    said.out = "";
    await run(save("two.yaml", two), "--prompt", "b");
    await run(save("agents.yaml", `${two}agents: { entry: b, members: { a: {}, b: {} } }\n`));
    expect(said.out).toBe("I am b\nI am b\n");
  });

  test("a state of a pack without workflow is refused", async () => {
    const file = save("one.yaml", `${HEAD}prompts:\n${prompt("a")}`);
    expect(await refused(file, "a")).toBe("2: the pack has no workflow, so `a` is no state (use --prompt a)");
  });

  test("help ends with examples", () => {
    let help = "";
    renderCommand()
      .configureOutput({ writeOut: (text) => (help += text) })
      .outputHelp();
    expect(help.match(/^ {2}packloop render .*/gm)).toHaveLength(2);
    expect(help).not.toContain("default: []");
  });
});
