// A run that lies in the page itself, in a file that was exported: squeezed, and read without any server.

import type { TurnRow } from "../../../src/core/facts.ts";
import type { PackOf, Source } from "../journal/journal-service.ts";

/** What an exported file holds. */
export interface ExportedRun {
  readonly run: string;
  readonly packs: readonly (PackOf & { readonly digest: string; readonly source: string })[];
  readonly rows: readonly TurnRow[];
  readonly exported_at: string;
  readonly journal_sha256: string;
  /** What was taken out, by kind. */
  readonly redacted: readonly string[];
}

export interface Embedded {
  readonly run: string;
  source(): Source;
  about(): Promise<ExportedRun>;
}

const ID = "packloop-run";

/** Undefined in a page that a server serves. */
export function embeddedRun(): Embedded | undefined {
  const element = document.getElementById(ID);
  if (element === null) return undefined;
  loaded ??= unpacked(element.textContent ?? "");
  const about = loaded;
  return { run: element.dataset["run"] ?? "", source: () => sourceOf(about), about: () => about };
}

let loaded: Promise<ExportedRun> | undefined;

async function unpacked(text: string): Promise<ExportedRun> {
  const bytes = Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as ExportedRun;
}

/** Turns handed over at a time: the page stays usable between two. */
const PART = 500;

const sourceOf = (about: Promise<ExportedRun>): Source => ({
  async follow(told, signal) {
    told.live("loading");
    const { rows } = await about;
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
    return found;
  },
});
