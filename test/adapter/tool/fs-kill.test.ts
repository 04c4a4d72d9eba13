// Kills a process at every system call of an edit that writes, and repeats the call: the edit is in the file
// once, whatever the moment was (S46).

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Bench } from "./fs-bench.ts";

const hasStrace = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;
const binder = fileURLToPath(new URL("../../../src/adapter/tool/fs/bind-fs.ts", import.meta.url));
const options = fileURLToPath(new URL("../../../src/adapter/tool/option-reader.ts", import.meta.url));

/** One edit whose new text holds the old one, as a process of its own. */
const script = (bench: Bench) => `
const { bindFs } = await import(${JSON.stringify(binder)});
const { OptionReader } = await import(${JSON.stringify(options)});
const around = { folder: ${JSON.stringify(bench.around.folder)}, workspaceOf: async () => ${JSON.stringify(bench.workspace)} };
const tool = bindFs(new OptionReader({ op: "edit" }, []), around);
const context = { run: "r", step: 1, key: "r/1", signal: new AbortController().signal };
console.log(JSON.stringify(await tool.call({ path: "a.txt", old: "a", new: "aa" }, context)));
`;

/** With one thread for files: strace counts calls by thread. */
const run = (bench: Bench, ...before: readonly string[]) => {
  const [file, ...args] = [...before, process.execPath, "--input-type=module", "-e", script(bench)];
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  return spawnSync(file, args, { encoding: "utf8", env });
};

describe.skipIf(!hasStrace)("under strace", () => {
  test.each([
    ["mkdir", 2],
    ["fsync", 4],
    ["fchmod", 1],
    ["rename", 1],
    ["unlink", 1],
  ])("an edit killed at each %s and made again is made once", async (call, least) => {
    let killed = 0;
    for (let nth = 1; nth <= 60; nth++) {
      await using bench = await Bench.make({ "a.txt": "a" });
      const inject = ["-e", `trace=${call}`, "-e", `inject=${call}:signal=SIGKILL:when=${nth}`];
      if (run(bench, "strace", "-f", "-qq", "-o", "/dev/null", ...inject).status === 0) break;
      killed++;
      expect(["a", "aa"]).toContain(readFileSync(bench.at("a.txt"), "utf8"));
      expect(run(bench).stdout).toContain('"ok":true');
      expect(readFileSync(bench.at("a.txt"), "utf8")).toBe("aa");
      expect(readdirSync(bench.workspace)).toEqual(["a.txt"]);
    }
    expect(killed).toBeGreaterThanOrEqual(least);
  });
});
