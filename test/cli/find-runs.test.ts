// `packloop trace`, `ls` and names of runs, as processes.

import { describe, expect, test } from "vitest";
import { runFolder } from "./run-folder.ts";
import { files, start } from "./work-pack.ts";

describe("trace and ls", () => {
  test("trace rows have every field, and each format the same rows", () => {
    using folder = runFolder(files);
    const { summary } = folder.summary(start);
    const rows = folder.trace(summary.run);
    const used = (visits: number, tool_calls: number, model_calls: number) =>
      expect.objectContaining({ visits, tool_calls, model_calls });
    expect(rows).toEqual([
      {
        turn: 1,
        from: null,
        event: null,
        to: "work",
        visit: 1,
        cause: "entry",
        redirected_from: [],
        by: null,
        artifacts: {},
        changed: [],
        used: used(1, 0, 0),
        at: expect.stringMatching(/Z$/),
        children: [],
      },
      {
        turn: 4,
        from: "work",
        event: "Done",
        to: "end",
        visit: 1,
        cause: "event",
        redirected_from: [],
        by: null,
        artifacts: { note: "seen" },
        changed: ["note"],
        used: used(2, 1, 2),
        at: expect.stringMatching(/Z$/),
        children: [],
      },
    ]);
    const lines = folder.cli(["trace", "@", "--format", "jsonl"]).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
    expect(JSON.parse(folder.cli(["trace", "@", "--at", "4", "--json"]).stdout)).toEqual([rows[1]]);
    expect(folder.cli(["trace", "@"]).stdout).toMatch(/→ end +│ Done +│ seen/);
    expect(folder.cli(["trace", "@", "--format", "md"]).stdout).toContain("| → end | Done | seen |");
    expect(folder.cli(["trace", "@", "--format", "csv"]).stdout).toMatch(
      /\r\n4,work,Done,end,1,event,,,[^,]+,seen\r\n$/,
    );
  });

  test("ls lists runs, the newest first, by status and by pack", () => {
    using folder = runFolder(files);
    const done = folder.summary(start).summary.run;
    const open = folder.summary([...start, "--detach"]).summary.run;
    const listed = (...args: string[]) =>
      (JSON.parse(folder.cli(["ls", "--json", ...args]).stdout) as { run: string }[]).map(({ run }) => run);
    expect(listed()).toEqual([open, done]);
    expect(listed("--status", "completed")).toEqual([done]);
    expect(listed("--pack", "other")).toEqual([]);
    expect(listed("--limit", "1")).toEqual([open]);
    expect(folder.cli(["ls", "--status", "lost"])).toMatchObject({ code: 2, stdout: "" });
    expect(listed("--where", "visits>1 and status=completed")).toEqual([done]);
    expect(listed("--where", "not (status=completed or model_calls>99)")).toEqual([open]);
    expect(folder.cli(["ls", "--where", "visits>"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(
        "the end stands where a value for `visits` was expected, at character 8",
      ),
    });
  });

  test.each([
    [["show", "r_zzz"]],
    [["trace", "r_zzz"]],
    [["resume", "r_zzz"]],
    [["send", "r_zzz", "Yes"]],
    [["say", "r_zzz", "hello"]],
    [["cancel", "r_zzz"]],
    [["approve", "r_zzz", "1"]],
    [["reject", "r_zzz", "1"]],
    [["answer", "r_zzz", "1", "--result", "1"]],
  ])("an unknown run is 5, with a store and without: %j", (args) => {
    using folder = runFolder(files);
    const without = folder.cli(args);
    expect(without).toMatchObject({ code: 5, stdout: "" });
    expect(without.stderr).toContain("there are no runs here");
    folder.cli([...start, "--detach"]);
    const beside = folder.cli(args);
    expect(beside).toMatchObject({ code: 5, stdout: "" });
    expect(beside.stderr).toBe("error: run `r_zzz` does not exist (see packloop ls)\n");
    expect(folder.cli(["show", "@@99"]).code).toBe(5);
  });
});
