// The file tools on real folders: what they answer, their limits, and what a repeat after a crash does.

import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bindFs } from "../../../src/adapter/tool/fs/bind-fs.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

const text = (bench: Bench, path: string) => readFile(bench.at(path), "utf8");

describe("options", () => {
  test("say what is missing, unknown or mapped to nothing", async () => {
    await using bench = await Bench.make();
    const problems = (options: JsonObject) => problemsOf(bindFs, options, bench.around);
    expect(problems({})).toEqual(["tools.t: `op` is missing"]);
    expect(problems({ op: "wrte" })).toEqual([
      "tools.t.op: `wrte` is not known here (did you mean `write`?)",
    ]);
    expect(problems({ op: "read", args: { pth: "x" } })).toEqual([
      "tools.t.args: `pth` is not an argument of this tool (expected one of path, offset, limit)",
    ]);
    expect(problems({ op: "read", max_entrys: 3 })).toHaveLength(1);
  });

  test("tell what each operation can do and that a repeat does no harm", async () => {
    await using bench = await Bench.make();
    const tiers = ["list", "read", "glob", "grep", "write", "edit"].map((op) => {
      const { tier, safe, definition } = bench.bind(bindFs, { op });
      return [op, tier, safe, typeof definition?.description].join(" ");
    });
    expect(tiers).toEqual([
      "list read true string",
      "read read true string",
      "glob read true string",
      "grep read true string",
      "write write true string",
      "edit write true string",
    ]);
  });
});

describe("arguments", () => {
  test.each<[string, JsonObject, string]>([
    ["read", { file_path: "a.txt" }, "one\ntwo\nthree\n"],
    ["read", { filename: "a.txt", offset: "2", limit: 1 }, "two\n"],
    ["read", { target_file: "a.txt", start_line: 3 }, "three\n"],
  ])("of %s are read from %j", async (op, args, content) => {
    await using bench = await Bench.make({ "a.txt": "one\ntwo\nthree\n" });
    expect(valueOf(await bench.call(bench.bind(bindFs, { op }), args))["content"]).toBe(content);
  });

  test("are read by the names a binding gives", async () => {
    await using bench = await Bench.make({ "a.txt": "one" });
    const tool = bench.bind(bindFs, { op: "read", args: { path: "which" } });
    expect(valueOf(await bench.call(tool, { which: "a.txt", path: "b.txt" }))).toMatchObject({
      content: "one",
    });
    expect(await bench.call(tool, { path: "a.txt" })).toEqual({
      ok: false,
      code: "bad_arguments",
      message: "`which` is missing",
    });
  });

  test.each<[Json]>([
    [null],
    ["a.txt"],
    [[]],
    [{ path: 3 }],
    [{ path: ["a.txt"] }],
    [{ path: "a.txt", limit: -1 }],
  ])("that are %j are refused", async (args) => {
    await using bench = await Bench.make({ "a.txt": "one" });
    expect(codeOf(await bench.call(bench.bind(bindFs, { op: "read" }), args))).toBe("bad_arguments");
  });
});

