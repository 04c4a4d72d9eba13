// Attempts to leave the workspace through the file tools: none may read, write or find anything outside.

import { execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bindFs } from "../../../src/adapter/tool/fs/bind-fs.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, SECRET, valueOf } from "./fs-bench.ts";

let bench: Bench;
const server = createServer();

beforeAll(async () => {
  bench = await Bench.make({ "kept.txt": "kept", "folder/inner.txt": "inner" });
  const outside = join(bench.folder, "outside");
  await mkdir(join(bench.folder, "work-sibling"));
  await writeFile(join(bench.folder, "work-sibling", "secret.txt"), SECRET);
  await symlink(join(outside, "secret.txt"), bench.at("link-file"));
  await symlink(outside, bench.at("link-folder"));
  await symlink("../outside/secret.txt", bench.at("link-relative"));
  await symlink("..", bench.at("link-up"));
  await symlink("link-hop-2", bench.at("link-hop-1"));
  await symlink("folder/../link-file", bench.at("link-hop-2"));
  await symlink("link-loop-b", bench.at("link-loop-a"));
  await symlink("link-loop-a", bench.at("link-loop-b"));
  await symlink("/proc/self/environ", bench.at("link-proc"));
  await symlink("/proc/self/root", bench.at("link-proc-root"));
  await symlink("/proc/self/cwd", bench.at("link-proc-cwd"));
  await symlink("/dev/zero", bench.at("link-device"));
  await symlink("/etc", bench.at("link-etc"));
  await symlink(`${bench.workspace}/../outside/secret.txt`, bench.at("link-inside-out"));
  await symlink(".git", bench.at("link-git"));
  await symlink("../.git/hooks", bench.at("folder/link-hooks"));
  await symlink(".packloop", bench.at("link-packloop"));
  await mkdir(bench.at(".git/hooks"), { recursive: true });
  await writeFile(bench.at(".git/config"), `[core]\n# ${SECRET}\n`);
  await writeFile(bench.at(".git/hooks/pre-commit"), SECRET);
  await mkdir(bench.at("folder/.git"), { recursive: true });
  await writeFile(bench.at("folder/.git/config"), SECRET);
  await mkdir(bench.at(".packloop"));
  await writeFile(bench.at(".packloop/runs.db"), SECRET);
  execFileSync("mkfifo", [bench.at("pipe")]);
  await new Promise<void>((resolve) => server.listen(bench.at("socket"), resolve));
});

afterAll(async () => {
  server.close();
  await bench[Symbol.asyncDispose]();
});

const up = "../";
/** Sixty ways that name something outside, something kept, or something that is no file. */
const vectors: readonly string[] = [
  "../outside/secret.txt",
  "./../outside/secret.txt",
  "folder/../../outside/secret.txt",
  "folder/./.././../outside/secret.txt",
  "missing/../../outside/secret.txt",
  `${up.repeat(20)}etc/passwd`,
  "..",
  "../",
  "../work-sibling/secret.txt",
  "folder/..",
  "//../outside/secret.txt",
  "/etc/passwd",
  "//etc/passwd",
  "/proc/self/environ",
  "/proc/self/cwd/../outside/secret.txt",
  "/dev/zero",
  "/",
  "WORKSPACE-sibling/secret.txt",
  "WORKSPACE/../outside/secret.txt",
  "WORKSPACE/folder/../../outside/secret.txt",
  "OUTSIDE/secret.txt",
  "kept.txt\0",
  "kept.txt\0/../../outside/secret.txt",
  "../outside/secret.txt\0.txt",
  "..\\outside\\secret.txt",
  "folder\\..\\..\\outside\\secret.txt",
  "C:\\Windows\\win.ini",
  "C:/Windows/win.ini",
  "\\\\server\\share\\file",
  "file:///etc/passwd",
  "file:/etc/passwd",
  "~/.ssh/id_rsa",
  "~",
  "kept.txt\n",
  "kept\u202etxt.",
  "ke\u200bpt.txt",
  "kept.txt\u2028",
  "\ud800/secret.txt",
  "a/".repeat(200),
  "a".repeat(300),
  "a".repeat(5000),
  "link-file",
  "link-relative",
  "link-folder/secret.txt",
  "link-folder/new/secret.txt",
  "link-up/outside/secret.txt",
  "link-up/work/../outside/secret.txt",
  "link-hop-1",
  "link-loop-a",
  "link-proc",
  "link-proc-root/etc/passwd",
  "link-proc-cwd/package.json",
  "link-device",
  "link-etc/passwd",
  "link-inside-out",
  "folder/link-hooks/pre-commit",
  "link-git/config",
  "link-packloop/runs.db",
  ".git/config",
  ".git/hooks/pre-commit",
  "folder/.git/config",
  "folder/../.git/config",
  ".GIT/config",
  ".git./config",
  ".git /hooks/pre-commit",
  "GIT~1/config",
  "．git/config",
  ".packloop/runs.db",
  ".PackLoop/runs.db",
  "pipe",
  "socket",
  "kept.txt/../../outside/secret.txt",
];

