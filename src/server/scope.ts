// What a token may do, and who asks.

export const SCOPES = [
  "runs:read",
  "runs:write",
  "events:send",
  "approvals:decide",
  "packs:write",
  "admin",
] as const;

export type Scope = (typeof SCOPES)[number];

export interface Principal {
  /** The name of the token; null for somebody on this machine without one. */
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  /** Here nobody may do more than look. */
  readonly onlyLooks?: true;
}

/** Whoever reaches a server that asks for no token is on its machine, and could open the store as well. */
export const somebodyHere: Principal = { name: null, scopes: ["admin"] };

/** Whoever it is, where runs are only shown. */
export const looking = (principal: Principal): Principal => ({
  ...principal,
  scopes: mayUse(principal, "runs:read") ? ["runs:read"] : [],
  onlyLooks: true,
});

export const mayUse = ({ scopes }: Principal, scope: Scope): boolean =>
  scopes.includes(scope) || scopes.includes("admin");

/** Who is named in the journal. A token may speak for others, but not hide behind them. */
export function speaker({ name }: Principal, given: string | undefined): string {
  if (name === null) return given ?? "api";
  return given === undefined || given === name ? name : `${given} (${name})`;
}
