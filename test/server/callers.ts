// Callers with tokens of every scope, for tests of who may do what.

import type { Route } from "../../src/server/route.ts";
import { type Principal, SCOPES, type Scope } from "../../src/server/scope.ts";

/** The token of a scope is its name. */
export const principalOf = (token: string): Principal | undefined => {
  const scope = SCOPES.find((one) => tokenOf(one) === token);
  return scope && { name: `with ${scope}`, scopes: [scope] };
};

export const tokenOf = (scope: Scope): string => `token-of-${scope.replace(":", "-")}`;

export const bearer = (scope: Scope): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${tokenOf(scope)}`,
});

/** A path of the route that leads to nothing, so that no scope can do harm with it. */
export const nowhere = ({ path }: Pick<Route, "path">): string =>
  path.replaceAll(/\{(\w+)\*?\}/g, (_, name: string) => (name === "step" ? "1" : "none"));