describe("read", () => {
  test("gives the text as it is, byte for byte", async () => {
    for (const content of ["", "x", "x\n", "\n", "a\r\nb\r\n", "\uFEFFmark", "ä\n€\n😀", "one\n\n\ntwo"]) {
      await using bench = await Bench.make({ "a.txt": content });
      expect(
        valueOf(await bench.call(bench.bind(bindFs, { op: "read" }), { path: "a.txt" }))["content"],
      ).toBe(content);
    }
  });

  test("shows as many lines as fit and says how many it left out", async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index + 1} ${"x".repeat(100)}`);
    await using bench = await Bench.make({ "big.txt": `${lines.join("\n")}\n` });
    const answer = valueOf(await bench.call(bench.bind(bindFs, { op: "read" }), { path: "big.txt" }));
    expect(JSON.stringify(answer).length).toBeLessThanOrEqual(256 * 1024);
    const to = answer["to"] as number;
    expect(answer).toMatchObject({ from: 1, lines: 5000, left_out: `${5000 - to} of 5000 lines` });
    expect(answer["content"]).toBe(`${lines.slice(0, to).join("\n")}\n`);
    const next = valueOf(
      await bench.call(bench.bind(bindFs, { op: "read" }), { path: "big.txt", offset: to + 1 }),
    );
    expect((next["content"] as string).startsWith(`line ${to + 1} `)).toBe(true);
  });

  test("cuts a line that alone is too long, between characters", async () => {
    await using bench = await Bench.make({ "long.txt": `${"€".repeat(200_000)}\nnext\n` });
    const answer = valueOf(await bench.call(bench.bind(bindFs, { op: "read" }), { path: "long.txt" }));
    expect(answer["content"]).toMatch(/^€+$/);
    expect(answer["cut"]).toMatch(/^\d+ bytes/);
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(256 * 1024);
  });

  test("refuses what is no text, is not there or has fewer lines", async () => {
    await using bench = await Bench.make({ "a.txt": "one\n" });
    await writeFile(bench.at("b.bin"), Buffer.from([1, 0, 2]));
    const read = bench.bind(bindFs, { op: "read" });
    expect(codeOf(await bench.call(read, { path: "b.bin" }))).toBe("not_text");
    expect(codeOf(await bench.call(read, { path: "c.txt" }))).toBe("not_found");
    expect(codeOf(await bench.call(read, { path: "." }))).toBe("not_a_file");
    expect(codeOf(await bench.call(read, { path: "a.txt", offset: 9 }))).toBe("bad_arguments");
  });
});

describe("list, glob and grep", () => {
  const files = {
    "src/a.ts": "const alpha = 1;\nconst beta = 2;\n",
    "src/deep/b.ts": "import { alpha } from '../a';\r\n",
    "src/deep/c.js": "alpha();\n",
    "README.md": "# Alpha\n",
    "node_modules/pkg/index.ts": "alpha\n",
  };

  test("list shows a folder in the order of names", async () => {
    await using bench = await Bench.make(files);
    const list = bench.bind(bindFs, { op: "list" });
    expect(valueOf(await bench.call(list, { path: "src" }))).toEqual({
      path: "src",
      entries: [
        { path: "src/a.ts", type: "file", bytes: 33 },
        { path: "src/deep", type: "folder" },
      ],
    });
    const all = valueOf(await bench.call(list, { recursive: true }))["entries"] as readonly JsonObject[];
    expect(all.map(({ path }) => path)).toContain("src/deep/c.js");
    expect(all.map(({ path }) => path)).not.toContain("node_modules/pkg");
  });

  test.each<[string, readonly string[]]>([
    ["*.ts", ["src/a.ts", "src/deep/b.ts"]],
    ["src/*.ts", ["src/a.ts"]],
    ["src/**/*.{ts,js}", ["src/a.ts", "src/deep/b.ts", "src/deep/c.js"]],
    ["**/[bc].?s", ["src/deep/b.ts", "src/deep/c.js"]],
    ["**/[!b].ts", ["src/a.ts"]],
    ["./README.md", ["README.md"]],
    ["**", ["README.md", "src/a.ts", "src/deep/b.ts", "src/deep/c.js"]],
    ["nothing/*", []],
  ])("glob %s", async (pattern, paths) => {
    await using bench = await Bench.make(files);
    expect(valueOf(await bench.call(bench.bind(bindFs, { op: "glob" }), { pattern }))).toEqual({ paths });
  });

  test("grep finds lines with their places", async () => {
    await using bench = await Bench.make(files);
    const grep = bench.bind(bindFs, { op: "grep" });
    expect(valueOf(await bench.call(grep, { pattern: "alpha", glob: "*.ts" }))).toEqual({
      matches: [
        { path: "src/a.ts", line: 1, text: "const alpha = 1;" },
        { path: "src/deep/b.ts", line: 1, text: "import { alpha } from '../a';" },
      ],
    });
    const loose = valueOf(await bench.call(grep, { query: "ALPHA", ignore_case: true, path: "README.md" }));
    expect(loose["matches"]).toEqual([{ path: "README.md", line: 1, text: "# Alpha" }]);
    const pattern = { pattern: "^const \\w+ = 2", regex: true };
    expect(valueOf(await bench.call(grep, pattern))["matches"]).toMatchObject([{ line: 2 }]);
    expect(valueOf(await bench.call(grep, { pattern: "^const" }))["matches"]).toEqual([]);
  });

  test.each(["(a+)+$", "(a|a)*b", "(.*)*x", "a*a*a*a*b", "(a{1,50}){1,50}$", "(?<n>a)(", "\\"])(
    "grep refuses the pattern %s",
    async (pattern) => {
      await using bench = await Bench.make({ "a.txt": `${"a".repeat(5000)}!\n` });
      const answer = await bench.call(bench.bind(bindFs, { op: "grep", regex: true }), { pattern });
      expect(codeOf(answer)).toBe("bad_arguments");
    },
  );

  test("results end at their limits and say so", async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}.txt`, "hit\n"]));
    await using bench = await Bench.make(many);
    const options = { max_entries: 10 };
    expect(valueOf(await bench.call(bench.bind(bindFs, { op: "list", ...options }), {}))).toMatchObject({
      left_out: 20,
    });
    const found = valueOf(await bench.call(bench.bind(bindFs, { op: "glob", ...options }), { pattern: "*" }));
    expect(found).toMatchObject({ left_out: 20 });
    expect(found["paths"]).toHaveLength(10);
    const hits = await bench.call(bench.bind(bindFs, { op: "grep", ...options }), { pattern: "hit" });
    expect(valueOf(hits)).toMatchObject({ left_out: 20 });
  });

  test("a search ends when nobody waits for it", async () => {
    await using bench = await Bench.make(files);
    const signal = AbortSignal.abort(new Error("over"));
    await expect(
      bench.call(bench.bind(bindFs, { op: "grep" }), { pattern: "a" }, { signal }),
    ).rejects.toThrow("over");
  });
});

