// `packloop run` and `resume` on a real pseudo-terminal.

import { describe, expect, test } from "vitest";
import { hasTerminal, onTerminal } from "./on-terminal.ts";
import { runFolder } from "./run-folder.ts";
import { files, pack, start, states } from "./work-pack.ts";

const slow = `states:
  work:
    - { calls: [{ tool: look }], delay_ms: 300 }
    - { artifacts: { note: "seen\\e[2J" }, event: Done }
  end: [{ text: "Good\\e[31mbye." }]
tools:
  look: [{ ok: 1, delay_ms: 300 }]
`;
const endless = states("{ event: Again, delay_ms: 60000 }");

describe.skipIf(!hasTerminal)("on a terminal", () => {
  test("the final screen has the header, a line per visit and the result, and nothing else", async () => {
    using folder = runFolder({ ...files, "script.yaml": slow });
    const { code, screen, bytes } = await onTerminal(start, { cwd: folder.path, columns: 80 }).ended;
    expect(code).toBe(0);
    const lines = screen
      .lines()
      .map((line) => line.replaceAll(/r_\w{16}/g, "r_1").replaceAll(/\d+\.\d s/g, "0.0 s"));
    expect(lines).toEqual([
      expect.stringMatching(/^r_1 {2}s 1\.0\.0 {2}entry work {2}bounded: 10 visits {2,}00:0\d$/),
      "  ✓ work  1      Done    1 call      0.0 s   note seen·[2J",
      "  ✓ end   1      end     0 calls     0.0 s",
      expect.stringMatching(/^ {4}visits 2\/10 · tool calls 1\/5 · model calls 3 · 00:0\d$/),
      "r_1 completed",
      "",
      "Good·[31mbye.",
      "",
      "  packloop trace r_1      the way it took",
    ]);
    expect(screen.cursorShows).toBe(true);
    // It was drawn again and again on the way there.
    expect(bytes).toContain("round 1 · model");
    expect(bytes).toContain("round 1 · look");
    expect(bytes).toContain("\x1b[32m  ✓ \x1b[0m");
  });

  test.each([
    [{ NO_COLOR: "1" }, /\p{Cc}\[\d+m/u, true],
    [{ TERM: "dumb" }, /\p{Cc}\[/u, false],
  ])("with %j there is no colour, and on a dumb terminal no drawing", async (env, never, isLive) => {
    using folder = runFolder({ ...files, "script.yaml": slow });
    const { code, bytes } = await onTerminal(start, { cwd: folder.path, columns: 80, env }).ended;
    expect(code).toBe(0);
    expect(bytes).not.toMatch(never);
    expect(bytes.includes("\x1b[?25l")).toBe(isLive);
  });

  test("with --json nothing is drawn", async () => {
    using folder = runFolder({ ...files, "script.yaml": slow });
    const { bytes } = await onTerminal([...start, "--json"], { cwd: folder.path, columns: 80 }).ended;
    const lines = bytes.trimEnd().split("\r\n");
    expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => "object"));
  });

  test("Ctrl-C pauses, takes what was drawn away and gives the cursor back", async () => {
    using folder = runFolder({ ...files, "script.yaml": endless });
    const terminal = onTerminal(start, { cwd: folder.path, columns: 100 });
    await terminal.until((screen) => screen.includes("▸ work"));
    terminal.keys("\x03");
    const { code, screen } = await terminal.ended;
    expect(code).toBe(130);
    expect(screen.cursorShows).toBe(true);
    const text = screen.lines().join("\n");
    expect(text).not.toContain("▸");
    expect(text).not.toContain("░");
    expect(screen.lines().at(-1)).toMatch(/^paused at turn 1; continue with: packloop resume r_\w+$/);
  });

  test("a run that waits offers its events, and the choice drives it on", async () => {
    using folder = runFolder({ ...files, "script.yaml": states("{ event: Ask }") });
    const terminal = onTerminal(start, { cwd: folder.path, columns: 80 });
    await terminal.until((screen) => screen.includes("number or name"));
    // Long enough for the view to be drawn again, if it were.
    await new Promise((resolve) => setTimeout(resolve, 400));
    terminal.keys("maybe\r");
    await terminal.until((screen) => screen.includes("`maybe` is none of them"));
    await terminal.until((screen) => !screen.includes("▸"));
    terminal.keys("Yes\r");
    const { code, screen } = await terminal.ended;
    expect(code).toBe(0);
    const text = screen.lines().join("\n");
    expect(text).toContain("gate waits for you\n  │ Close.\n  1  Yes\n  2  No\n");
    expect(text).toMatch(/✓ gate +1 +Yes/);
    expect(folder.trace().at(-1)).toMatchObject({ to: "end", event: "Yes", by: "cli" });
  });

  test("left alone it goes on waiting: exit 10 and the commands", async () => {
    using folder = runFolder({ ...files, "script.yaml": states("{ event: Ask }") });
    const terminal = onTerminal(start, { cwd: folder.path, columns: 80 });
    await terminal.until((screen) => screen.includes("number or name"));
    terminal.keys("\r");
    const { code, screen } = await terminal.ended;
    expect(code).toBe(10);
    expect(screen.lines().join("\n")).toMatch(/packloop send r_\w+ Yes --by NAME/);
  });

  test("--no-input asks nothing, neither run nor rm", async () => {
    using folder = runFolder({ ...files, "script.yaml": states("{ event: Ask }") });
    const ran = await onTerminal([...start, "--no-input"], { cwd: folder.path, columns: 80 }).ended;
    expect(ran.code).toBe(10);
    expect(ran.bytes).not.toContain("number or name");
    const removed = await onTerminal(["rm", "@", "--no-input"], { cwd: folder.path, columns: 80 }).ended;
    expect(removed.code).toBe(2);
    expect(removed.bytes).toContain("give --yes");
  });

  test("a gated call can be approved and rejected there", async () => {
    const gated = pack
      .replace("description: Looks.,", "description: Looks., action_scope: { effect: external },")
      .replace("prompts:", "metadata: { governance: { autonomy_level: acts_with_approval } }\nprompts:");
    const script = `states:
  work: [{ calls: [{ tool: look }] }, { calls: [{ tool: look }] }, { event: Done }]
  end: [{ text: Bye. }]
tools:
  look: [{ ok: 1 }]
`;
    using folder = runFolder({ "pack.yaml": gated, "script.yaml": script });
    const terminal = onTerminal(start, { cwd: folder.path, columns: 80 });
    await terminal.until((screen) => screen.includes("number or name"));
    terminal.keys("1\r");
    await terminal.until((screen) => (screen.match(/number or name/g) ?? []).length === 2);
    terminal.keys("reject\r");
    await terminal.until((screen) => screen.includes("why:"));
    terminal.keys("enough\r");
    expect((await terminal.ended).code).toBe(0);
    expect(folder.cli(["export", "@"]).stdout).toContain('"code":"rejected","message":"enough"');
  });
});
