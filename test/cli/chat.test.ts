// `packloop chat`: a conversation over standard input and output.

import { describe, expect, test } from "vitest";
import { folderWith, packloop } from "./run-cli.ts";

const pack = `id: desk
name: Desk
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  greet:
    id: greet
    name: Greet
    version: 1.0.0
    system_template: "Ask what is wrong with {{thing}}."
    variables: [{ name: thing, type: string, required: true }]
  solve: { id: solve, name: Solve, version: 1.0.0, system_template: Solve it. }
workflow:
  version: 2
  entry: greet
  states:
    greet: { prompt_task: greet, on_event: { Understood: check } }
    check: { prompt_task: solve, orchestration: external, on_event: { Yes: solve, No: greet } }
    solve: { prompt_task: solve, on_event: { Done: bye } }
    bye: { prompt_task: solve, terminal: true }
`;
const script = `states:
  greet:
    - text: What is wrong?
    - { text: I see., event: Understood }
  check:
    - text: Say Yes or No.
  solve:
    - text: Turn it on.
    - { text: Good., event: Done }
  bye:
    - text: Goodbye.
`;
const start = ["chat", "pack.yaml", "--script", "script.yaml", "--var", "thing=lamp"];

describe("chat", () => {
  test("each line is a message or an event, each text of the model is printed, and the run's end ends it", () => {
    using folder = folderWith({ "pack.yaml": pack, "script.yaml": script });
    const input = "hello\n\nit is dark\nwhat shall I say?\nYes\nand now?\nit works\nnot read any more\n";
    const ran = packloop(start, { cwd: folder.path, input });
    expect(ran.stdout).toBe("What is wrong?\nI see.\nSay Yes or No.\nTurn it on.\nGood.\nGoodbye.\n");
    expect(ran.stderr).toContain("→ bye");
    expect(ran.code).toBe(0);
  });

  test("the end of the input leaves the run waiting, and --resume goes on with it", () => {
    using folder = folderWith({ "pack.yaml": pack, "script.yaml": script });
    const first = packloop(start, { cwd: folder.path, input: "hello\n" });
    expect(first.stdout).toBe("What is wrong?\n");
    expect(first.code).toBe(10);
    const hint = /go on with: packloop (chat --resume r_\w+)/.exec(first.stderr)?.[1] ?? "";
    const input = "it is dark\n/event Nope\n/event\n/event Yes by the way\n/quit\nhello\n";
    const second = packloop(hint.split(" "), { cwd: folder.path, input });
    expect(second.stdout).toBe("I see.\n");
    expect(second.stderr).toContain("event `Nope` is not allowed here (allowed: Yes, No)");
    expect(second.stderr).toContain("/event expects the name of an event");
    expect(second.stderr).toContain("→ solve");
    expect(second.code).toBe(10);
  });

  test("with a task the model speaks first", () => {
    using folder = folderWith({ "pack.yaml": pack, "script.yaml": script });
    expect(packloop([...start, "--input", "a lamp is dark"], { cwd: folder.path }).stdout).toBe(
      "What is wrong?\n",
    );
  });

  test.each([
    [["chat", "pack.yaml"], "variable `thing` is required"],
    [["chat", "none.yaml"], "cannot open `none.yaml`"],
    [["chat", "pack.yaml", "--resume", "@"], "give a pack, or --resume with a run, not both"],
    [["chat", "pack.yaml", "--script", "none.yaml"], "cannot open `none.yaml`"],
  ])("%j is refused with exit 2", (args, message) => {
    using folder = folderWith({ "pack.yaml": pack });
    const ran = packloop(args, { cwd: folder.path });
    expect(ran.stderr).toContain(message);
    expect(ran.code).toBe(2);
  });
});
