// Whether an exported page still is what was exported: its policy fits its script and style, its data fit
// their hash, every turn folds, and where the store has the run it is that run.

import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { canonical, isObject, type Json, jsonIn } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import { FACTS_VERSION, type TurnRow } from "../../core/facts.ts";
import { emptyRun } from "../../core/run.ts";
import type { Store } from "../../engine/ports.ts";
import { EXPORT_KIND, type ExportedRun, type RunExport } from "../../host/exported-run.ts";
import { cutTurn, journalLine } from "../../host/run-export.ts";
import { turnsOf } from "../../host/stored-runs.ts";
import { usageError } from "../exit.ts";

export interface PageVerdict {
  readonly run: string;
  readonly problems: readonly string[];
  /** Whether a store held the run, so that its turns could be compared. */
  readonly compared: boolean;
  /** Turns that were changed for the export, so that the store cannot tell whether they are its own. */
  readonly uncompared: number;
}

const DATA =
  /<script type="application\/json" id="packloop-run"[^>]* data-sha256="([0-9a-f]{64})">([\w+/=]*)<\/script>/;
/** The script is the page's last, and the style sheet its first. */
const SCRIPT = /<script>([^]*?)<\/script>/;
const STYLE = /<style>([^]*?)<\/style>/;
const POLICY = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/;

/** Unpacked, a page may be so large. */
const BYTES_MAX = 2_000_000_000;

/** Throws for a file that is no page of ours. */
export async function verifyPage(
  name: string,
  html: string,
  store: Store | undefined,
): Promise<readonly PageVerdict[]> {
  const [, hash = "", data] = DATA.exec(html) ?? [];
  if (data === undefined) throw usageError(`\`${name}\` is not a page that packloop exported`);
  const text = unpacked(data);
  if (text === undefined || sha256(text, "hex") !== hash)
    return [{ run: name, problems: ["its data do not fit their hash (it was changed)"], ...NOT_COMPARED }];
  const exported: unknown = jsonIn(text);
  if (!isExport(exported))
    throw usageError(`\`${name}\` was exported by a packloop that this one does not know`);
  const verdicts: PageVerdict[] = [];
  for (const [index, run] of exported.runs.entries()) {
    const own = index === 0 ? policyProblems(html) : [];
    const { problems: stored, ...how } = await storedProblems(store, run);
    verdicts.push({ run: run.run, problems: [...own, ...foldProblems(run), ...stored], ...how });
  }
  return verdicts;
}

const NOT_COMPARED = { compared: false, uncompared: 0 };

function unpacked(data: string): string | undefined {
  try {
    return gunzipSync(Buffer.from(data, "base64"), { maxOutputLength: BYTES_MAX }).toString("utf8");
  } catch {
    // Whatever is wrong with it, it is not what was squeezed.
    return undefined;
  }
}

const sha256 = (text: string, form: "hex" | "base64"): string =>
  createHash("sha256").update(text).digest(form);

function isExport(value: unknown): value is RunExport {
  if (!isObject(value) || value["kind"] !== EXPORT_KIND || !Array.isArray(value["runs"])) return false;
  return value["runs"].every(isRun);
}

function isRun(value: Json): boolean {
  if (!isObject(value)) return false;
  const { run, rows, redacted, journal_sha256: hash, from } = value;
  return (
    typeof run === "string" &&
    typeof hash === "string" &&
    typeof from === "number" &&
    Array.isArray(rows) &&
    rows.every(isRow) &&
    Array.isArray(redacted) &&
    redacted.every((one: Json) => isObject(one) && typeof one["turn"] === "number")
  );
}

function isRow(value: Json): boolean {
  if (!isObject(value)) return false;
  const { turn, v, facts } = value;
  return (
    typeof turn === "number" &&
    typeof v === "number" &&
    Array.isArray(facts) &&
    facts.every((fact: Json) => isObject(fact) && typeof fact["type"] === "string")
  );
}

function policyProblems(html: string): readonly string[] {
  const policy = POLICY.exec(html)?.[1] ?? "";
  const behind = html.slice(html.indexOf("</head>"));
  const parts = { script: SCRIPT.exec(behind)?.[1], style: STYLE.exec(html)?.[1] };
  return Object.entries(parts).flatMap(([name, text]) => {
    const fits = text !== undefined && policy.includes(`${name}-src 'sha256-${sha256(text, "base64")}'`);
    return fits ? [] : [`its ${name} is not the one its policy names (it was changed)`];
  });
}

function foldProblems({ rows, redacted, journal_sha256: hash, from }: ExportedRun): readonly string[] {
  let run = emptyRun;
  for (const row of rows) {
    if (row.v > FACTS_VERSION) return ["it was written by a newer packloop (use that one)"];
    try {
      run = applyTurn(run, row);
    } catch (error) {
      return [
        `turn ${run.turn + 1} cannot be folded: ${error instanceof Error ? error.message : String(error)}`,
      ];
    }
  }
  const isAsStored = redacted.length === 0 && from <= 1;
  return isAsStored && journalHash(rows) !== hash ? ["its turns do not fit the journal's hash"] : [];
}

function journalHash(rows: ExportedRun["rows"]): string {
  const hash = createHash("sha256");
  for (const row of rows) hash.update(journalLine(row));
  return hash.digest("hex");
}

/** Turn by turn: a page with turns taken out or shortened has no hash of what it shows. */
async function storedProblems(
  store: Store | undefined,
  { run, rows, redacted, from, journal_sha256: hash }: ExportedRun,
): Promise<Omit<PageVerdict, "run">> {
  if (store === undefined || (await store.record(run)) === undefined)
    return { problems: [], ...NOT_COMPARED };
  const changed = new Set(redacted.map(({ turn }) => turn));
  const journal = createHash("sha256");
  const others: number[] = [];
  let [read, uncompared] = [0, 0];
  for await (const row of turnsOf(store, run, { from: 1, to: rows.length })) {
    journal.update(journalLine(row));
    const shown = row.turn < from ? cutTurn(row) : row;
    if (changed.has(row.turn)) uncompared++;
    else if (!isSame(shown, rows[read])) others.push(row.turn);
    read++;
  }
  const isOther = others.length > 0 || read < rows.length || journal.digest("hex") !== hash;
  const where = others.length > 0 ? ` (turn ${others[0]} differs)` : "";
  const problems = isOther ? [`the run of that name in the store went another way${where}`] : [];
  return { problems, compared: true, uncompared };
}

const isSame = (stored: TurnRow, shown: TurnRow | undefined): boolean =>
  shown !== undefined && canonical(stored as unknown as Json) === canonical(shown as unknown as Json);
