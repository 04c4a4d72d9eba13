// The file of a cassette: one JSON object per line. The first says what the run was started with, every other
// one what a model or a tool was asked and answered. Lines are only ever added, so a kill costs at most the
// last one.

import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { HostTools } from "../../core/facts.ts";
import { Fault } from "../../engine/ports.ts";

/** What the first line says; another program's file is refused. */
const FORMAT = "packloop-cassette/1";

/** What a run starts with that a replay cannot ask anybody for. */
export interface CassetteTerms {
  readonly pack: { readonly id: string; readonly version: string };
  /** What models were told about tools that the pack does not define. */
  readonly host: HostTools;
  readonly gated: readonly string[];
}

export interface CassetteEntry {
  readonly kind: "model" | "tool";
  /** The step, below the steps of the agent calls that led to it: `7`, or `3/2` in the child that step 3 called. */
  readonly step: string;
  /** Calls of this kind before this one: of a model in the state, of the tool. */
  readonly nth: number;
  readonly state: string;
  /** Of what was asked, before secrets were taken out of it. */
  readonly hash: string;
  /** What was asked, so that a difference can be named. */
  readonly asked: JsonObject;
  /** One of the two. */
  readonly answer?: Json;
  readonly fault?: RecordedFault;
}

export interface RecordedFault {
  readonly code: string;
  readonly message: string;
  /** What was tried again has an entry for every attempt. */
  readonly retry: Fault["retry"];
}

export interface ReadCassette {
  readonly terms: CassetteTerms;
  readonly entries: readonly CassetteEntry[];
}

/** Throws `cassette_exists` or `cassette_unwritable`: what was recorded is never overwritten. */
export function beginCassette(file: string, terms: CassetteTerms): void {
  try {
    if (!isUnused(file)) {
      const remedy = "name another file, or remove it; a resumed run goes on recording by itself";
      throw new Fault("cassette_exists", `\`${pathShown(file)}\` exists already (${remedy})`, {
        retry: "never",
      });
    }
    writeFileSync(file, `${JSON.stringify({ format: FORMAT, ...terms })}\n`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const message = `cannot record to \`${pathShown(file)}\` (${reasonOf(error)})`;
    throw new Fault("cassette_unwritable", message, { retry: "never", cause: error });
  }
}

/** Not there, empty, or begun for a run that never started. */
function isUnused(file: string): boolean {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return true;
  const text = readFileSync(file, "utf8");
  return text === "" || (text.indexOf("\n") === text.length - 1 && termsOf(parsed(text)) !== undefined);
}

/** Makes a cassette ready for more, without a line that a kill cut off; undefined, or why that cannot be. */
export function reopenCassette(file: string): string | undefined {
  try {
    const bytes = readFileSync(file);
    truncateSync(file, bytes.lastIndexOf(0x0a) + 1);
    return bytes.includes(0x0a) ? undefined : "it is empty";
  } catch (error) {
    return reasonOf(error);
  }
}

/** Undefined, or why nothing was added. */
export function addToCassette(file: string, entry: CassetteEntry): string | undefined {
  try {
    appendFileSync(file, `${JSON.stringify(entry)}\n`);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Throws `bad_cassette` when the file cannot be used. */
export function readCassetteFile(file: string): ReadCassette {
  const [first = "", ...rest] = linesOf(file);
  const terms = termsOf(parsed(first));
  if (terms === undefined) throw unusable(file, `its first line does not say ${FORMAT}`);
  const entries = rest.map((line, index) => {
    const entry = entryOf(parsed(line));
    if (entry === undefined) throw unusable(file, `line ${index + 2} is damaged`);
    return entry;
  });
  return { terms, entries };
}

function linesOf(file: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw unusable(file, reasonOf(error));
  }
  if (text === "") throw unusable(file, "it is empty");
  const lines = text.split("\n");
  // Every line is ended: what stands behind the last end was not written to its own.
  if (lines.pop() !== "") throw unusable(file, `line ${lines.length + 1} is cut off`);
  return lines;
}

function parsed(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function termsOf(value: Json | undefined): CassetteTerms | undefined {
  if (!isObject(value) || value["format"] !== FORMAT) return undefined;
  const { pack, host, gated } = value;
  const whole = isObject(pack) && isObject(host) && Array.isArray(gated);
  return whole ? (value as unknown as CassetteTerms) : undefined;
}

function entryOf(value: Json | undefined): CassetteEntry | undefined {
  if (!isObject(value)) return undefined;
  const { kind, step, nth, state, hash, asked, answer, fault } = value;
  const whole =
    (kind === "model" || (kind === "tool" && typeof (asked as JsonObject | null)?.["tool"] === "string")) &&
    typeof nth === "number" &&
    [step, state, hash].every((one) => typeof one === "string") &&
    isObject(asked) &&
    (isObject(answer) || (isObject(fault) && typeof fault["message"] === "string"));
  return whole ? (value as unknown as CassetteEntry) : undefined;
}

const unusable = (file: string, why: string): Fault =>
  new Fault("bad_cassette", `\`${pathShown(file)}\` is no cassette: ${why} (record one with run --record)`, {
    retry: "never",
  });

/** Paths are kept whole with a run; people see them from where they are. */
export function pathShown(file: string): string {
  const near = relative(".", file);
  return near === "" || near.startsWith("..") ? file : near;
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "no such file",
    EACCES: "no permission",
    EISDIR: "it is a folder",
    ENOTDIR: "a part of the path is not a folder",
    ENOSPC: "the disk is full",
  };
  return reasons[code ?? ""] ?? code ?? String(error);
}
