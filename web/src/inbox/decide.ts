// How a card sends what somebody decided.

import type { CallRisk } from "../../../src/host/call-risk.ts";

/** The word is what the card says of it afterwards. */
export type Decide = (path: string, body: Readonly<Record<string, unknown>>, word: string) => Promise<void>;

/** What cannot be taken back, or leaves the house, is asked about twice. */
export const isGrave = ({ tier, reversibility }: CallRisk): boolean =>
  tier === "destructive" || tier === "egress" || reversibility === "irreversible";
