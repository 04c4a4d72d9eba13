// How packloop.yaml describes a remote agent: `agent: URL` with its options beside it, or `agent: {url, …}`. The
// address is written by whoever configures the agent, so its own host may be private; what the agent's card
// leads to elsewhere is judged, and has to be named to be trusted.

import { resolve } from "node:path";
import { readHeaders, readNetRules } from "../net/net-options.ts";
import { isNamed, type NetRules, placeOf } from "../net/net-rules.ts";
import type { Surroundings } from "../tool/bound-tool.ts";
import { OptionReader } from "../tool/option-reader.ts";
import { ToolProblem } from "../tool/tool-problem.ts";

export interface AgentDefinition {
  /** Where the agent or its card is. */
  readonly url: URL;
  /** For requests: the configured place, and what was named besides. */
  readonly rules: NetRules;
  /** Whether requests with our headers may go there. */
  readonly trusts: (url: URL) => boolean;
  readonly headers: () => Readonly<Record<string, string>>;
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
  /** A file with the public key the card has to be signed with, if it has to be. */
  readonly cardKey: string | undefined;
  /** The card has to be this one, signatures aside. */
  readonly cardSha256: string | undefined;
  /** What people read. Without the query of the address, which may hold a token. */
  readonly label: string;
}

/** Undefined when it is wrong, with the problems in the reader. */
export function readAgent(binding: OptionReader, around: Surroundings): AgentDefinition | undefined {
  const before = binding.problems.length;
  const given = binding.any("agent");
  const reader = typeof given === "string" ? binding : (binding.section("agent") ?? new OptionReader({}, []));
  const url = readAddress(reader, typeof given === "string" ? "agent" : "url");
  const named = readNetRules(reader);
  const headers = readHeaders(reader, around);
  const cardKey = reader.text("card_key");
  const cardSha256 = reader.text("card_sha256")?.toLowerCase();
  if (cardSha256 !== undefined && !/^[0-9a-f]{64}$/.test(cardSha256))
    reader.wrong("card_sha256", "expected a SHA-256 of 64 hexadecimal digits");
  if (reader !== binding) reader.end();
  if (url === undefined || binding.problems.length > before) return undefined;
  return {
    url,
    rules: { allowPrivate: [placeOf(url), ...(named.allowPrivate ?? [])] },
    trusts: (other) => other.origin === url.origin || isNamed(other, named),
    headers: headers.values,
    hide: headers.hide,
    cardKey: cardKey === undefined ? undefined : resolve(around.folder, cardKey),
    cardSha256,
    label: clipped(`${url.origin}${url.pathname}`),
  };
}

function readAddress(reader: OptionReader, key: string): URL | undefined {
  const text = reader.neededText(key);
  if (text === "") return undefined;
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    reader.wrong(key, `\`${text}\` is not an http or https address`);
  else if (url.username !== "" || url.password !== "")
    reader.wrong(key, "a secret does not belong into the address (name its variable in `bearer_env`)");
  else return url;
  return undefined;
}

const clipped = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** For a binding that was not configured well, and is called all the same. */
export const notConfigured = (name: string): ToolProblem =>
  new ToolProblem("not_configured", `\`${name}\` has no valid \`agent\``);
