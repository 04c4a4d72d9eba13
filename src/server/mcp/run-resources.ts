// Runs as resources: the trace of each, and its artifacts with the types the pack declares.

import type { Json, JsonObject } from "../../base/json.ts";
import { artifactsOf } from "../../core/summary.ts";
import { type TraceRow, Tracer } from "../../core/trace.ts";
import { eachRecord, knownRecord, loadedRun, storedProgram, turnsOf } from "../../host/stored-runs.ts";
import { badCursor, fromCursor, toCursor } from "../cursor.ts";
import { hasEnded } from "../is-over.ts";
import { Problem } from "../problem.ts";
import type { ServerParts } from "../server-parts.ts";

/** Runs on one page of the list. */
const PAGE = 50;
/** The longest trace that is read in one piece; `get_trace` has pages. */
const ROWS_MAX = 10_000;
/** A run that has ended does not change. */
const ENDED_MS = 60_000;

const traceUri = (run: string): string => `packloop://runs/${encodeURIComponent(run)}/trace`;

export const TEMPLATES: readonly JsonObject[] = [
  {
    name: "trace",
    title: "The way a run took",
    uriTemplate: "packloop://runs/{id}/trace",
    description: "One row per transition. The slash in the id of an agent's run is written %2F.",
    mimeType: "application/json",
  },
  {
    name: "artifact",
    title: "An artifact of a run",
    uriTemplate: "packloop://runs/{id}/artifacts/{name}",
    description: "The value as it is now, with the type that the pack declares for it.",
  },
];

/** The newest first. */
export async function listResources(
  { store, log }: ServerParts,
  cursor: string | undefined,
): Promise<{ readonly resources: readonly JsonObject[]; readonly nextCursor?: string }> {
  const before = fromCursor(cursor);
  if (before !== undefined && (await store.record(before)) === undefined) throw badCursor(cursor ?? "");
  const filter = { page: PAGE + 1, ...(before !== undefined && { before }) };
  const resources: JsonObject[] = [];
  let last: string | undefined;
  for await (const { run, packId, status } of eachRecord(store, filter, (id) =>
    log.error({ run: id }, "a run is damaged"),
  )) {
    if (resources.length === PAGE) {
      const nextCursor = toCursor(last);
      return { resources, ...(nextCursor !== null && { nextCursor }) };
    }
    const title = `Trace of ${run} (${packId}, ${status})`;
    resources.push({ uri: traceUri(run), name: `trace of ${run}`, title, mimeType: "application/json" });
    last = run;
  }
  return { resources };
}

/** A part of a template's address that somebody is writing. */
export interface PartOfUri {
  readonly template: string;
  readonly name: string;
  readonly begun: string;
  /** Parts that are written already. */
  readonly known: Readonly<Record<string, string>>;
}

/** Runs that are looked through for ids, the newest first. */
const IDS_MAX = 1_000;

/** Ids of runs, and names of a run's artifacts. */
export async function completedPart(
  { store, log }: ServerParts,
  part: PartOfUri,
): Promise<readonly string[]> {
  const { template, name, begun, known } = part;
  if (!TEMPLATES.some(({ uriTemplate }) => uriTemplate === template)) throw unknownResource(template);
  const found: string[] = [];
  if (name === "name" && known["id"] !== undefined) {
    const { run } = await loadedRun(store, known["id"]);
    found.push(...Object.keys(artifactsOf(run)));
  }
  let seen = 0;
  if (name === "id")
    for await (const { run } of eachRecord(store, { page: PAGE }, (id) =>
      log.error({ run: id }, "a run is damaged"),
    )) {
      found.push(run);
      if (++seen >= IDS_MAX) break;
    }
  return found.filter((one) => one.startsWith(begun));
}

export async function readResource(parts: ServerParts, uri: string): Promise<JsonObject> {
  const match = /^packloop:\/\/runs\/([^/?#]+)\/(?:(trace)|artifacts\/([^/?#]+))$/.exec(uri);
  const [run, name] = [decoded(match?.[1]), decoded(match?.[3])];
  if (run === undefined || (match?.[2] === undefined && name === undefined)) throw unknownResource(uri);
  const { content, ended } =
    name === undefined ? await traceOf(parts, run) : await artifact(parts, run, name);
  return { contents: [{ uri, ...content }], ...(ended && { ttlMs: ENDED_MS }), cacheScope: "private" };
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

const unknownResource = (uri: string): Problem =>
  new Problem("not-found", `there is no resource \`${uri.slice(0, 200)}\``, { extras: { uri } });

interface ReadContent {
  readonly content: JsonObject;
  readonly ended: boolean;
}

async function traceOf({ store }: ServerParts, run: string): Promise<ReadContent> {
  const record = await knownRecord(store, run);
  const tracer = new Tracer();
  const rows: TraceRow[] = [];
  for await (const turn of turnsOf(store, run, { from: 1, to: record.turn })) {
    rows.push(...tracer.take(turn));
    if (rows.length >= ROWS_MAX) break;
  }
  return { content: jsonContent(rows as unknown as Json), ended: hasEnded(record) };
}

async function artifact({ store }: ServerParts, run: string, name: string): Promise<ReadContent> {
  const loaded = await loadedRun(store, run);
  const values = artifactsOf(loaded.run);
  if (!Object.hasOwn(values, name))
    throw new Problem("unknown-artifact", `run \`${run}\` has no artifact \`${name.slice(0, 100)}\``);
  const value = values[name] ?? null;
  const { workflow } = await storedProgram(store, loaded.run.digest);
  const declared = workflow?.artifacts ?? {};
  const type = Object.hasOwn(declared, name) ? declared[name]?.type : undefined;
  const content =
    typeof value === "string" && !/[/+]json$/.test(type ?? "")
      ? { mimeType: type ?? "text/plain", text: value }
      : { ...jsonContent(value), ...(type !== undefined && { mimeType: type }) };
  return { content, ended: hasEnded(loaded.record) };
}

const jsonContent = (value: Json): JsonObject => ({
  mimeType: "application/json",
  text: JSON.stringify(value),
});
