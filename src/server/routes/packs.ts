// Packs that runs can be started from by their digest, and checks of packs.

import { z } from "@hono/zod-openapi";
import { isoTime } from "../../base/iso-time.ts";
import { put } from "../../base/json.ts";
import { openPackWith } from "../../host/pack-beside.ts";
import { boundJson, diagnosticJson } from "../../host/pack-view.ts";
import { type OpenedPack, openPack } from "../../pack/open-pack.ts";
import { badCursor, cursorText, fromCursor, toCursor } from "../cursor.ts";
import { checkedPack, goodPack, storedPack } from "../opened-pack.ts";
import { IMMUTABLE, type RouteRequest, route } from "../route.ts";
import { checkReport, pack, packList, registeredPack } from "../schemas/pack-shapes.ts";
import { packBody } from "../schemas/requests.ts";
import { limitText } from "../schemas/shared.ts";
import type { KeptPack } from "../side-file.ts";

type PackRequest = RouteRequest<unknown, unknown, z.infer<typeof packBody>>;

const registerPack = route({
  method: "post",
  path: "/api/packs",
  name: "registerPack",
  tag: "packs",
  summary: "Register a pack, so that runs can be started by its digest",
  scope: "packs:write",
  body: packBody,
  answers: { 201: { description: "Registered, now or before.", schema: registeredPack } },
  problems: ["pack-invalid"],
  async handle({ body: { source, file = "pack.yaml", beside } }: PackRequest, { side, clock }) {
    const { program, digest, bound, diagnostics } = goodPack(source, file, beside);
    const kept = {
      ...{ digest, id: program.id, version: program.version, file, source, at: clock.now() },
      beside: beside === undefined ? null : JSON.stringify(beside),
    };
    side.putPack(kept);
    const body = { ...lineOf(kept), diagnostics: diagnostics.map(diagnosticJson), bound: boundJson(bound) };
    return { status: 201, body, headers: { location: `/api/packs/${encodeURIComponent(digest)}` } };
  },
});

const lineOf = ({ digest, id, version, file, at }: KeptPack) => ({
  digest,
  id,
  version,
  file,
  registered_at: isoTime(at),
});

const listQuery = z.strictObject({ cursor: cursorText.optional(), limit: limitText(200, 50) });

const listPacks = route({
  method: "get",
  path: "/api/packs",
  name: "listPacks",
  tag: "packs",
  summary: "List registered packs, the newest first",
  scope: "runs:read",
  query: listQuery,
  answers: { 200: { description: "A page.", schema: packList } },
  async handle({ query }: RouteRequest<unknown, z.infer<typeof listQuery>, unknown>, { side }) {
    const before = fromCursor(query.cursor);
    if (before !== undefined && side.pack(before) === undefined) throw badCursor(query.cursor ?? "");
    const found = side.packs({ before, limit: query.limit + 1 });
    const items = found.slice(0, query.limit);
    const next = found.length > items.length ? items.at(-1)?.digest : undefined;
    return { status: 200, body: { items: items.map(lineOf), next_cursor: toCursor(next) } };
  },
});

const getPack = route({
  method: "get",
  path: "/api/packs/{digest}",
  name: "getPack",
  tag: "packs",
  summary: "A pack with its text, findings and proof; also the pack of any run",
  scope: "runs:read",
  params: z.strictObject({ digest: z.string().min(1).max(200) }),
  answers: { 200: { description: "The pack.", schema: pack } },
  problems: ["unknown-pack"],
  async handle({ params }: RouteRequest<{ digest: string }, unknown, unknown>, parts) {
    const stored = await storedPack(parts, params.digest);
    const { program, digest, source, file } = stored;
    const kept = parts.side.pack(digest);
    const opened = checkedPack(stored);
    const body = {
      ...{ digest, id: program.id, version: program.version, file, source, program },
      registered_at: kept === undefined ? null : isoTime(kept.at),
      diagnostics: opened.diagnostics.map(diagnosticJson),
      bound: opened.ok ? boundJson(opened.bound) : { terminates: false },
    };
    return { status: 200, body, headers: IMMUTABLE };
  },
});

const checkPack = route({
  method: "post",
  path: "/api/check",
  name: "checkPack",
  tag: "packs",
  summary: "Check a pack without keeping it",
  scope: "runs:read",
  body: packBody,
  answers: { 200: { description: "As `packloop check --format json`.", schema: checkReport } },
  async handle({ body: { source, file = "pack.yaml", beside } }: PackRequest) {
    const opened = beside === undefined ? openPack(source, { file }) : openPackWith(source, file, beside);
    return { status: 200, body: reportOf(opened, file) };
  },
});

function reportOf(opened: OpenedPack, file: string) {
  const { diagnostics } = opened;
  const count = (severity: string) => diagnostics.filter((one) => one.severity === severity).length;
  const bounds = {};
  if (opened.ok) put(bounds, file, boundJson(opened.bound));
  return {
    files: 1,
    errors: count("error"),
    warnings: count("warning"),
    diagnostics: diagnostics.map(diagnosticJson),
    bounds,
  };
}

export const packRoutes = [registerPack, listPacks, getPack, checkPack];
