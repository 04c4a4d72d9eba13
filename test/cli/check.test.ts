// `packloop check` as a process: arguments, streams, exit codes, files.

import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folderWith, packloop, startPackloop } from "./run-cli.ts";

const head = 'id: s\nname: S\nversion: 1.0.0\ntemplate_engine: { version: v1, syntax: "{{variable}}" }\n';
const prompts = "prompts:\n  p: { id: p, name: P, version: 1.0.0, system_template: Emit Go. }\n";
const good = `${head}${prompts}workflow:
  version: 2
  entry: a
  states:
    a: { prompt_task: p, on_event: { Go: b } }
    b: { prompt_task: p, terminal: true }
`;
const bad = good.replace("Go: b", "Go: nowhere");
/** Two warnings with safe fixes: an end that does not say so, and a suppression that silences nothing. */
const fixable = good.replace(", terminal: true", "").replace("entry: a", "entry: a # pp-ignore PP301: gone");

interface JsonReport {
  readonly files: number;
  readonly errors: number;
  readonly warnings: number;
  readonly diagnostics: readonly { readonly code: string; readonly file: string; readonly line: number }[];
  readonly bounds: Readonly<Record<string, { readonly terminates: boolean; readonly visits: number | null }>>;
}

const json = (stdout: string): JsonReport => JSON.parse(stdout) as JsonReport;

describe("exit codes", () => {
  test("0 without errors, 1 with, 0 again with --exit-zero", () => {
    using folder = folderWith({ "good.yaml": good, "bad.yaml": bad });
    expect(packloop(["check", "good.yaml"], { cwd: folder.path }).code).toBe(0);
    expect(packloop(["check", "bad.yaml"], { cwd: folder.path }).code).toBe(1);
    expect(packloop(["check", "bad.yaml", "--exit-zero"], { cwd: folder.path }).code).toBe(0);
  });

  test("1 with more warnings than --max-warnings allows", () => {
    using folder = folderWith({ "p.yaml": fixable });
    const { warnings } = json(packloop(["check", "p.yaml", "--json"], { cwd: folder.path }).stdout);
    expect(warnings).toBeGreaterThan(0);
    expect(packloop(["check", "p.yaml", "--max-warnings", String(warnings)], { cwd: folder.path }).code).toBe(
      0,
    );
    expect(
      packloop(["check", "p.yaml", "--max-warnings", String(warnings - 1)], { cwd: folder.path }).code,
    ).toBe(1);
  });

  test.each([
    [["check", "missing.yaml"], "cannot open `missing.yaml` (no such file)"],
    [["check", "*.nothing"], "no file matches `*.nothing`"],
    [["check", "good.yaml", "--format", "xml"], "`xml` is not a format"],
    [["check", "good.yaml", "--select", "XX1"], "`XX1` is not a code or prefix"],
    [["check", "good.yaml", "--max-warnings", "-1"], "is not a whole number"],
    [["check", "good.yaml", "--nonsense"], "unknown option '--nonsense'"],
    [["check", "good.yaml", "--format", "json=no/such/folder/x"], "cannot write `no/such/folder/x`"],
    [["chekc", "good.yaml"], "did you mean `packloop check`?"],
    [["check", "good.yaml", "--config", "none.yaml"], "cannot open `none.yaml`"],
  ])("2 for unusable arguments: %j", (args, message) => {
    using folder = folderWith({ "good.yaml": good });
    const ran = packloop(args, { cwd: folder.path });
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(message);
    expect(ran.stderr).not.toContain("    at ");
  });
});

