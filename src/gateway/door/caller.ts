// Who stands at the door: pages of other sites are turned away, and everybody else shows a token where there
// are tokens.

import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { mayUse, type Need, type Token } from "../config/scopes.ts";
import { DoorError } from "./door-error.ts";

export interface Caller {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  readonly site: string | undefined;
  readonly authorization: string | undefined;
}

export function admit(caller: Caller, tokens: readonly Token[], need: Need): void {
  checkPage(caller, tokens);
  if (tokens.length === 0) return;
  const given = /^Bearer (\S+)$/i.exec(caller.authorization ?? "")?.[1];
  const token = given === undefined ? undefined : tokenOf(given, tokens);
  if (token === undefined)
    throw new DoorError(
      "unauthenticated",
      "this gateway asks for a token (send Authorization: Bearer TOKEN)",
    );
  if (!mayUse(token.scopes, need))
    throw new DoorError("scope-missing", `the token lacks ${need.map((one) => `\`${one}\``).join(" or ")}`);
}

/** Every token is compared, and each in constant time: what they are is not to be measured. */
function tokenOf(given: string, tokens: readonly Token[]): Token | undefined {
  let found: Token | undefined;
  const hash = hashOf(given);
  for (const token of tokens) if (timingSafeEqual(hash, hashOf(token.token))) found ??= token;
  return found;
}

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Without tokens a page could otherwise use the visitor's browser to reach a door that is open to them. */
function checkPage({ host, origin, site }: Caller, tokens: readonly Token[]): void {
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  const isSame = site === undefined || site === "same-origin" || site === "none";
  const name = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec((host ?? "").toLowerCase());
  const address = name?.[1] ?? name?.[2] ?? "";
  const isHere = tokens.length > 0 || isIP(address) !== 0 || address === "localhost";
  if (isOwn && isSame && isHere) return;
  throw new DoorError("origin-refused", "requests of other sites' pages are refused");
}
