// The run as a test of its pack, as `packloop export --test` writes it.

import { exportedTest, testFileName } from "../../../src/core/exported-test.ts";
import type { TurnRow } from "../../../src/core/facts.ts";
import type { Program } from "../../../src/core/program.ts";
import type { Summary } from "../../../src/core/summary.ts";
import { ask, runPath } from "../api.ts";
import { embeddedRun, exportedIn } from "../export/embedded-run.ts";

export interface TestFile {
  readonly name: string;
  readonly text: string;
}

/** Throws where the run cannot become one. */
export async function testFile(run: string, { digest, id }: Summary["pack"]): Promise<TestFile> {
  const { rows, program } = await (embeddedRun() === undefined ? served(run, digest) : embedded(run, digest));
  const made = exportedTest({ id: run, program, rows, pack: `${id}.pack.yaml` });
  if (!made.ok) throw new Error(`${run} cannot become a test: ${made.why}`);
  return { name: testFileName(run), text: made.text };
}

interface Read {
  readonly rows: readonly TurnRow[];
  readonly program: Program;
}

async function served(run: string, digest: string): Promise<Read> {
  const { program } = await ask<{ readonly program: Program }>(`/api/packs/${encodeURIComponent(digest)}`);
  const rows: TurnRow[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: TurnPage = await ask(
      `${runPath(run)}/turns?limit=200${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    for (const { turn, at, v, facts } of page.items) rows.push({ turn, at: Date.parse(at), v, facts });
    cursor = page.next_cursor;
  }
  return { rows, program };
}

interface TurnPage {
  readonly items: readonly (Omit<TurnRow, "at"> & { readonly at: string })[];
  readonly next_cursor: string | null;
}

async function embedded(run: string, digest: string): Promise<Read> {
  const about = await embeddedRun()?.about();
  const pack = about?.packs.find((one) => one.digest === digest);
  if (about === undefined || pack === undefined) throw new Error("the file does not hold the pack");
  return { rows: exportedIn(about, run).rows, program: pack.program as unknown as Program };
}
