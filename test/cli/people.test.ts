// What people say to a run, as processes: send, say, approve, reject, answer, cancel.

import { describe, expect, test } from "vitest";
import { factsOf, live, pathOf, type RunFolder, runFolder } from "./run-folder.ts";
import { files, pack, start, states } from "./work-pack.ts";

const gated = pack
  .replace(
    "look: { name: look, description: Looks.,",
    "look: { name: look, description: Looks., action_scope: { effect: external },",
  )
  .replace("prompts:", "metadata: { governance: { autonomy_level: acts_with_approval } }\nprompts:");

const waiting = (): RunFolder => {
  const folder = runFolder({
    ...files,
    "script.yaml": `${states("{ event: Ask }")}  gate: [{ text: It is about the light. }]\n`,
  });
  folder.cli(start);
  return folder;
};

/** Waits for the approval of a call; its step. */
function asking(): { folder: RunFolder; step: string; sha256: string } {
  const script =
    "states:\n  work: [{ calls: [{ tool: look, args: { at: north } }] }, { event: Done }]\n  end: [{ text: Bye. }]\ntools:\n  look: [{ ok: dark }]\n";
  const folder = runFolder({ "pack.yaml": gated, "script.yaml": script });
  const { code, summary } = folder.summary(start);
  expect(code).toBe(10);
  const [wait] = summary.waiting_for;
  expect(wait).toMatchObject({ kind: "approval", tool: "look", args: { at: "north" } });
  return { folder, step: String(wait?.step), sha256: wait?.sha256 ?? "" };
}