const path = (vector: string) =>
  vector.replace("WORKSPACE", bench.workspace).replace("OUTSIDE", join(bench.folder, "outside"));

const operations: readonly { readonly op: string; readonly args: (path: string) => JsonObject }[] = [
  { op: "read", args: (path) => ({ path }) },
  { op: "list", args: (path) => ({ path }) },
  { op: "write", args: (path) => ({ path, content: "taken" }) },
  { op: "edit", args: (path) => ({ path, old: "secret", new: "taken" }) },
  { op: "glob", args: (path) => ({ path, pattern: "**" }) },
  { op: "grep", args: (path) => ({ path, pattern: "secret" }) },
];

describe.each(operations)("$op", ({ op, args }) => {
  test.each(vectors.map((vector) => [vector]))("refuses %j", async (vector) => {
    const before = await outsideAndKept();
    const answer = await bench.call(bench.bind(bindFs, { op }), args(path(vector)));
    expect(codeOf(answer)).toMatch(/^(outside_workspace|protected|not_found|not_a_file|not_a_folder)$/);
    expect(JSON.stringify(answer)).not.toContain(SECRET);
    expect(await outsideAndKept()).toEqual(before);
  });
});

test("there are at least sixty ways out that are tried", () => {
  expect(new Set(vectors).size).toBeGreaterThanOrEqual(60);
});

test("searches of everything show nothing that is kept and follow no link", async () => {
  for (const { op, args } of operations.filter(({ op }) => op !== "write" && op !== "edit")) {
    const answer = await bench.call(bench.bind(bindFs, { op }), { ...args("."), recursive: true });
    if (op === "read") expect(codeOf(answer)).toBe("not_a_file");
    else
      expect(JSON.stringify(valueOf(answer))).not.toMatch(/runs\.db|pre-commit|the secret|outside\/|passwd/);
  }
});

test("links that stay inside are followed, and an absolute path inside is taken", async () => {
  await using own = await Bench.make({ "real/a.txt": "one" });
  await symlink("real", own.at("alias"));
  await symlink(own.at("real/a.txt"), own.at("absolute"));
  const read = own.bind(bindFs, { op: "read" });
  expect(valueOf(await own.call(read, { path: "alias/a.txt" }))).toMatchObject({
    content: "one",
    path: "real/a.txt",
  });
  expect(valueOf(await own.call(read, { path: "absolute" }))).toMatchObject({ content: "one" });
  expect(valueOf(await own.call(read, { path: own.at("real/a.txt") }))).toMatchObject({ content: "one" });
  await own.call(own.bind(bindFs, { op: "write" }), { path: "alias/a.txt", content: "two" });
  expect(await readFile(own.at("real/a.txt"), "utf8")).toBe("two");
});

test("a file with a second name outside is replaced, not written through", async () => {
  await using own = await Bench.make();
  const outside = join(own.folder, "outside", "secret.txt");
  await link(outside, own.at("twin"));
  expect(codeOf(await own.call(own.bind(bindFs, { op: "write" }), { path: "twin", content: "x" }))).toBe(
    "none",
  );
  expect(await readFile(outside, "utf8")).toBe(SECRET);
});

