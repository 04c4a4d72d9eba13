import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { graphCommand } from "./graph.ts";

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

const PACK = `id: sample
name: Sample
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Emit Done. }
workflow:
  version: 1
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: end } }
    end: { prompt_task: p, terminal: true }
`;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "packloop-graph-"));
  writeFileSync(join(folder, "sample.pack.yaml"), PACK);
  said.out = "";
  said.err = "";
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]) => graphCommand().exitOverride().parseAsync(args, { from: "user" });

test("the default is a picture for the terminal", async () => {
  await run(join(folder, "sample.pack.yaml"));
  expect(said.out).toMatch(/^Sample 1\.0\.0\n\n▶ work/);
});

test("a folder with one pack stands for that pack", async () => {
  await run(folder, "--json");
  expect(JSON.parse(said.out)).toMatchObject({ entry: "work", edges: [{ from: "work", to: "end" }] });
});

test.each([
  ["mermaid", /^flowchart TD\n/],
  ["dot", /^digraph pack \{\n/],
  ["svg", /^<\?xml .*\n<svg /],
])("--format %s is printed", async (format, start) => {
  await run(folder, "--format", format);
  expect(said.out).toMatch(start);
});

test("the ending of --out chooses the format, and stdout stays clean", async () => {
  const file = join(folder, "picture.svg");
  await run(folder, "--out", file);
  expect(readFileSync(file, "utf8")).toContain("<svg ");
  expect(said.out).toBe("");
  expect(said.err).toContain("picture.svg");
});

test("a format that does not exist is refused with the list", async () => {
  const command = graphCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const parsing = command.parseAsync([folder, "--format", "png"], { from: "user" });
  await expect(parsing).rejects.toThrow(/ascii, mermaid, dot, svg, json/);
});

test("a file that cannot be written is a usage error", async () => {
  await expect(run(folder, "--out", join(folder, "no", "x.svg"))).rejects.toMatchObject({ code: 2 });
});

test("a graph too large to draw points to another format", async () => {
  const states = Array.from({ length: 700 }, (_, at) => {
    return `    s${at}: { prompt_task: p, on_event: { Next: ${at < 699 ? `s${at + 1}` : "end"} } }\n`;
  });
  const text = PACK.replace("entry: work", "entry: s0").replace(/ {4}work:.*\n/, states.join(""));
  writeFileSync(join(folder, "sample.pack.yaml"), text);
  await expect(run(folder, "--format", "svg")).rejects.toMatchObject({
    code: 2,
    message: "the graph is too large to be drawn (701 states); use --format dot",
  });
});

test("help ends with examples", () => {
  let help = "";
  graphCommand()
    .configureOutput({ writeOut: (text) => (help += text) })
    .outputHelp();
  expect(help.match(/^ {2}packloop graph .*/gm)).toHaveLength(2);
});
