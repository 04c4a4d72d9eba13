// Runs that lie in the page itself, in a file that was exported: squeezed, and read without any server.

import type { ExportedRun, RunExport } from "../../../src/host/exported-run.ts";
import type { Source } from "../journal/source.ts";

export interface Embedded {
  /** The run that was exported; those of its agents are here with it. */
  readonly run: string;
  source(run: string): Source;
  about(): Promise<RunExport>;
}

const ID = "packloop-run";

/** Undefined in a page that a server serves. */
export function embeddedRun(): Embedded | undefined {
  const element = document.getElementById(ID);
  if (element === null) return undefined;
  loaded ??= unpacked(element.textContent ?? "");
  const about = loaded;
  return { run: element.dataset["run"] ?? "", source: (run) => sourceOf(about, run), about: () => about };
}

let loaded: Promise<RunExport> | undefined;

async function unpacked(text: string): Promise<RunExport> {
  const bytes = Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as RunExport;
}

/** Turns handed over at a time: the page stays usable between two. */
const PART = 500;

const sourceOf = (about: Promise<RunExport>, run: string): Source => ({
  async follow(told, signal) {
    told.live("loading");
    const { rows } = exportedIn(await about, run);
    for (let first = 0; first < rows.length && !signal.aborted; first += PART) {
      told.rows(rows.slice(first, first + PART), rows.length);
      await new Promise((resolve) => setTimeout(resolve));
    }
    told.live("ended");
  },
  async program(digest) {
    const { packs } = await about;
    const found = packs.find((one) => one.digest === digest);
    if (found === undefined) throw new Error(`the file does not hold the pack ${digest}`);
    return { ...found, program: found.program as never };
  },
});

export function exportedIn({ runs }: RunExport, run: string): ExportedRun {
  const found = runs.find((one) => one.run === run);
  if (found === undefined) throw new Error(`the file does not hold the run ${run}`);
  return found;
}