describe("write", () => {
  test("makes folders, keeps the mode of a file and leaves nothing else behind", async () => {
    await using bench = await Bench.make({ "run.sh": "old" });
    await chmod(bench.at("run.sh"), 0o755);
    const write = bench.bind(bindFs, { op: "write" });
    expect(valueOf(await bench.call(write, { path: "a/b/c.txt", content: "text" }))).toMatchObject({
      path: "a/b/c.txt",
      bytes: 4,
      created: true,
    });
    expect(valueOf(await bench.call(write, { path: "run.sh", content: "new" }))).toMatchObject({
      created: false,
    });
    expect(await text(bench, "run.sh")).toBe("new");
    expect((await stat(bench.at("run.sh"))).mode & 0o777).toBe(0o755);
    expect(await readdir(bench.at("a/b"))).toEqual(["c.txt"]);
    expect((await readdir(bench.workspace)).toSorted()).toEqual(["a", "run.sh"]);
  });

  test("writes a value that is no text as JSON", async () => {
    await using bench = await Bench.make();
    await bench.call(bench.bind(bindFs, { op: "write" }), { path: "a.json", content: { a: [1] } });
    expect(JSON.parse(await text(bench, "a.json"))).toEqual({ a: [1] });
  });

  test("ends at the quota of the run, over all its calls and also in a new process", async () => {
    await using bench = await Bench.make();
    const options = { op: "write", quota_bytes: 100 };
    const call = (path: string, bytes: number) =>
      bench.call(bench.bind(bindFs, options), { path, content: "x".repeat(bytes) });
    expect(codeOf(await call("a", 60))).toBe("none");
    expect(codeOf(await call("b", 41))).toBe("quota");
    expect(codeOf(await call("b", 40))).toBe("none");
    expect(codeOf(await call("a", 61))).toBe("quota");
    expect(codeOf(await call("a", 10))).toBe("none");
    expect(codeOf(await call("c", 50))).toBe("none");
  });

  test("a read-only folder is an error result", async () => {
    await using bench = await Bench.make({ "a.txt": "one" });
    const write = bench.bind(bindFs, { op: "write" });
    expect(codeOf(await bench.call(write, { path: "a.txt/b", content: "x" }))).toBe("not_a_folder");
    await mkdir(bench.at("folder"));
    expect(codeOf(await bench.call(write, { path: "folder", content: "x" }))).toBe("not_a_file");
  });
});

