// What a token is told that may not do what it asks for.

import { Problem } from "./problem.ts";
import { mayUse, type Principal, type Scope } from "./scope.ts";

/** Undefined where the principal has one of the scopes. */
export function lackOf(principal: Principal, ...scopes: readonly [Scope, ...Scope[]]): Problem | undefined {
  if (scopes.some((scope) => mayUse(principal, scope))) return undefined;
  const [scope] = scopes;
  // Who may not look either lacks that, here as anywhere.
  if (principal.onlyLooks === true && scope !== "runs:read")
    return new Problem("scope-missing", "this server only shows runs (it was started with --read-only)", {
      extras: { scope },
    });
  const named = scopes.map((one) => `\`${one}\``).join(" or ");
  return new Problem("scope-missing", `the token lacks the scope ${named}`, {
    extras: { scope },
    headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

/** One of them is enough. */
export function demandScope(principal: Principal, ...scopes: readonly [Scope, ...Scope[]]): void {
  const lack = lackOf(principal, ...scopes);
  if (lack !== undefined) throw lack;
}