/** A write that comes while nothing is there makes a folder of that name, which gives way. */
async function putAt(from: string, to: string): Promise<void> {
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      if (!["EISDIR", "ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? ""))
        throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}

/** Swaps an entry between something harmless and a way out as fast as it can, while `attack` runs. */
async function whileSwapping(
  own: Bench,
  swap: { readonly entry: string; readonly good: string; readonly bad: string },
  attack: (round: number) => Promise<void>,
): Promise<void> {
  const [entry, good, bad] = [own.at(swap.entry), own.at(swap.good), own.at(swap.bad)];
  let swaps = 0;
  const over = new AbortController();
  const swapper = (async () => {
    for (; !over.signal.aborted; swaps++) {
      for (const one of [good, bad]) {
        await putAt(one, entry);
        await rename(entry, one);
      }
    }
  })();
  for (let round = 0; round < 150; round++) await attack(round);
  over.abort();
  await swapper;
  expect(swaps).toBeGreaterThan(10);
}

// Only Linux lets Node open a name below an open folder; elsewhere a moment is left, as the code says.
describe.runIf(process.platform === "linux")("races", () => {
  test("a folder that becomes a link out and back is never left through", async () => {
    await using own = await Bench.make({ "good/secret.txt": "inner" });
    await symlink(join(own.folder, "outside"), own.at("bad"));
    const [read, write] = [own.bind(bindFs, { op: "read" }), own.bind(bindFs, { op: "write" })];
    const grep = own.bind(bindFs, { op: "grep" });
    let inner = 0;
    await whileSwapping(own, { entry: "x", good: "good", bad: "bad" }, async (round) => {
      const seen = await own.call(read, { path: "x/secret.txt" });
      if (codeOf(seen) === "none") inner++;
      expect(JSON.stringify(seen)).not.toContain(SECRET);
      expect(JSON.stringify(await own.call(grep, { path: "x", pattern: "secret" }))).not.toContain(SECRET);
      await own.call(write, { path: `x/new-${round}.txt`, content: "taken" });
    });
    expect(inner).toBeGreaterThan(0);
    expect(await readdir(join(own.folder, "outside"))).toEqual(["secret.txt"]);
  });

  test("a file that becomes a link out and back is never read or written through", async () => {
    await using own = await Bench.make({ good: "inner text" });
    await symlink(join(own.folder, "outside", "secret.txt"), own.at("bad"));
    const [read, edit] = [own.bind(bindFs, { op: "read" }), own.bind(bindFs, { op: "edit" })];
    await whileSwapping(own, { entry: "x", good: "good", bad: "bad" }, async () => {
      expect(JSON.stringify(await own.call(read, { path: "x" }))).not.toContain(SECRET);
      await own.call(edit, { path: "x", old: "secret", new: "taken" });
    });
    expect(await readFile(join(own.folder, "outside", "secret.txt"), "utf8")).toBe(SECRET);
  });

  test("a folder that is moved away and back meanwhile takes nothing with it", async () => {
    await using own = await Bench.make({ "deep/a/b/c.txt": "inner" });
    const away = join(own.folder, "outside", "moved");
    const write = own.bind(bindFs, { op: "write" });
    const moving = (async () => {
      await rename(own.at("deep"), away);
      await putAt(away, own.at("deep"));
    })();
    for (let round = 0; round < 20; round++)
      await own.call(write, { path: "deep/a/b/c.txt", content: `${round}` });
    await moving;
    expect(codeOf(await own.call(write, { path: "deep/a/b/c.txt", content: "last" }))).toBe("none");
    expect(await readFile(own.at("deep/a/b/c.txt"), "utf8")).toBe("last");
    expect(await readdir(join(own.folder, "outside"))).toEqual(["secret.txt"]);
  });
});

async function outsideAndKept(): Promise<Json> {
  const files = [
    join(bench.folder, "outside/secret.txt"),
    join(bench.folder, "work-sibling/secret.txt"),
    bench.at(".git/config"),
    bench.at(".git/hooks/pre-commit"),
    bench.at("folder/.git/config"),
    bench.at(".packloop/runs.db"),
  ];
  const folders = [bench.folder, join(bench.folder, "outside"), bench.at(".git"), bench.at(".git/hooks")];
  return [
    ...(await Promise.all(files.map((file) => readFile(file, "utf8")))),
    ...(await Promise.all(folders.map((folder) => readdir(folder)))),
  ];
}
