// `proc` inside bubblewrap: what the command can still do is change the workspace. Each attempt runs for real.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { bindProc } from "../../../src/adapter/tool/proc/bind-proc.ts";
import { Bench, SECRET, valueOf } from "./fs-bench.ts";

const works = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;

/** Runs the script in the sandbox; each attempt it makes prints what it got. */
async function attempted(bench: Bench, script: string): Promise<string> {
  bench.env["PATH"] = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  await bench.put("main.cjs", `const fs = require("fs"), cp = require("child_process");\n${script}`);
  const tool = bench.bind(bindProc, { argv: ["node", "main.cjs"] });
  const { stdout, stderr } = valueOf(await bench.call(tool, {})) as Record<string, string>;
  return `${stdout}${stderr}`;
}

const attempt = (code: string) =>
  `try { console.log("got", ${code}) } catch (e) { console.log("failed", e.code) }`;

describe.skipIf(!works)("in bubblewrap", () => {
  test("the workspace can be changed", async () => {
    await using bench = await Bench.make();
    await attempted(bench, "fs.writeFileSync('made', 'x')");
    expect(readFileSync(bench.at("made"), "utf8")).toBe("x");
  });

  test.each([
    ["the folder beside", "fs.readFileSync('../outside/secret.txt', 'utf8')"],
    ["the store", "fs.readFileSync('../project/.packloop/runs.db', 'utf8')"],
    ["the store in the workspace", "fs.readFileSync('.packloop/runs.db', 'utf8')"],
    ["a file over a process of the host", "fs.readFileSync('/proc/HOST/root/OUTSIDE/secret.txt', 'utf8')"],
    ["a file over a program", "cp.execFileSync('cat', ['OUTSIDE/secret.txt'], { encoding: 'utf8' })"],
  ])("%s cannot be read", async (_, code) => {
    await using bench = await Bench.make({ ".packloop/runs.db": SECRET });
    await mkdir(join(bench.around.folder, ".packloop"));
    await writeFile(join(bench.around.folder, ".packloop", "runs.db"), SECRET);
    const outside = join(bench.folder, "outside");
    const said = await attempted(
      bench,
      attempt(code.replace("OUTSIDE", outside).replace("HOST", String(process.pid))),
    );
    expect(said).toContain("failed");
    expect(said).not.toContain(SECRET);
  });

  test.each([
    ["/etc", "fs.writeFileSync('/etc/packloop-test', 'x')", "/etc/packloop-test"],
    ["/usr", "fs.writeFileSync('/usr/packloop-test', 'x')", "/usr/packloop-test"],
    ["the folder beside", "fs.writeFileSync('../outside/new', 'x')", "OUTSIDE/new"],
    ["the temporary folder of the host", "fs.writeFileSync('/tmp/packloop-test', 'x')", "/tmp/packloop-test"],
    ["a hook", "fs.writeFileSync('.git/hooks/pre-commit', 'x')", "WORK/.git/hooks/pre-commit"],
    ["a mount", "cp.execFileSync('mount', ['-t', 'tmpfs', 'x', '/mnt'])", "none"],
    ["a remount", "cp.execFileSync('mount', ['-o', 'remount,rw', '/'])", "none"],
    ["a kill", "process.kill(HOST, 0)", "none"],
  ])("%s has no effect outside", async (_, code, path) => {
    await using bench = await Bench.make({ ".git/config": "[core]\n", ".git/hooks/x": "" });
    const said = await attempted(bench, attempt(code.replace("HOST", String(process.pid))));
    const place = path.replace("OUTSIDE", join(bench.folder, "outside")).replace("WORK", bench.workspace);
    expect(existsSync(place)).toBe(false);
    if (!code.includes("/tmp/") && !code.includes("../")) expect(said).toContain("failed");
  });

  test("the settings of git stay as they are", async () => {
    await using bench = await Bench.make({ ".git/config": "[core]\n", ".git/hooks/x": "" });
    expect(await attempted(bench, attempt("fs.appendFileSync('.git/config', 'x')"))).toContain("failed");
    expect(readFileSync(bench.at(".git/config"), "utf8")).toBe("[core]\n");
  });

  test("nobody is reached over the network", async () => {
    await using bench = await Bench.make();
    let reached = 0;
    const server = createServer((socket) => {
      reached++;
      socket.end(SECRET);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const script = `const s = require("net").connect(${port}, "127.0.0.1");
      s.on("error", (e) => console.log("failed", e.code)); s.on("data", (d) => console.log("got", String(d)));`;
    expect(await attempted(bench, script)).toContain("failed");
    expect(reached).toBe(0);
    server.close();
  });

  test("all of it ends with its time", async () => {
    await using bench = await Bench.make();
    bench.env["PATH"] = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
    const mark = `mark-${process.pid}-${Date.now()}`;
    await bench.put(
      "main.cjs",
      `require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000) //${mark}"],
        { detached: true, stdio: "ignore", env: {} }); setInterval(() => {}, 1000);`,
    );
    const tool = bench.bind(bindProc, { argv: ["node", "main.cjs"], timeout_sec: 2 });
    expect(valueOf(await bench.call(tool, {}))).toMatchObject({ timed_out: true });
    const list = spawnSync("ps", ["axww", "-o", "args"], { encoding: "utf8" }).stdout;
    expect(list.split("\n").filter((line) => line.includes(`//${mark}`))).toEqual([]);
  });
});
