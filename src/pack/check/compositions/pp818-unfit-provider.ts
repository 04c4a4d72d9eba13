// PP818: a prompt or step is served by a provider that may be missing or cannot write.

import type { Path } from "../../../base/json.ts";
import type { ProviderRequest } from "../../shape/generated/pack-file.ts";
import { type CheckContext, onValue, type Place, type Report, type Rule } from "../rule.ts";
import { compositionsOf } from "./step-list.ts";

export const unfitProvider: Rule = {
  code: "PP818",
  severity: "warning",
  title: "provider does not fit its use",
  explain:
    "A prompt needs a provider of role `llm`; only a prompt step with an `output_schema` can also be " +
    "served by one of role `inference`. A requirement that is referenced should be required, because " +
    "nothing takes the place of one the host leaves unbound: the run is refused. Use another provider, " +
    "or mark the requirement as required.",
  bad: `
prompts:
  code: { id: code, name: Code, version: 1.0.0, system_template: Write code., provider: embed }
requires:
  providers: [{ key: embed, role: embedding }]
`,
  good: `
prompts:
  code: { id: code, name: Code, version: 1.0.0, system_template: Write code., provider: fast }
requires:
  providers: [{ key: fast, role: llm }]
`,
  check: (context, report) => {
    const requests = new Map<string, { request: ProviderRequest; path: Path }>();
    for (const [index, provider] of (context.pack.requires?.providers ?? []).entries()) {
      if (typeof provider === "string" || requests.has(provider.key)) continue;
      requests.set(provider.key, { request: provider, path: ["requires", "providers", index] });
    }
    if (requests.size === 0) return;
    const said = new Set<string>();
    for (const site of callSites(context)) {
      const found = requests.get(site.key);
      if (found === undefined) continue;
      // Many sites use `default` without naming it: then the requirement is what is wrong, once.
      const at = site.at ?? onValue(...found.path, "role");
      if (site.at === undefined && said.has(site.key)) continue;
      if (judge(report, { site, at, request: found.request }) && site.at === undefined) said.add(site.key);
    }
  },
};

interface CallSite {
  /** prompt `coder`, or step `sum`. */
  readonly label: string;
  readonly key: string;
  /** Where the provider is named; undefined when it is `default` by silence. */
  readonly at: Place | undefined;
  /** The answer must follow a schema, which needs no free text. */
  readonly structured: boolean;
}

const TEXTLESS = new Set(["embedding", "tts", "stt", "image", "inference"]);

function judge(
  report: Report,
  { site, at, request }: { site: CallSite; at: Place; request: ProviderRequest },
): boolean {
  const { key, role } = request;
  const data = { provider: key, role, site: site.label };
  if (TEXTLESS.has(role) && !(role === "inference" && site.structured)) {
    report({
      at,
      message: `\`${key}\` cannot serve ${site.label}`,
      why: `its role is ${role}`,
      help: "use an llm",
      data,
    });
    return true;
  }
  if (request.required !== false) return false;
  report({
    at,
    message: `${site.label} needs \`${key}\`, which is declared optional`,
    why: "a run is refused where the host binds nothing to it; there is no fallback",
    help: "declare it `required: true`, or use another provider",
    data,
  });
  return true;
}

function callSites(context: CheckContext): readonly CallSite[] {
  const { pack } = context;
  const onlyInSteps = promptsOfSteps(context);
  const sites: CallSite[] = [];
  for (const [name, { provider }] of Object.entries(pack.prompts)) {
    if (onlyInSteps.has(name)) continue;
    const at = provider === undefined ? undefined : onValue("prompts", name, "provider");
    sites.push({ label: `prompt \`${name}\``, key: provider ?? "default", at, structured: false });
  }
  for (const { step, path } of compositionsOf(context).flatMap(({ steps }) => steps)) {
    if (step.kind !== "prompt" && step.kind !== "agent") continue;
    const own = Object.hasOwn(pack.prompts, step.prompt_task)
      ? pack.prompts[step.prompt_task]?.provider
      : undefined;
    const at =
      step.provider !== undefined
        ? onValue(...path, "provider")
        : own === undefined
          ? undefined
          : onValue("prompts", step.prompt_task, "provider");
    sites.push({
      label: `step \`${step.id}\``,
      key: step.provider ?? own ?? "default",
      at,
      structured: step.kind === "prompt" && step.output_schema !== undefined,
    });
  }
  return sites;
}

/** Prompts that run only as steps of compositions: each step then says what is needed. */
function promptsOfSteps(context: CheckContext): ReadonlySet<string> {
  const { pack } = context;
  const prompts = new Set<string>();
  for (const { step } of compositionsOf(context).flatMap(({ steps }) => steps)) {
    if (step.kind === "prompt" || step.kind === "agent") prompts.add(step.prompt_task);
  }
  for (const state of Object.values(pack.workflow?.states ?? {})) {
    if (state.orchestration !== "composition") prompts.delete(state.prompt_task ?? "");
  }
  for (const member of Object.keys(pack.agents?.members ?? {})) prompts.delete(member);
  return prompts;
}
