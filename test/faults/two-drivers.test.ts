// F9: several processes go on with one run. One of them has it; the others leave with 6 and name it, also while
// it stands still, and it ends the run as if it had been alone.

import { describe, expect, test } from "vitest";
import type { TurnRow } from "../../src/core/facts.ts";
import { factsOf, type Live, live, type RunFolder, runFolder } from "../cli/run-folder.ts";
import { files, start } from "../cli/work-pack.ts";
import { isWhole } from "./sweep.ts";

const MINUTES = 60_000;
/** The second answer of the model leaves time to stop the process that waits for it. */
const script = (delayMs: number) => `states:
  work:
    - { calls: [{ tool: look }] }
    - { event: Again, delay_ms: ${delayMs} }
    - { artifacts: { note: seen }, event: Done }
  end: [{ text: Goodbye. }]
tools:
  look: [{ ok: { light: on } }]
`;
const key = ["--idempotency-key", "k"];
const drivers = [
  ["resume", "@", "--json"],
  [...start, ...key, "--json"],
];
const crowds = isWhole ? [2, 3, 4, 8] : [2, 4];

describe("several processes go on with one run", () => {
  test.each(crowds)(
    "%i of them: one ends it, the others leave with 6 and name it",
    async (count) => {
      using folder = begun(3_000);
      const all = Array.from({ length: count }, (_, index) => live(drivers[index % 2] ?? [], folder.path));
      const winner = await firstToTell(all);
      winner.kill("SIGSTOP");
      for (const other of all.filter((one) => one !== winner)) await expectRefused(other, winner);
      // Standing still is not giving up.
      await expectRefused(live(["resume", "@"], folder.path), winner);
      expect(folder.cli(["show", "@"]).code, "readers are not kept out").toBe(0);
      winner.kill("SIGCONT");
      expect((await winner.ended).code).toBe(0);
      expect(folder.cli(["verify", "--all"]).code).toBe(0);
      expect(await wayOf(folder)).toEqual(await undisturbedWay());
    },
    2 * MINUTES,
  );

  test("killed while it stands still, it lets go, and the next goes on", async () => {
    using folder = begun(60_000);
    const first = live(["resume", "@", "--json"], folder.path);
    await firstToTell([first]);
    first.kill("SIGSTOP");
    await expectRefused(live(["resume", "@"], folder.path), first);
    first.kill("SIGKILL");
    expect((await first.ended).signal).toBe("SIGKILL");
    expect(folder.summary(["resume", "@", "--script", "quick.yaml"]).code).toBe(0);
    expect(await wayOf(folder)).toEqual(await undisturbedWay());
  });
});

/** A run that was started and waits for somebody to drive it. */
function begun(delayMs: number): RunFolder {
  const folder = runFolder({ ...files, "script.yaml": script(delayMs), "quick.yaml": script(0) });
  expect(folder.cli([...start, ...key, "--detach"]).code).toBe(0);
  return folder;
}

/** The first of the processes that tells of a turn, and so holds the run. */
function firstToTell(all: readonly Live[]): Promise<Live> {
  const told = all.map(
    (one) =>
      new Promise<Live>((resolve, reject) => {
        let tells = false;
        const look = (text: string) => {
          tells ||= text.includes('"facts"');
          return tells;
        };
        one.until(look).then(() => (tells ? resolve(one) : reject(new Error("it ended"))), reject);
      }),
  );
  return Promise.any(told);
}

async function expectRefused(process: Live, owner: Live): Promise<void> {
  const { code, text } = await process.ended;
  expect(code, text).toBe(6);
  expect(text).toMatch(/^error: [^\n]*\n$/);
  expect(text).toContain(`in use by process ${owner.pid} on `);
}

/** What happened, without names and times. */
async function wayOf(folder: RunFolder): Promise<readonly unknown[]> {
  const rows: readonly TurnRow[] = await folder.journal(nameIn(folder));
  expect(rows.map(({ turn }) => turn)).toEqual(rows.map((_, index) => index + 1));
  return factsOf(rows).map((fact) =>
    fact.type === "asked"
      ? `asked ${fact.step} ${fact.ask.kind}`
      : fact.type === "answered"
        ? `answered ${fact.step}`
        : fact.type,
  );
}

const nameIn = (folder: RunFolder): string =>
  (JSON.parse(folder.cli(["show", "@", "--json"]).stdout) as { run: string }).run;

async function undisturbedWay(): Promise<readonly unknown[]> {
  using folder = begun(0);
  expect(folder.cli(["resume", "@"]).code).toBe(0);
  return await wayOf(folder);
}