describe("edit", () => {
  test.each<[string, JsonObject, string]>([
    ["a b c", { old: "b", new: "x" }, "a x c"],
    ["a b b", { old: "b", new: "$&", all: true }, "a $& $&"],
    ["one\r\ntwo\r\n", { old_string: "one\ntwo", new_string: "1\n2" }, "1\r\n2\r\n"],
    ["\uFEFFone", { search: "one", replace: "two" }, "\uFEFFtwo"],
    ["drop this", { old: " this", new: "" }, "drop"],
  ])("of %j with %j", async (before, args, after) => {
    await using bench = await Bench.make({ "a.txt": before });
    expect(codeOf(await bench.call(bench.bind(bindFs, { op: "edit" }), { path: "a.txt", ...args }))).toBe(
      "none",
    );
    expect(await text(bench, "a.txt")).toBe(after);
  });

  test.each<[string, JsonObject]>([
    ["no_match", { old: "x", new: "y" }],
    ["not_unique", { old: "b", new: "y" }],
    ["bad_arguments", { old: "", new: "y" }],
    ["bad_arguments", { old: "a" }],
  ])("answers %s to %j and changes nothing", async (code, args) => {
    await using bench = await Bench.make({ "a.txt": "a b b" });
    expect(codeOf(await bench.call(bench.bind(bindFs, { op: "edit" }), { path: "a.txt", ...args }))).toBe(
      code,
    );
    expect(await text(bench, "a.txt")).toBe("a b b");
  });

  test("does not touch a file that is not UTF-8", async () => {
    await using bench = await Bench.make();
    await writeFile(bench.at("a.txt"), Buffer.from([0x61, 0xff, 0x62]));
    const answer = await bench.call(bench.bind(bindFs, { op: "edit" }), {
      path: "a.txt",
      old: "a",
      new: "x",
    });
    expect(codeOf(answer)).toBe("not_text");
  });

  test("fifty edits side by side are all in the file", async () => {
    await using bench = await Bench.make({
      "a.txt": Array.from({ length: 50 }, (_, i) => `<${i}>`).join("\n"),
    });
    const edit = bench.bind(bindFs, { op: "edit" });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => bench.call(edit, { path: "a.txt", old: `<${i}>`, new: `[${i}]` })),
    );
    expect(answers.map(codeOf)).toEqual(answers.map(() => "none"));
    expect(await text(bench, "a.txt")).not.toContain("<");
  });
});

describe("after a crash", () => {
  test("an edit whose new text holds the old one is not made twice", async () => {
    await using bench = await Bench.make({ "a.txt": "a" });
    const args = { path: "a.txt", old: "a", new: "aa" };
    const first = await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 });
    expect(await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 })).toEqual(first);
    expect(await text(bench, "a.txt")).toBe("aa");
    expect(codeOf(await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 8 }))).toBe(
      "not_unique",
    );
  });

  test("an edit that was logged and not made is made by the repeat", async () => {
    await using bench = await Bench.make({ "a.txt": "one" });
    const args = { path: "a.txt", old: "one", new: "two" };
    await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 });
    await writeFile(bench.at("a.txt"), "one");
    expect(codeOf(await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 }))).toBe("none");
    expect(await text(bench, "a.txt")).toBe("two");
  });

  test("calls of one round that all happened are all left alone", async () => {
    await using bench = await Bench.make();
    const calls: readonly [number, string, JsonObject][] = [
      [5, "write", { path: "a.txt", content: "x" }],
      [6, "edit", { path: "a.txt", old: "x", new: "xy" }],
      [7, "edit", { path: "a.txt", old: "y", new: "yz" }],
    ];
    const make = () =>
      Promise.all(calls.map(([step, op, args]) => bench.call(bench.bind(bindFs, { op }), args, { step })));
    const first = await make();
    expect(await text(bench, "a.txt")).toBe("xyz");
    expect(await make()).toEqual(first);
    expect(await text(bench, "a.txt")).toBe("xyz");
  });

  test("an edit of a file that somebody else changed since is not made over it", async () => {
    await using bench = await Bench.make({ "a.txt": "a" });
    const args = { path: "a.txt", old: "a", new: "aa" };
    await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 });
    await writeFile(bench.at("a.txt"), "a formatted");
    expect(codeOf(await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 }))).toBe("changed");
  });

  test("a torn last line of the log does no harm", async () => {
    await using bench = await Bench.make({ "a.txt": "a" });
    const args = { path: "a.txt", old: "a", new: "aa" };
    await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 });
    const folder = join(bench.around.folder, ".packloop", "changes");
    const [log] = await readdir(folder);
    const file = join(folder, log as string);
    await writeFile(file, `${await readFile(file, "utf8")}\n{"key":"r_1/8","pa`);
    await bench.call(bench.bind(bindFs, { op: "edit" }), args, { step: 7 });
    expect(await text(bench, "a.txt")).toBe("aa");
    const next = { path: "a.txt", old: "aa", new: "b" };
    await bench.call(bench.bind(bindFs, { op: "edit" }), next, { step: 8 });
    await rm(bench.at("a.txt"));
    await writeFile(bench.at("a.txt"), "b");
    expect(codeOf(await bench.call(bench.bind(bindFs, { op: "edit" }), next, { step: 8 }))).toBe("none");
    expect(await text(bench, "a.txt")).toBe("b");
  });
});
