// The command line on a store that a server holds: the same answers and exit codes as without one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Summary } from "../../src/core/summary.ts";
import { folderWith, packloop, type Ran } from "../cli/run-cli.ts";
import { asks, pack } from "./sample-pack.ts";
import { type ServeProcess, serveProcess } from "./serve-process.ts";

const files = {
  "pack.yaml": pack,
  "script.json": JSON.stringify(asks),
  "people.json": JSON.stringify({ ...asks, events: { gate: [{ event: "Yes", by: "carol" }] } }),
  "packloop.yaml": "approvals: [look]\n",
};
const start = ["run", "pack.yaml", "--script", "script.json", "--var", "task=it"];

interface Folder extends Disposable {
  readonly path: string;
  readonly server: ServeProcess;
  /** Not in this process' way: the server answers meanwhile. */
  cli(...args: readonly string[]): Promise<Ran>;
}

async function folderWithServer(): Promise<Folder> {
  const folder = folderWith(files);
  const server = await serveProcess(folder.path);
  return {
    path: folder.path,
    server,
    cli: async (...args) => packloop(args, { cwd: folder.path }),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const TALK = `id: talk
name: Talk
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  talk: { id: talk, name: Talk, version: 1.0.0, system_template: Talk. }
workflow:
  version: 2
  entry: talk
  states:
    talk: { prompt_task: talk, on_event: { Bye: end } }
    end: { prompt_task: talk, terminal: true }
`;

const summaryIn = ({ stdout }: Ran): Summary => JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Summary;

describe("commands", () => {
  test("a run is held and let go by the server, also all at once", async () => {
    using folder = await folderWithServer();
    const { run } = summaryIn(await folder.cli(...start, "--json"));
    expect(summaryIn(await folder.cli("pause", run, "--by", "ann", "--json")).held?.by).toBe("ann");
    expect((await folder.cli("pause", run)).stderr).toContain("ignored: the run is held already");
    expect((await folder.cli("unpause", "--all")).stdout).toBe(`let go: ${run}\n`);
    expect((await folder.cli("pause", "--all")).stdout).toBe(`held: ${run}\n`);
    const resumed = await folder.cli("resume", run, "--json");
    expect([resumed.code, summaryIn(resumed).held]).toEqual([10, null]);
  });

  test("a run is started by the server, waits, is approved, sent on and seen to its end", async () => {
    using folder = await folderWithServer();
    const ran = await folder.cli(...start, "--json");
    expect(ran.code).toBe(10);
    const waits = summaryIn(ran);
    const [wait] = waits.waiting_for;
    expect(wait).toMatchObject({ kind: "approval", tool: "look" });
    const turns = ran.stdout.trim().split("\n").slice(0, -1);
    expect(turns.map((line) => (JSON.parse(line) as { turn: number }).turn)).toEqual([1, 2]);
    const { run } = waits;
    const drift = await folder.cli("approve", run, String(wait?.step), "--hash", "0".repeat(64));
    expect([drift.code, drift.stdout]).toEqual([6, ""]);
    const approved = await folder.cli("approve", run, String(wait?.step), "--by", "al", "--follow", "--json");
    expect([approved.code, summaryIn(approved).state]).toEqual([10, "gate"]);
    const wrong = await folder.cli("send", run, "Maybe");
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("event `Maybe` is not allowed here (allowed: Yes, No)");
    const sent = await folder.cli("send", run, "Yes", "--by", "alice", "--artifact", "note=mine");
    expect(sent.code).toBe(0);
    const seen = await folder.cli("resume", run, "--json");
    expect([seen.code, summaryIn(seen).output]).toEqual([
      0,
      { text: "Goodbye.", artifacts: { note: "mine" } },
    ]);
    const trace = await folder.cli("trace", run, "--json");
    expect(JSON.parse(trace.stdout)).toMatchObject([{}, {}, { by: "alice", event: "Yes" }]);
    await folder.server.stop("SIGTERM");
  });

  test("a run is started once for one key", async () => {
    using folder = await folderWithServer();
    const made = await folder.cli(...start, "--detach", "--idempotency-key", "k", "--json");
    const again = await folder.cli(...start, "--detach", "--idempotency-key", "k", "--json");
    const { run } = summaryIn(made);
    expect([made.code, again.code, summaryIn(again).run]).toEqual([0, 0, run]);
    await folder.cli("resume", run);
    await folder.server.stop("SIGTERM");
  });

  test("mistakes have the exit codes they have without a server", async () => {
    using folder = await folderWithServer();
    const { run } = summaryIn(await folder.cli(...start, "--json"));
    expect((await folder.cli("answer", run, "3", "--result", "1")).code).toBe(2);
    expect((await folder.cli("send", "r_none", "Yes")).code).toBe(5);
    expect((await folder.cli("resume", run, "--model", "x/y")).code).toBe(2);
    mkdirSync(join(folder.path, "tone"));
    writeFileSync(join(folder.path, "tone/SKILL.md"), "Be kind.");
    writeFileSync(join(folder.path, "skilled.yaml"), `${pack}\nskills: [tone]\n`);
    const args = ["skilled.yaml", "--script", "script.json", "--var", "task=it", "--json"];
    const skilled = await folder.cli("run", ...args);
    const { digest } = summaryIn(skilled).pack;
    await folder.server.stop("SIGTERM");
    // With its skills, whoever starts it.
    const alone = summaryIn(await folder.cli("run", ...args, "--detach"));
    expect([skilled.code, alone.pack.digest]).toEqual([10, digest]);
  });

  test("say, reject and cancel are the server's", async () => {
    using folder = await folderWithServer();
    const { run } = summaryIn(await folder.cli(...start, "--json"));
    expect((await folder.cli("reject", run, "3", "--reason", "no")).code).toBe(0);
    expect((await folder.cli("resume", run)).code).toBe(10);
    expect((await folder.cli("say", run, "well?", "--follow")).code).toBe(10);
    expect((await folder.cli("cancel", run, "--reason", "enough")).code).toBe(12);
    const second = await folder.cli("cancel", run);
    expect([second.code, second.stderr]).toEqual([0, "ignored: the run is cancelled\n"]);
    await folder.server.stop("SIGTERM");
  });

  test("people of a script answer by themselves, and the command sees the run to its end", async () => {
    using folder = folderWith({ ...files, "packloop.yaml": "" });
    const server = await serveProcess(folder.path);
    const args = ["run", "pack.yaml", "--script", "people.json", "--var", "task=it", "--json"];
    const ran = packloop(args, { cwd: folder.path });
    expect([ran.code, summaryIn(ran).status]).toEqual([0, "completed"]);
    await server.stop("SIGTERM");
  });

  test("fork, rm, gc and import are the server's", async () => {
    using folder = await folderWithServer();
    const { run, turns } = summaryIn(await folder.cli(...start, "--json"));
    const edits = ["--set", "artifact.note=mine", "--var", "task=that", "--answer", "3={}"];
    const plan = await folder.cli("fork", `${run}@1`, "--dry-run", "--json");
    expect(plan.code).toBe(0);
    const done = JSON.stringify({ text: "by hand", artifacts: { note: "forked" }, event: "Done" });
    const forked = await folder.cli("fork", `${run}@1`, "--answer", `1=${done}`, "--follow", "--json");
    const fork = summaryIn(forked);
    expect([forked.code, fork.status, fork.forked_from]).toEqual([0, "completed", { run, turn: 1 }]);
    expect(fork.output?.artifacts).toEqual({ note: "forked" });
    const wrong = await folder.cli("fork", run, ...edits);
    expect(wrong.code).toBeGreaterThan(0);
    expect((await folder.cli("fork", run, "--config", "packloop.yaml")).code).toBe(2);
    const early = await folder.cli("rm", run, "--yes");
    expect([early.code, early.stderr]).toEqual([6, expect.stringContaining("has not ended")]);
    expect((await folder.cli("rm", fork.run, "--yes")).stdout).toBe(`removed ${fork.run}\n`);
    expect((await folder.cli("show", fork.run)).code).toBe(5);
    await folder.cli("cancel", run);
    const exported = await folder.cli("export", run, "--out", "run.jsonl");
    expect(exported.code).toBe(0);
    expect(await folder.cli("import", "run.jsonl")).toMatchObject({
      code: 0,
      stdout: `${run} is here already\n`,
    });
    const gone = await folder.cli("gc", "--keep", "0d", "--yes", "--json");
    expect(JSON.parse(gone.stdout)).toMatchObject({ removed: [run], freed_bytes: 0 });
    expect(gone.stderr).toContain("space is given back");
    const imported = await folder.cli("import", "run.jsonl", "--json");
    const { turns: now } = JSON.parse((await folder.cli("show", run, "--json")).stdout) as Summary;
    expect(JSON.parse(imported.stdout)).toEqual({ run, turns: now, taken: now });
    writeFileSync(join(folder.path, "cut.jsonl"), "{}\n");
    expect((await folder.cli("import", "cut.jsonl")).code).toBe(2);
    expect(await folder.cli("verify", "--all")).toMatchObject({ code: 0, stdout: `${run} sound\n` });
    expect(turns).toBeGreaterThan(1);
    await folder.server.stop("SIGTERM");
  });

  test("a conversation is the server's, line by line, and is gone on with", async () => {
    using folder = folderWith({
      "talk.yaml": TALK,
      "script.json": JSON.stringify({ prompts: { talk: [{ text: "Hello." }, { text: "And again." }] } }),
    });
    const args = ["chat", "talk.yaml", "--script", "script.json"];
    const alone = packloop(args, { cwd: folder.path, input: "Hi\n/event None\n" });
    const server = await serveProcess(folder.path);
    const ran = packloop(args, { cwd: folder.path, input: "Hi\n/event None\n" });
    const shown = ({ code, stdout, stderr }: Ran) => [code, stdout, stderr.replaceAll(/r_\w+/g, "RUN")];
    expect(shown(ran)).toEqual(shown(alone));
    expect(shown(ran).slice(0, 2)).toEqual([10, "Hello.\n"]);
    const on = packloop(["chat", "--resume", "@"], { cwd: folder.path, input: "Well\n/quit\n" });
    expect([on.code, on.stdout]).toEqual([10, "And again.\n"]);
    const model = packloop([...args, "--model", "a/b"], { cwd: folder.path });
    expect([model.code, model.stderr]).toEqual([2, expect.stringContaining("its own settings")]);
    await server.stop("SIGTERM");
  });

  test("a token is taken from the environment where one is needed", async () => {
    using folder = folderWith(files);
    const made = packloop(["token", "create", "me", "--scope", "runs:write,runs:read"], { cwd: folder.path });
    const server = await serveProcess(folder.path, "--require-token");
    const without = packloop([...start, "--json"], { cwd: folder.path });
    expect([without.code, without.stderr]).toEqual([4, expect.stringContaining("asks for a token")]);
    const env = { PACKLOOP_TOKEN: made.stdout.trim() };
    const ran = packloop([...start, "--json"], { cwd: folder.path, env });
    expect(ran.code).toBe(10);
    const { run } = summaryIn(ran);
    expect(packloop(["send", run, "Yes"], { cwd: folder.path, env }).code).toBe(4);
    await server.stop("SIGTERM");
  });

  test("a server that was killed is not asked any more", async () => {
    using folder = await folderWithServer();
    const { run } = summaryIn(await folder.cli(...start, "--json"));
    await folder.server.stop("SIGKILL");
    expect((await folder.cli("cancel", run)).code).toBe(12);
  });

  test("Ctrl-C only lets go of a run that the server drives", async () => {
    const slow = JSON.stringify({
      states: { work: [{ event: "Done", delay_ms: 60_000 }], end: [{ text: "Bye." }] },
    });
    using folder = folderWith({ ...files, "script.json": slow });
    const server = await serveProcess(folder.path);
    const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));
    const child = spawn(process.execPath, [bin, ...start, "--json"], { cwd: folder.path });
    let text = "";
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    const [first] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGINT");
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(130);
    const { run } = JSON.parse(first.toString("utf8")) as { run: string };
    expect(text).toBe(`detached; the server at ${server.url} goes on with ${run}\n`);
    const { status } = JSON.parse(packloop(["show", run, "--json"], { cwd: folder.path }).stdout) as Summary;
    expect(status).toBe("running");
    await server.stop("SIGTERM");
  });
});
