// What a token may do. Scopes are texts in the configuration; a call at the door needs one of a few.

export interface Token {
  readonly token: string;
  readonly scopes: readonly string[];
  readonly forPlugin: string | undefined;
}

const PLUGIN_SCOPE = /^plugin:([a-z0-9][a-z0-9_-]{0,63}:)?(ro|rw)$|^plugin:[a-z0-9][a-z0-9_-]{0,63}:\*$/;
const OTHER_SCOPE = /^(\*|admin:\*|pipeline:\S{1,200}|jobs:(ro|rw)|events:ro)$/;

export const isScope = (text: string): boolean => PLUGIN_SCOPE.test(text) || OTHER_SCOPE.test(text);

/** Any of these lets a call through. */
export type Need = readonly string[];

export const needs = {
  pipeline: (name: string): Need => [`pipeline:${name}`, "plugin:rw"],
  /** Who may write may read. */
  command: (plugin: string, { reads }: { reads: boolean }): Need => [
    ...["plugin:rw", `plugin:${plugin}:rw`, `plugin:${plugin}:*`],
    ...(reads ? ["plugin:ro", `plugin:${plugin}:ro`] : []),
  ],
  jobs: ["jobs:ro", "jobs:rw"] as Need,
  events: ["events:ro"] as Need,
};

/** `admin:*` is every right there is, as `*`. */
export const mayUse = (scopes: readonly string[], need: Need): boolean =>
  scopes.some((scope) => scope === "*" || scope === "admin:*" || need.includes(scope));

/** The scopes an agent's own token must not have: with them it could start itself. */
export function forbiddenToAgent(
  { scopes, forPlugin }: Token,
  startsAgent: (pipeline: string) => boolean,
): readonly string[] {
  if (forPlugin === undefined) return [];
  return scopes.filter(
    (scope) =>
      ["*", "admin:*", "plugin:rw"].includes(scope) ||
      scope.startsWith(`plugin:${forPlugin}:`) ||
      (scope.startsWith("pipeline:") && startsAgent(scope.slice("pipeline:".length))),
  );
}
