// The card of a served agent, and the answer to who asks for it.

import { createHash } from "node:crypto";
import { A2A_PROTOCOL_VERSION, AgentCard, type AgentInterface } from "@a2a-js/sdk";
import type { JsonObject } from "../../base/json.ts";
import type { ServedAgent } from "./agent-directory.ts";
import type { CardSigner } from "./sign-card.ts";

export interface CardTerms {
  /** What its addresses begin with, like `http://127.0.0.1:7777`. */
  readonly base: string;
  readonly tokenNeeded: boolean;
  /** 0.3 is spoken as well. */
  readonly compat: boolean;
  readonly signer?: CardSigner | undefined;
}

const CACHED_SECONDS = 300;

/** What callers may learn about a pack to fill in data parts; on the extended card only. */
export const PACK_EXTENSION = "urn:packloop:a2a:pack";

export function agentCard({ card, path }: ServedAgent, terms: CardTerms): AgentCard {
  const { name, description, version, defaultInputModes, defaultOutputModes } = card;
  const bearer = { description: "A token of this server.", scheme: "Bearer", bearerFormat: "" };
  const schemes = { [BEARER]: { scheme: { $case: "httpAuthSecurityScheme" as const, value: bearer } } };
  return {
    ...{ name, description, version, provider: undefined, signatures: [] },
    supportedInterfaces: interfaces(`${terms.base}${path}`, terms.compat),
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
    securitySchemes: schemes,
    securityRequirements: terms.tokenNeeded ? [{ schemes: { [BEARER]: { list: [] } } }] : [],
    defaultInputModes: [...defaultInputModes],
    defaultOutputModes: [...defaultOutputModes],
    skills: card.skills.map((skill) => ({
      ...{ id: skill.id, name: skill.name, description: skill.description, tags: [...skill.tags] },
      ...{ inputModes: [...skill.inputModes], outputModes: [...skill.outputModes] },
      ...{ examples: [], securityRequirements: [] },
    })),
  };
}

const BEARER = "bearer";

function interfaces(url: string, compat: boolean): AgentInterface[] {
  const of = (protocolBinding: string, protocolVersion: string) => ({
    ...{ url, protocolBinding, protocolVersion, tenant: "" },
  });
  return [
    of("JSONRPC", A2A_PROTOCOL_VERSION),
    of("HTTP+JSON", A2A_PROTOCOL_VERSION),
    ...(compat ? [of("JSONRPC", "0.3")] : []),
  ];
}

/** With what a caller needs to know to start a task by data: its variables, and the artifacts it gives. */
export function extendedCard(agent: ServedAgent, terms: CardTerms): AgentCard {
  const card = agentCard(agent, terms);
  const extension = {
    uri: PACK_EXTENSION,
    description: "The pack behind this agent: variables that data parts may give, artifacts that come back.",
    required: false,
    params: packParams(agent),
  };
  const capabilities = { ...card.capabilities, extensions: [extension] };
  const extended = { ...card, capabilities };
  return terms.signer?.sign(extended, terms.base) ?? extended;
}

function packParams({ program, pack, start, key }: ServedAgent): JsonObject {
  const { workflow, prompts } = program;
  const state = "state" in start ? start.state : workflow?.entry;
  const task = state === undefined ? undefined : workflow?.states[state]?.promptTask;
  const name = "prompt" in start ? start.prompt : (task ?? (Object.hasOwn(prompts, key) ? key : undefined));
  const prompt = name === undefined ? undefined : prompts[name];
  return {
    pack: { id: program.id, version: program.version, digest: pack.digest },
    variables: (prompt?.variables ?? []).map(({ name: variable, type, required, description }) => ({
      ...{ name: variable, type, required, description },
    })),
    artifacts: Object.entries(workflow?.artifacts ?? {}).map(([artifact, { type, description }]) => ({
      ...{ name: artifact, type, description },
    })),
  };
}

/** Fresh for some minutes; a client that has it is told so. */
export function cardResponse(request: Request, agent: ServedAgent, card: unknown): Response {
  const body = JSON.stringify(card);
  const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`;
  const changed = Math.floor(agent.pack.at / 1000) * 1000;
  const headers = {
    etag,
    "last-modified": new Date(changed).toUTCString(),
    "cache-control": `public, max-age=${CACHED_SECONDS}`,
    vary: "A2A-Version",
  };
  if (isKnown(request, { etag, changed })) return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...headers, "content-type": "application/json; charset=utf-8" } });
}

/** A tag that is given wins over a time (RFC 9110). */
function isKnown({ headers }: Request, { etag, changed }: { etag: string; changed: number }): boolean {
  const tags = headers.get("if-none-match");
  if (tags !== null)
    return tags.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
  const since = Date.parse(headers.get("if-modified-since") ?? "");
  return Number.isFinite(since) && since >= changed;
}

export const cardJson = (card: AgentCard): unknown => AgentCard.toJSON(card);
