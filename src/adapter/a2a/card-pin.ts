// Agent cards are pinned when first seen: an agent that later says something else about itself, or wants to
// be spoken to elsewhere, is not called until its pin is removed. A change is an alarm, not an update.

import { canonical, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { sha256Of } from "../../base/sha256.ts";

/** Digests of the parts of a card, so that a change can be named. */
export interface CardPin {
  readonly about: string;
  readonly interfaces: string;
  readonly security: string;
  readonly rest: string;
  /** The key its signature was verified with. */
  readonly key: string;
}

/** By the address of the agent; plain data for a file. */
export type AgentPins = Readonly<Record<string, CardPin>>;

const PARTS: Readonly<Record<"about" | "interfaces" | "security", readonly string[]>> = {
  about: ["name", "description", "skills", "provider"],
  interfaces: ["supportedInterfaces"],
  security: ["securitySchemes", "securityRequirements"],
};

const WORDS: Readonly<Record<keyof CardPin, string>> = {
  about: "what it says it is and can do",
  interfaces: "where it is spoken to",
  security: "what access it wants",
  rest: "its version or what it supports",
  key: "the key it is signed with",
};

const DIGEST_LENGTH = 16;

/** `key` is a digest, too. */
export function pinOf(card: JsonObject, key: string | undefined): CardPin {
  const named = Object.values(PARTS).flat();
  const rest = Object.keys(card).filter((name) => name !== "signatures" && !named.includes(name));
  return {
    about: digest(card, PARTS.about),
    interfaces: digest(card, PARTS.interfaces),
    security: digest(card, PARTS.security),
    rest: digest(card, rest),
    key: key ?? "none",
  };
}

/** The parts that differ, as people say it. */
export function changesSince(pin: CardPin, now: CardPin): readonly string[] {
  const parts = Object.keys(WORDS) as (keyof CardPin)[];
  return parts.filter((part) => pin[part] !== now[part]).map((part) => WORDS[part]);
}

/** Pins from a file; what has another shape counts as not pinned. */
export function readPins(stored: AgentPins): Map<string, CardPin> {
  return new Map(Object.entries(stored).filter(([, pin]) => isPin(pin as unknown)));
}

const isPin = (value: unknown): boolean =>
  isObject(value) && Object.keys(WORDS).every((part) => typeof value[part] === "string");

export const shortDigest = (value: Json): string => sha256Of(canonical(value)).slice(0, DIGEST_LENGTH);

const digest = (card: JsonObject, names: readonly string[]): string =>
  shortDigest([...names].sort().map((name) => [name, card[name] ?? null]));