describe("what is checked", () => {
  test("several files, folders and globs, each once, in a stable order", () => {
    using folder = folderWith({
      "b.pack.yaml": bad,
      "a.pack.json": JSON.stringify({}),
      "notes.yaml": "a: 1\n",
    });
    mkdirSync(join(folder.path, "sub"));
    writeFileSync(join(folder.path, "sub", "c.yaml"), bad);
    const all = json(packloop(["check", "--json"], { cwd: folder.path }).stdout);
    expect([...new Set(all.diagnostics.map((one) => one.file))]).toEqual([
      "a.pack.json",
      "b.pack.yaml",
      "sub/c.yaml",
    ]);
    const twice = json(
      packloop(["check", "b.pack.yaml", "*.pack.yaml", "--json"], { cwd: folder.path }).stdout,
    );
    expect(twice.files).toBe(1);
  });

  test("standard input, under the name it is given", () => {
    const ran = packloop(["check", "-", "--stdin-filename", "x.yaml", "--format", "concise"], { input: bad });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^x\.yaml:11:\d+: error PP203: /);
  });

  test("packs in a ConfigMap, with positions in the manifest", () => {
    const manifest = `apiVersion: v1\nkind: ConfigMap\ndata:\n  pack.yaml: |\n${bad.replaceAll(/^(?=.)/gm, "    ")}`;
    const { diagnostics } = json(
      packloop(["check", "-", "--stdin-filename", "m.yaml", "--json"], { input: manifest }).stdout,
    );
    expect(diagnostics.find((one) => one.code === "PP203")?.line).toBe(15);
  });

  test.each([
    ["invalid UTF-8", Buffer.from([0x69, 0x64, 0x3a, 0x20, 0xff, 0xfe, 0x0a]), "PP102"],
    ["binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), "PP102"],
    ["UTF-16", Buffer.from(`\ufeff${good}`, "utf16le"), "PP102"],
    ["an empty file", Buffer.from(""), "PP102"],
    ["50 MB", Buffer.alloc(50_000_000, "a: 1\n"), "PP104"],
    ["deep nesting", Buffer.from("[".repeat(100_000)), "PP104"],
  ])("%s gets one clear finding", (_name, content, code) => {
    using folder = folderWith({ "p.yaml": content });
    const ran = packloop(["check", "p.yaml", "--json"], { cwd: folder.path });
    expect(ran).toMatchObject({ code: 1, stderr: "" });
    expect(json(ran.stdout).diagnostics.map((one) => one.code)).toEqual([code]);
  });
});

describe("what is shown", () => {
  test("--select shows only those codes and conventions it names, --ignore hides; errors stay", () => {
    const input = bad.replace("Go:", "go:").replace("Emit Go", "Emit go");
    const codes = (...args: string[]) => [
      ...new Set(
        json(packloop(["check", "-", "--json", ...args], { input }).stdout).diagnostics.map(
          (one) => one.code,
        ),
      ),
    ];
    expect(codes()).not.toContain("PP601");
    expect(codes("--select", "PP601")).toEqual(["PP601", "PP203"]);
    expect(codes("--select", "PP6,PP3")).toContain("PP601");
    expect(codes("--ignore", "PP")).toEqual(["PP203"]);
  });

  test("packloop.yaml sets severities and ignores with a reason", () => {
    const codes = (config: string) => {
      using folder = folderWith({ "p.json": jsonPack(), "packloop.yaml": config });
      return json(packloop(["check", "p.json", "--json"], { cwd: folder.path }).stdout);
    };
    expect(codes("").diagnostics.map((one) => one.code)).toContain("PP303");
    expect(codes("check: { severity: { PP303: off } }").diagnostics.map((one) => one.code)).not.toContain(
      "PP303",
    );
    expect(codes("check: { severity: { PP303: error } }").errors).toBe(1);
    const ignore =
      "check: { ignore: [{ code: PP303, file: '*.json', pointer: /workflow/states/b, reason: meant }] }";
    expect(codes(ignore).diagnostics.map((one) => one.code)).not.toContain("PP303");
  });

  test.each([
    ["chekc: {}", "unknown key `chekc` (did you mean `check`?)"],
    ["check: { severity: { PP999: off } }", "PP903: `PP999` is not a code"],
    ["check: { ignore: [{ code: PP303 }] }", "PP902: the ignore of `PP303` gives no `reason`"],
    ["a: [", "packloop.yaml:1:"],
  ])("a mistake in packloop.yaml is one line: %s", (config, message) => {
    using folder = folderWith({ "p.yaml": good, "packloop.yaml": config });
    const ran = packloop(["check", "p.yaml"], { cwd: folder.path });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(message);
  });

  test("several formats at once, one to stdout and one to a file", () => {
    using folder = folderWith({ "p.yaml": bad });
    const ran = packloop(["check", "p.yaml", "--format", "concise", "--format", "sarif=out.sarif"], {
      cwd: folder.path,
    });
    expect(ran.stdout).toContain("p.yaml:11:");
    expect(JSON.parse(readFileSync(join(folder.path, "out.sarif"), "utf8"))).toMatchObject({
      version: "2.1.0",
    });
  });

  test("colour only when asked for or on a terminal", () => {
    const esc = "\u001b[";
    expect(packloop(["check", "-"], { input: bad, env: { NO_COLOR: "" } }).stdout).not.toContain(esc);
    expect(packloop(["check", "-", "--color", "always"], { input: bad }).stdout).toContain(esc);
  });

  test("the bound and its certificate", () => {
    using folder = folderWith({ "p.yaml": good });
    const ran = packloop(["check", "p.yaml", "--bound", "--certificate", "c.json"], { cwd: folder.path });
    expect(ran.stdout).toContain("visits      ≤ 2");
    const certificates = JSON.parse(readFileSync(join(folder.path, "c.json"), "utf8")) as {
      kind: string;
      visits: number;
    }[];
    expect(certificates).toMatchObject([{ kind: "packloop.bound/1", visits: 2 }]);
  });

  test("the same output twice, byte for byte", () => {
    const twice = [1, 2].map(() => packloop(["check", "-", "--bound"], { input: bad }).stdout);
    expect(twice[0]).toBe(twice[1]);
  });
});

