// An agent's card: where it is looked for, what is wanted of it, and which of its interfaces is spoken to.

import { readFile } from "node:fs/promises";
import type { AgentCard } from "@a2a-js/sdk";
import { canonical, get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { sha256Of } from "../../base/sha256.ts";
import { Fault } from "../../engine/ports.ts";
import { ToolProblem } from "../tool/tool-problem.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { shortDigest } from "./card-pin.ts";
import { isSignedWith } from "./card-signature.ts";

export interface FetchedCard {
  /** As it was sent. */
  readonly card: JsonObject;
  /** Where it was found. */
  readonly from: string;
  readonly etag: string | undefined;
  /** Until then it is taken as it is, in milliseconds from its arrival. */
  readonly freshMs: number;
}

export interface AgentInterface {
  readonly url: string;
  readonly binding: "JSONRPC" | "HTTP+JSON";
}

const CARD_BYTES_MAX = 1_000_000;
const FRESH_MS = 60_000;
const FRESH_MOST_MS = 3_600_000;

/**
 * The card, or "same" when the one that is known is still valid. An address that ends in `.json` is the
 * card's own; else the card is where the protocol puts it, below the address.
 */
export async function fetchCard(
  agent: AgentDefinition,
  request: typeof fetch,
  known: FetchedCard | undefined,
): Promise<FetchedCard | "same"> {
  const places = known === undefined ? placesOf(agent.url) : [known.from];
  for (const place of places) {
    const response = await request(place, {
      headers: {
        accept: "application/json",
        "a2a-version": "1.0",
        ...(known?.etag !== undefined && { "if-none-match": known.etag }),
      },
    });
    if (response.status === 304) return "same";
    if (response.status === 404 || response.status === 405 || response.status === 410) continue;
    if (!response.ok) throw unavailable(agent, `answers with status ${response.status} in place of its card`);
    const card = cardIn(agent, await textOf(agent, response));
    if (isBelow(agent.url, place) || leadsTo(card, agent.url)) return fetched(card, place, response.headers);
  }
  throw new ToolProblem("no_card", `agent \`${agent.label}\` has no card (looked at ${listed(places)})`);
}

function placesOf(url: URL): readonly string[] {
  if (url.pathname.endsWith(".json")) return [url.href];
  const base = new URL(url.href.endsWith("/") ? url.href : `${url.origin}${url.pathname}/`);
  const below = [".well-known/agent-card.json", "agent-card.json", ".well-known/agent.json"];
  const places = below.map((path) => new URL(path, base).href);
  return [...new Set([...places, new URL("/.well-known/agent-card.json", base).href])];
}

/** The card of a whole host is an agent's own only when it says so. */
const isBelow = (url: URL, place: string): boolean =>
  place === url.href || place.startsWith(`${url.origin}${url.pathname.replace(/\/$/, "")}/`);

const leadsTo = (card: JsonObject, url: URL): boolean =>
  interfacesOf(card).some((one) => String(one["url"]).replace(/\/$/, "") === url.href.replace(/\/$/, ""));

const listed = (places: readonly string[]): string => places.map((place) => `\`${place}\``).join(", ");

async function textOf({ label }: AgentDefinition, response: Response): Promise<string> {
  const text = await response.text();
  if (text.length <= CARD_BYTES_MAX) return text;
  throw new ToolProblem("bad_card", `the card of agent \`${label}\` is over ${CARD_BYTES_MAX} bytes`);
}

function cardIn({ label }: AgentDefinition, text: string): JsonObject {
  try {
    const card: unknown = JSON.parse(text);
    if (isObject(card)) return card;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ToolProblem("bad_card", `the card of agent \`${label}\` is not a JSON object`);
}

function fetched(card: JsonObject, from: string, headers: Headers): FetchedCard {
  const seconds = Number(/max-age=(\d{1,9})/.exec(headers.get("cache-control") ?? "")?.[1] ?? Number.NaN);
  const freshMs = Number.isNaN(seconds) ? FRESH_MS : Math.min(seconds * 1000, FRESH_MOST_MS);
  return { card, from, etag: headers.get("etag") ?? undefined, freshMs };
}

const unavailable = ({ label }: AgentDefinition, what: string): Fault =>
  new Fault("agent_unavailable", `agent \`${label}\` ${what}`, { retry: "later" });

const BINDINGS = ["JSONRPC", "HTTP+JSON"] as const;

/** JSON-RPC, then REST, of version 1; never a place that the configuration does not name. */
export function chooseInterface(agent: AgentDefinition, card: JsonObject): AgentInterface {
  const { label } = agent;
  const offered = interfacesOf(card);
  const spoken = offered.filter((one) => /^1(\.|$)/.test(String(one["protocolVersion"] ?? "")));
  if (spoken.length === 0) throw otherVersion(label, { card, offered });
  for (const binding of BINDINGS) {
    const one = spoken.find((two) => String(two["protocolBinding"]).toUpperCase() === binding);
    if (one === undefined) continue;
    const url = URL.parse(String(one["url"]));
    if (url === null) throw new ToolProblem("bad_card", `the card of agent \`${label}\` has a wrong address`);
    if (agent.trusts(url)) return { url: url.href, binding };
    const message = `the card of agent \`${label}\` leads to \`${url.origin}\` (list it in \`allow_hosts\` if it is meant)`;
    throw new ToolProblem("place_refused", message);
  }
  const bindings = [...new Set(spoken.map((one) => String(one["protocolBinding"])))].join(", ");
  throw new ToolProblem(
    "no_interface",
    `agent \`${label}\` speaks ${bindings} only (packloop speaks ${BINDINGS.join(" and ")})`,
  );
}

const interfacesOf = (card: JsonObject): readonly JsonObject[] =>
  Array.isArray(card["supportedInterfaces"]) ? card["supportedInterfaces"].filter(isObject) : [];

function otherVersion(
  label: string,
  { card, offered }: { readonly card: JsonObject; readonly offered: readonly JsonObject[] },
): ToolProblem {
  const versions = [card, ...offered].flatMap(({ protocolVersion }) =>
    typeof protocolVersion === "string" ? [protocolVersion] : [],
  );
  if (versions.length === 0 && typeof card["url"] !== "string")
    return new ToolProblem("bad_card", `the card of agent \`${label}\` lists no interface of A2A 1.0`);
  const spoken = [...new Set(versions)].join(", ") || "0.3 or older";
  return new ToolProblem(
    "version_not_supported",
    `agent \`${label}\` speaks A2A ${spoken} (packloop speaks 1.0)`,
  );
}

/** An extension that an agent insists on is one that we do not have. */
export function checkExtensions({ label }: AgentDefinition, card: JsonObject): void {
  const extensions = get(card["capabilities"], "extensions");
  const required = (Array.isArray(extensions) ? (extensions as readonly Json[]) : []).find(
    (one) => get(one, "required") === true,
  );
  if (required === undefined) return;
  const uri = String(get(required, "uri") ?? "").slice(0, 200);
  throw new ToolProblem(
    "extension_required",
    `agent \`${label}\` wants extension \`${uri}\`, which packloop has not`,
  );
}

/** Holds the card against the digest in the configuration, if there is one. */
export function checkDigest({ cardSha256, label }: AgentDefinition, card: JsonObject): void {
  if (cardSha256 === undefined) return;
  const { signatures: _signatures, ...said } = card;
  const digest = sha256Of(canonical(said));
  if (digest === cardSha256) return;
  throw new ToolProblem(
    "card_changed",
    `the card of agent \`${label}\` is not the one in \`card_sha256\`; nothing was sent (it is ${digest} now: read it, then put that there)`,
  );
}

/** Verifies the signature where a key is configured; the digest of the key, for the pin. */
export async function verifiedKey(agent: AgentDefinition, card: AgentCard): Promise<string | undefined> {
  const { cardKey, label } = agent;
  if (cardKey === undefined) return undefined;
  const keys = await readKeys(cardKey);
  for (const key of keys) if (await isSignedWith(card, key)) return shortDigest(key);
  throw new ToolProblem(
    "bad_signature",
    `the card of agent \`${label}\` is not signed with the configured key`,
  );
}

/** A JWK, or a set of them. */
async function readKeys(file: string): Promise<readonly JsonObject[]> {
  try {
    const value = JSON.parse(await readFile(file, "utf8")) as Json;
    const keys = get(value, "keys");
    const found = (Array.isArray(keys) ? (keys as readonly Json[]) : [value]).filter(isObject);
    if (found.length > 0 && found.every((key) => typeof key["kty"] === "string")) return found;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!(error instanceof SyntaxError) && code === undefined) throw error;
  }
  const message = `\`card_key\` is not a file with a public key as JWK, or a set of them`;
  throw new ToolProblem("not_configured", message);
}