describe("send and say", () => {
  test("an event moves the run, is kept with its sender and context, and --follow drives on", () => {
    using folder = waiting();
    const sent = folder.summary([
      "send",
      "@",
      "Yes",
      "--by",
      "alice",
      "--artifact",
      "note=fine",
      "--context",
      "go",
    ]);
    expect(sent).toMatchObject({ code: 0, summary: { status: "running", state: "end" } });
    expect(folder.summary(["resume", "@"])).toMatchObject({ code: 0, summary: { status: "completed" } });
    expect(folder.trace().at(-1)).toMatchObject({
      from: "gate",
      event: "Yes",
      to: "end",
      cause: "outside",
      by: "alice",
      artifacts: { note: "fine" },
      changed: ["note"],
    });
  });

  test.each([
    [["send", "@", "Maybe"], "event `Maybe` is not allowed here (allowed: Yes, No)"],
    [["send", "@", "yes"], "(allowed: Yes, No)"],
    [["send", "@", "Yes", "--artifact", "other=1"], "`other` is not an artifact of this workflow"],
    [["send", "@", "Yes", "--artifact", "other"], "--artifact expects NAME=VALUE"],
    [["approve", "@", "x"], "`x` is not a step"],
    [["answer", "@", "1"], "give one of --result, --error, --retry, --abort"],
    [["answer", "@", "1", "--retry", "--abort"], "give one of --result, --error, --retry, --abort"],
  ])("refused with exit 2, and nothing changes: %j", async (args, message) => {
    using folder = waiting();
    const { run } = JSON.parse(folder.cli(["show", "@", "--json"]).stdout) as { run: string };
    const before = await folder.journal(run);
    const ran = folder.cli(args);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(message);
    expect(await folder.journal(run)).toEqual(before);
  });

  test("a step that was never asked is not found", () => {
    using folder = waiting();
    for (const args of [
      ["approve", "@", "99"],
      ["answer", "@", "99", "--result", "1"],
    ])
      expect(folder.cli(args)).toMatchObject({
        code: 5,
        stderr: expect.stringContaining("step 99 was never asked") as string,
      });
  });

  test("an event with a key is taken once", async () => {
    using folder = waiting();
    const no = ["send", "@", "No", "--dedupe-key", "m1"];
    const first = folder.summary([...no, "--follow"]);
    expect(first).toMatchObject({ code: 10, summary: { state: "gate", visits: { work: 2, gate: 2 } } });
    const again = folder.summary(no);
    expect(again).toMatchObject({ code: 0, summary: { turns: first.summary.turns } });
    expect(again.stderr).toContain("ignored: this event was taken already");
  });

  test("a run at work takes no event", () => {
    using folder = runFolder(files);
    folder.cli([...start, "--detach"]);
    const ran = folder.cli(["send", "@", "Done"]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("the run is at work in `work` and waits for nobody");
  });

  test("a finished run takes nothing", () => {
    using folder = runFolder(files);
    folder.cli(start);
    for (const args of [
      ["send", "@", "Done"],
      ["say", "@", "hello"],
    ]) {
      const ran = folder.cli(args);
      expect(ran.code).toBe(6);
      expect(ran.stderr).toContain("the run is completed");
    }
  });

  test("what is said gets an answer, and the run waits again", async () => {
    using folder = waiting();
    const said = folder.summary(["say", "@", "what is it about?", "--by", "bob", "--follow"]);
    expect(said).toMatchObject({ code: 10, summary: { state: "gate", status: "waiting" } });
    const facts = factsOf(await folder.journal(said.summary.run));
    expect(facts).toContainEqual({ type: "noted", what: "message", text: "what is it about?", by: "bob" });
    expect(JSON.stringify(facts)).toContain("It is about the light.");
    expect(pathOf(folder.trace())).toBe("work → gate");
  });
});

describe("approve and reject", () => {
  test("exactly what was shown is executed", async () => {
    const { folder, step, sha256 } = asking();
    using _folder = folder;
    const ended = folder.summary(["approve", "@", step, "--hash", sha256, "--by", "alice", "--follow"]);
    expect(ended).toMatchObject({ code: 0, summary: { status: "completed", used: { tool_calls: 1 } } });
    const asked = factsOf(await folder.journal(ended.summary.run)).filter((fact) => fact.type === "asked");
    expect(asked.map(({ ask }) => ask)).toContainEqual(
      expect.objectContaining({ kind: "tool", tool: "look", args: { at: "north" } }),
    );
  });

  test("a hash that is not the shown one is refused with exit 6, and nothing changes", async () => {
    const { folder, step, sha256 } = asking();
    using _folder = folder;
    for (const verb of ["approve", "reject"]) {
      const ran = folder.cli([verb, "@", step, "--hash", "0".repeat(64)]);
      expect(ran.code).toBe(6);
      expect(ran.stderr).toContain(`step ${step}: look {"at":"north"} (SHA-256 ${sha256})\n`);
      expect(ran.stderr).toContain(`their SHA-256 is now ${sha256}`);
    }
    expect(folder.summary(["resume", "@"])).toMatchObject({ code: 10, summary: { turns: 2 } });
  });

  test("edited arguments are a new request with its own hash", () => {
    const { folder, step, sha256 } = asking();
    using _folder = folder;
    const edited = folder.summary(["approve", "@", step, "--edit", '{"at":"south"}', "--by", "alice"]);
    const [wait] = edited.summary.waiting_for;
    expect(wait).toMatchObject({ kind: "approval", args: { at: "south" } });
    expect(wait?.sha256).not.toBe(sha256);
    expect(folder.cli(["approve", "@", step]).stderr).toContain("ignored: the step is decided already");
    expect(folder.summary(["approve", "@", String(wait?.step), "--follow"]).code).toBe(0);
  });

  test("a rejected call is not made, and the model hears why", async () => {
    const { folder, step } = asking();
    using _folder = folder;
    const ended = folder.summary([
      "reject",
      "@",
      step,
      "--reason",
      "not at night",
      "--by",
      "bob",
      "--follow",
    ]);
    expect(ended).toMatchObject({ code: 0, summary: { used: { tool_calls: 0 } } });
    const facts = factsOf(await folder.journal(ended.summary.run));
    expect(facts).toContainEqual({
      type: "answered",
      step: Number(step),
      outcome: { ok: false, code: "rejected", message: "not at night" },
      by: "bob",
    });
  });

  test("an approval is no event and no answer", () => {
    const { folder, step } = asking();
    using _folder = folder;
    expect(folder.cli(["answer", "@", step, "--result", "1"])).toMatchObject({ code: 2 });
    expect(folder.cli(["send", "@", "Done"])).toMatchObject({ code: 2 });
  });
});

describe("answer and cancel", () => {
  test("an open call of a run nobody drives is answered from outside, once", async () => {
    const slow =
      "states:\n  work: [{ calls: [{ tool: look }] }, { event: Done }]\n  end: [{ text: Bye. }]\ntools:\n  look: [{ ok: 1, delay_ms: 60000 }]\n";
    using folder = runFolder({ ...files, "script.yaml": slow });
    const process = live([...start, "--json"], folder.path);
    await process.until((text) => text.includes('"kind":"tool"'));
    process.kill("SIGKILL");
    await process.ended;
    const { run } = JSON.parse(folder.cli(["show", "@", "--json"]).stdout) as { run: string };
    const open = factsOf(await folder.journal(run)).findLast((fact) => fact.type === "asked");
    const step = String(open?.step);
    const answered = folder.summary(["answer", "@", step, "--result", '{"light":"off"}', "--by", "carol"]);
    expect(answered).toMatchObject({ code: 0, summary: { status: "running" } });
    expect(factsOf(await folder.journal(run))).toContainEqual({
      type: "answered",
      step: Number(step),
      outcome: { ok: true, value: { light: "off" } },
      by: "carol",
    });
    const again = folder.summary(["answer", "@", step, "--error", "no", "--by", "carol"]);
    expect(again).toMatchObject({ code: 0, summary: { turns: answered.summary.turns } });
    expect(again.stderr).toContain("ignored: the step is answered already");
    expect(folder.summary(["resume", "@"])).toMatchObject({ code: 0, summary: { used: { tool_calls: 1 } } });
  });

  test("a model's step takes no answer from outside that is not a model's", async () => {
    using folder = runFolder(files);
    const { run } = folder.summary([...start, "--detach"]).summary;
    const ran = folder.cli(["answer", run, "1", "--result", "{}"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("step 1 waits for model");
    expect(await folder.journal(run)).toHaveLength(1);
  });

  test("cancel ends the run with 12, keeps its reason, and a second one is ignored", () => {
    using folder = waiting();
    const ended = folder.summary(["cancel", "@", "--reason", "wrong branch", "--by", "alice"]);
    expect(ended.code).toBe(12);
    expect(ended.summary).toMatchObject({
      status: "cancelled",
      reason: { code: "cancelled", message: "wrong branch" },
      waiting_for: [],
    });
    expect(folder.summary(["cancel", "@"])).toMatchObject({ code: 0, summary: ended.summary });
    expect(folder.summary(["resume", "@"]).code).toBe(12);
  });
});