describe("fixes", () => {
  test("--diff prints a patch, writes nothing and exits 1", () => {
    using folder = folderWith({ "p.yaml": fixable });
    const ran = packloop(["check", "p.yaml", "--diff"], { cwd: folder.path });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("-  entry: a # pp-ignore PP301: gone\n");
    expect(ran.stdout).toContain("+  entry: a\n");
    expect(readFileSync(join(folder.path, "p.yaml"), "utf8")).toBe(fixable);
  });

  test("--fix mends in place, keeps the file's mode, and has nothing left to do the second time", () => {
    using folder = folderWith({ "p.yaml": fixable });
    const file = join(folder.path, "p.yaml");
    chmodSync(file, 0o640);
    expect(packloop(["check", "p.yaml", "--fix"], { cwd: folder.path }).code).toBe(0);
    const once = readFileSync(file, "utf8");
    expect(once).toContain("terminal: true");
    expect(once).not.toContain("pp-ignore");
    expect(statSync(file).mode & 0o777).toBe(0o640);
    packloop(["check", "p.yaml", "--fix"], { cwd: folder.path });
    expect(readFileSync(file, "utf8")).toBe(once);
  });

  test("--fix leaves what only --unsafe-fixes may change", () => {
    using folder = folderWith({ "p.yaml": good.replace("Go: b", "Go: bb").replaceAll("    b:", "    bbb:") });
    const file = join(folder.path, "p.yaml");
    const before = readFileSync(file, "utf8");
    packloop(["check", "p.yaml", "--fix"], { cwd: folder.path });
    expect(readFileSync(file, "utf8")).toBe(before);
    packloop(["check", "p.yaml", "--unsafe-fixes"], { cwd: folder.path });
    expect(readFileSync(file, "utf8")).toContain("Go: bbb");
  });

  test("standard input is mended to stdout, findings go to stderr", () => {
    const ran = packloop(["check", "-", "--fix"], { input: fixable });
    expect(ran.stdout).toContain("terminal: true");
    expect(ran.stderr).toContain("1 file");
  });
});

/** A pack in the syntax that takes no comments, with one finding that has a place. */
function jsonPack(): string {
  return JSON.stringify({
    id: "s",
    name: "S",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    prompts: { p: { id: "p", name: "P", version: "1.0.0", system_template: "Emit Go." } },
    workflow: {
      version: 2,
      entry: "a",
      states: { a: { prompt_task: "p", on_event: { Go: "b" } }, b: { prompt_task: "p" } },
    },
  });
}

test("--watch checks again after every change, also when the file is replaced", async () => {
  using folder = folderWith({ "p.yaml": good });
  const file = join(folder.path, "p.yaml");
  const watching = startPackloop(["check", "p.yaml", "--quiet", "--watch"], folder.path);
  const seen = (count: number) => watching.until((text) => text.split("watching for changes").length > count);
  await seen(1);
  for (const [index, text] of [bad, good, bad].entries()) {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    await seen(index + 2);
  }
  const text = await watching.stop("SIGINT");
  expect(text.match(/error PP203/g)).toHaveLength(2);
  expect(watching.code()).toBe(130);
});
