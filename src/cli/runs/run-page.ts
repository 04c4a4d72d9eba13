// A run as one page: the debugger with the run in it, to be opened from a disk. The policy in it names the
// one script and the one style sheet by their hashes, so nothing that the run holds can ever become either.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { RunRecord, Store } from "../../engine/ports.ts";
import type { RunExport } from "../../host/exported-run.ts";
import { type ExportOptions, runExport } from "../../host/run-export.ts";
import { usageError } from "../exit.ts";
import { packageFile } from "../package-version.ts";

/** A larger page is slow to open everywhere. */
const BYTES_MAX = 20_000_000;

export interface PageOptions extends ExportOptions {
  /** Where the built page is. */
  readonly folder?: string;
  readonly bytesMax?: number;
}

export interface RunPage {
  readonly html: string;
  /** Runs and turns that something was taken out of. */
  readonly redacted: readonly string[];
}

export async function runPage(store: Store, record: RunRecord, options: PageOptions): Promise<RunPage> {
  const { run } = record;
  const exported = await runExport(store, record, options);
  const text = JSON.stringify(exported);
  const data = gzipSync(text, { level: 9 }).toString("base64");
  const html = pageText({ run, data, sha256: sha256(text, "hex") }, builtPage(options.folder));
  if (html.length > (options.bytesMax ?? BYTES_MAX))
    throw usageError(
      `the page of \`${run}\` would have ${megabytes(html.length)} (give --from and --to, or leave --html out)`,
    );
  return { html, redacted: redactedIn(exported) };
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;

const redactedIn = ({ runs }: RunExport): readonly string[] =>
  runs.flatMap(({ run, redacted }, index) =>
    redacted.map(({ turn }) => (index === 0 ? `turn ${turn}` : `turn ${turn} of ${run}`)),
  );

interface BuiltPage {
  readonly script: string;
  readonly style: string;
}

function builtPage(folder: string = fileURLToPath(packageFile("dist/web-export"))): BuiltPage {
  const [script, style] = [`${folder}/page.js`, `${folder}/page.css`];
  if (!existsSync(script)) throw usageError("the page was not built (npm run build)");
  return { script: readFileSync(script, "utf8"), style: readFileSync(style, "utf8") };
}

interface Embedded {
  readonly run: string;
  readonly data: string;
  /** Of what is squeezed in the data. */
  readonly sha256: string;
}

function pageText({ run, data, sha256: hash }: Embedded, page: BuiltPage): string {
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
    `<script type="application/json" id="packloop-run" data-run="${escaped(run)}" data-sha256="${hash}">${data}</script>`,
    `<script>${script}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

const sha256 = (text: string, form: "hex" | "base64"): string =>
  createHash("sha256").update(text).digest(form);

const hashOf = (text: string): string => `'sha256-${sha256(text, "base64")}'`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
