// PP704: a tool that runs programs or fetches addresses is bound without saying which ones.

import { get, isObject, type Json } from "../../../base/json.ts";
import { type CheckContext, onKey, type Place, type Rule } from "../rule.ts";
import { bindingOf } from "./tool-classes.ts";
import { workSites } from "./work-sites.ts";

export const openBinding: Rule = {
  code: "PP704",
  severity: "warning",
  stricter: true,
  title: "program or web access without an allowlist",
  explain:
    "The binding in `packloop.yaml` lets the tool run programs or open addresses and does not list " +
    "which. The model chooses the arguments, and so does whoever wrote the text it has just read. List " +
    "the allowed programs or hosts under `allow`.",
  bad: `
prompts:
  test: { id: test, name: Test, version: 1.0.0, system_template: Run the tests., tools: [run_any] }
tools:
  run_any: { name: run_any, description: Runs a program, action_scope: { effect: read } }
`,
  good: `
prompts:
  test: { id: test, name: Test, version: 1.0.0, system_template: Run the tests., tools: [run_tests] }
tools:
  run_tests: { name: run_tests, description: Runs the tests, action_scope: { effect: read } }
`,
  badConfig: `
tools:
  run_any: { builtin: proc }
  run_tests: { builtin: proc, allow: [npm test] }
`,
  check: (context, report) => {
    for (const [tool, at] of usedTools(context)) {
      const access = openAccess(bindingOf(context, tool));
      if (access === undefined) continue;
      report({
        at,
        message: `\`${tool}\` accepts any ${access.what}`,
        why: "the model chooses the arguments",
        help: "list the allowed ones under `allow` in its binding",
        data: { tool, binding: access.kind, accepts: access.what },
      });
    }
  },
};

/** Tools of the pack with the place that speaks of them: their definition, or the first list they are in. */
function usedTools(context: CheckContext): ReadonlyMap<string, Place> {
  const { states, alone } = workSites(context);
  const places = new Map<string, Place>();
  for (const name of Object.keys(context.pack.tools ?? {})) places.set(name, onKey("tools", name));
  for (const { tools } of [...states, ...alone]) {
    for (const { name, at } of tools) if (!places.has(name)) places.set(name, at);
  }
  return places;
}

interface Access {
  readonly kind: string;
  readonly what: "command" | "address";
}

function openAccess(binding: Json | undefined): Access | undefined {
  if (!isObject(binding)) return undefined;
  const builtin = get(binding, "builtin");
  const kind =
    typeof builtin === "string" ? builtin : ["exec", "http"].find((one) => Object.hasOwn(binding, one));
  if (kind === undefined || !["proc", "exec", "http"].includes(kind)) return undefined;
  const options = typeof builtin === "string" ? undefined : get(binding, kind);
  // A built-in `proc` with an `argv` runs that program alone, unless a list beside it allows others.
  const only = typeof builtin === "string" ? get(binding, "argv") : options;
  if (isFixed(only) && !Object.hasOwn(binding, "allow")) return undefined;
  if (isLimited(binding) || isLimited(options)) return undefined;
  return { kind, what: kind === "http" ? "address" : "command" };
}

/** A program or endpoint written in the binding is the only one; a shell or a hole makes any of it. */
function isFixed(options: Json | undefined): boolean {
  if (typeof options === "string") return options !== "" && !options.startsWith("{");
  if (Array.isArray(options)) return isFixed(options[0] as Json | undefined);
  if (!isObject(options) || get(options, "shell") === true) return false;
  return ["command", "argv", "url"].some((key) => isFixed(get(options, key)));
}

const LIMITS = [
  "allow",
  "allow_hosts",
  "allowed",
  "allowlist",
  "commands",
  "allowed_commands",
  "hosts",
  "allowed_hosts",
  "domains",
];

function isLimited(options: Json | undefined): boolean {
  return LIMITS.some((key) => {
    const list = get(options, key);
    return Array.isArray(list) && list.length > 0 && !list.includes("*");
  });
}
