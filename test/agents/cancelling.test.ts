// S43: cancelling a run reaches the agents under it at any depth, also where a process died in between.

import { describe, expect, test } from "vitest";
import { type RunFolder, runFolder } from "../cli/run-folder.ts";
import { files, start } from "./tree-pack.ts";

function waiting(): { readonly folder: RunFolder; readonly run: string } {
  const folder = runFolder(files);
  return { folder, run: folder.summary(start).summary.run };
}

const statusesOf = (folder: RunFolder): readonly string[] => {
  const lines = JSON.parse(folder.cli(["ls", "--json"]).stdout) as readonly { readonly status: string }[];
  return lines.map(({ status }) => status);
};

const all = (status: string) => [status, status, status];

test("a command that cancels and leaves has cancelled the whole tree", () => {
  const { folder, run } = waiting();
  using _folder = folder;
  expect(folder.summary(["cancel", run, "--by", "ann"])).toMatchObject({
    code: 12,
    summary: { status: "cancelled" },
  });
  expect(statusesOf(folder)).toEqual(all("cancelled"));
  expect(folder.cli(["show", `${run}/2/3`]).stdout).toContain("its caller no longer waits for it");
  expect(folder.cli(["inbox"]).stdout).toBe("nothing waits for a person\n");
  for (const one of [run, `${run}/2`, `${run}/2/3`]) expect(folder.cli(["replay", one]).code, one).toBe(0);
});

test("cancelling an agent is an error for its caller, who goes on", () => {
  const { folder, run } = waiting();
  using _folder = folder;
  folder.cli(["cancel", `${run}/2`, "--by", "ann"]);
  expect(statusesOf(folder)).toEqual(["running", "cancelled", "cancelled"]);
  expect(folder.summary(["resume", run])).toMatchObject({ code: 0, summary: { status: "completed" } });
});

test("an answer in the agent's place cancels what worked for it", () => {
  const { folder, run } = waiting();
  using _folder = folder;
  folder.cli(["answer", run, "2", "--result", '"never mind"', "--by", "ann"]);
  expect(statusesOf(folder)).toEqual(["running", "cancelled", "cancelled"]);
});

describe("a process that dies after commit", () => {
  // The first commit cancels the run itself, the second its agent, the third settles a debt or goes deeper.
  test.each([1, 2, 3, 4, 5])(
    "%i of a cancellation leaves nothing to run on once the run is resumed",
    (commit) => {
      const { folder, run } = waiting();
      using _folder = folder;
      folder.cli(["cancel", run, "--by", "ann"], { env: { PACKLOOP_CRASH_AT: `commit:${commit}:after` } });
      expect(folder.summary(["resume", run])).toMatchObject({ code: 12 });
      expect(statusesOf(folder)).toEqual(all("cancelled"));
      expect(folder.cli(["verify", "--all"]).code).toBe(0);
    },
  );

  test("1 leaves an agent's agent that does not go on for nobody, whoever resumes it", () => {
    const { folder, run } = waiting();
    using _folder = folder;
    folder.cli(["cancel", run, "--by", "ann"], { env: { PACKLOOP_CRASH_AT: "commit:1:after" } });
    expect(statusesOf(folder)).toEqual(["cancelled", "waiting", "waiting"]);
    const lowest = folder.summary(["resume", `${run}/2/3`]);
    expect(lowest).toMatchObject({ code: 12, summary: { status: "cancelled", visits: { gate: 1 } } });
  });
});
