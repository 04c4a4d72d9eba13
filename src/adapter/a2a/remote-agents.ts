// The remote agents of a process: their cards, fetched when first needed and again when they are old, and the
// pins of those cards. Nothing is held open.

import type { AgentCard } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { get, type JsonObject, put } from "../../base/json.ts";
import type { TraceHeaders } from "../../engine/ports.ts";
import type { Surroundings } from "../tool/bound-tool.ts";
import { ToolProblem } from "../tool/tool-problem.ts";
import {
  type AgentInterface,
  checkDigest,
  checkExtensions,
  chooseInterface,
  type FetchedCard,
  fetchCard,
  verifiedKey,
} from "./agent-card.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { type AgentPins, type CardPin, changesSince, pinOf, readPins } from "./card-pin.ts";
import { guardedFetch } from "./guarded-fetch.ts";

export interface RemoteAgentsOptions {
  /** What `pins` said in an earlier process. */
  readonly pinned?: AgentPins;
  /** Takes one line about an agent whose card changed. */
  readonly warn?: (line: string) => void;
}

export interface OpenOptions {
  readonly around: Surroundings;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly trace?: TraceHeaders | undefined;
}

/** An agent that may be spoken to. */
export interface OpenAgent {
  readonly client: Client;
  readonly card: JsonObject;
  readonly streams: boolean;
}

interface Kept extends FetchedCard {
  readonly at: number;
  readonly parsed: AgentCard;
  readonly chosen: AgentInterface;
  readonly key: string | undefined;
}

export class RemoteAgents {
  readonly #pins: Map<string, CardPin>;
  readonly #cards = new Map<string, Kept>();
  readonly #warned = new Set<string>();
  readonly #warn: (line: string) => void;

  constructor({ pinned = {}, warn = () => {} }: RemoteAgentsOptions = {}) {
    this.#pins = readPins(pinned);
    this.#warn = warn;
  }

  /** Fails with a problem when the card is not the pinned one, or leads nowhere we can speak. */
  async open(agent: AgentDefinition, options: OpenOptions): Promise<OpenAgent> {
    const { around, timeoutMs, signal, trace } = options;
    const request = guardedFetch(agent, { timeoutMs, now: () => around.clock.now(), signal, trace });
    const { card, parsed, chosen, key } = await this.#card(agent, request, around.clock.now());
    this.#checkPin(agent, pinOf(card, key));
    const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } = await import(
      "@a2a-js/sdk/client"
    );
    const factory = new ClientFactory({
      transports: [
        new JsonRpcTransportFactory({ fetchImpl: request }),
        new RestTransportFactory({ fetchImpl: request }),
      ],
    });
    const only = parsed.supportedInterfaces.filter(
      ({ url, protocolBinding }) =>
        URL.parse(url)?.href === chosen.url && protocolBinding.toUpperCase() === chosen.binding,
    );
    const client = await factory.createFromAgentCard({ ...parsed, supportedInterfaces: only.slice(0, 1) });
    return { client, card, streams: get(card["capabilities"], "streaming") === true };
  }

  /** The pins in force for every card seen or given, to be stored. A changed card keeps its old pin. */
  pins(): AgentPins {
    const pins: Record<string, CardPin> = {};
    for (const url of [...this.#pins.keys()].sort()) put(pins, url, this.#pins.get(url));
    return pins;
  }

  async #card(agent: AgentDefinition, request: typeof fetch, now: number): Promise<Kept> {
    // A card that one binding took has yet to be judged by what another demands of it.
    const { url, cardKey, cardSha256 } = agent;
    const id = JSON.stringify([url.href, cardKey ?? null, cardSha256 ?? null]);
    const known = this.#cards.get(id);
    if (known !== undefined && now - known.at < known.freshMs) return known;
    const found = await fetchCard(agent, request, known);
    const kept =
      found === "same" && known !== undefined
        ? { ...known, at: now }
        : await readCard(agent, found as FetchedCard, now);
    this.#cards.set(id, kept);
    return kept;
  }

  /** Seen for the first time, a card is pinned. */
  #checkPin(agent: AgentDefinition, now: CardPin): void {
    const id = agent.url.href;
    const pin = this.#pins.get(id);
    if (pin === undefined) this.#pins.set(id, now);
    const changed = pin === undefined ? [] : changesSince(pin, now);
    if (changed.length === 0) return;
    const message =
      `the card of agent \`${agent.label}\` is no longer the one that was pinned: ${changed.join(" and ")} ` +
      "changed (look at it, then remove its pin to accept it)";
    const once = JSON.stringify([id, now]);
    if (!this.#warned.has(once)) this.#warn(message);
    this.#warned.add(once);
    throw new ToolProblem("card_changed", message);
  }
}

async function readCard(agent: AgentDefinition, found: FetchedCard, at: number): Promise<Kept> {
  const { card } = found;
  const chosen = chooseInterface(agent, card);
  checkExtensions(agent, card);
  checkDigest(agent, card);
  const { AgentCard: codec } = await import("@a2a-js/sdk");
  const parsed = codec.fromJSON(card);
  return { ...found, at, parsed, chosen, key: await verifiedKey(agent, parsed) };
}
