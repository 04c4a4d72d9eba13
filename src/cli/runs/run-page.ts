// A run as one page: the debugger with the run in it, to be opened from a disk. The policy in it names the
// one script and the one style sheet by their hashes, so nothing that the run holds can ever become either.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { TurnRow } from "../../core/facts.ts";
import type { RunRecord, Store } from "../../engine/ports.ts";
import { turnsOf } from "../../host/stored-runs.ts";
import { ExitError, exits, usageError } from "../exit.ts";
import { packageFile } from "../package-version.ts";

/** A larger page is slow to open everywhere. */
const BYTES_MAX = 20_000_000;

export interface PageOptions {
  /** Takes secrets out. */
  readonly clean: <T>(value: T) => T;
  readonly at: string;
  /** Where the built page is. */
  readonly folder?: string;
}

export interface RunPage {
  readonly html: string;
  /** Turns that something was taken out of. */
  readonly redacted: readonly string[];
}

export async function runPage(store: Store, record: RunRecord, options: PageOptions): Promise<RunPage> {
  const { run, turn } = record;
  const rows: TurnRow[] = [];
  const digests = new Set<string>();
  const redacted: string[] = [];
  const hash = createHash("sha256");
  for await (const row of turnsOf(store, run, { from: 1, to: turn })) {
    hash.update(`${JSON.stringify(row)}\n`);
    for (const fact of row.facts)
      if (fact.type === "started" || fact.type === "forked") digests.add(fact.digest);
    const facts = options.clean(row.facts);
    if (JSON.stringify(facts) !== JSON.stringify(row.facts)) redacted.push(`turn ${row.turn}`);
    rows.push({ ...row, facts });
  }
  const packs = await Promise.all([...digests].map((digest) => packOf(store, record, digest)));
  const exported = {
    run,
    packs,
    rows,
    redacted,
    exported_at: options.at,
    journal_sha256: hash.digest("hex"),
  };
  const data = gzipSync(JSON.stringify(exported), { level: 9 }).toString("base64");
  if (data.length > BYTES_MAX)
    throw usageError(
      `the page of \`${run}\` would have ${megabytes(data.length)} (export it without --html)`,
    );
  return { html: pageText(run, data, builtPage(options.folder)), redacted };
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;

async function packOf(store: Store, { packId, packVersion }: RunRecord, digest: string) {
  const stored = await store.program(digest);
  if (stored === undefined)
    throw new ExitError(`the program \`${digest}\` of the run is not in the store`, exits.notFound);
  const { id = packId, version = packVersion } = stored.program as { id?: string; version?: string };
  return { digest, id, version, program: stored.program, source: stored.source };
}

interface BuiltPage {
  readonly script: string;
  readonly style: string;
}

function builtPage(folder: string = fileURLToPath(packageFile("dist/web-export"))): BuiltPage {
  const [script, style] = [`${folder}/page.js`, `${folder}/page.css`];
  if (!existsSync(script)) throw usageError("the page was not built (npm run build)");
  return { script: readFileSync(script, "utf8"), style: readFileSync(style, "utf8") };
}

function pageText(run: string, data: string, page: BuiltPage): string {
  // Neither may end its own element. In scripts and styles a backslash changes nothing there.
  const script = page.script.replaceAll(/<(?=\/script|!--)/gi, "\\x3c");
  const style = page.style.replaceAll(/<(?=\/style)/gi, "\\3c ");
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escaped(run)} · packloop</title>`,
    `<style>${style}</style>`,
    "</head>",
    "<body>",
    '<div id="page"></div>',
    `<script type="application/json" id="packloop-run" data-run="${escaped(run)}">${data}</script>`,
    `<script>${script}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
