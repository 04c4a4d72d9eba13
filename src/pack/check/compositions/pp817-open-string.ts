// PP817: a value of an open string that nobody here knows.

import type { Path } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { type CheckContext, onValue, type Rule } from "../rule.ts";
import { evalLevels } from "./eval-list.ts";
import { isReserved } from "./pp806-portability.ts";
import { compositionsOf } from "./step-list.ts";

export const openString: Rule = {
  code: "PP817",
  severity: "info",
  title: "unknown value of an open string",
  explain:
    "Some strings are open on purpose, so that runtimes can add values: how a state keeps its " +
    "conversation, when an eval runs, how a threshold compares, the role of a provider, the type of a " +
    "variable, how branches are merged. A value packloop does not know is passed over or refused when a " +
    "run needs it; often it is a spelling mistake.",
  bad: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Go on. }
workflow:
  version: 1
  entry: work
  states: { work: { prompt_task: work, terminal: true, persistence: durable } }
`,
  good: `
prompts:
  work: { id: work, name: Work, version: 1.0.0, system_template: Go on. }
workflow:
  version: 1
  entry: work
  states: { work: { prompt_task: work, terminal: true, persistence: persistent } }
`,
  check: (context, report) => {
    for (const { what, value, path } of openStrings(context)) {
      const { known, meaning, hints } = vocabulary[what];
      if (known.includes(value) || context.isBroken(...path)) continue;
      const meant = suggest(value, known) ?? hints?.get(value.toLowerCase());
      const choices = known.map((one) => `\`${one}\``).join(", ");
      report({
        at: onValue(...path),
        message: `${what} \`${value}\` is not one we know`,
        why: meaning,
        help: meant === undefined ? `known are ${choices}` : `use \`${meant}\``,
        ...(meant !== undefined && { label: `did you mean \`${meant}\`?` }),
        data: { what, value, known, suggestion: meant ?? null },
      });
    }
  },
};

interface Vocabulary {
  readonly known: readonly string[];
  /** What happens with another value. */
  readonly meaning: string;
  /** Usual other words for the same. */
  readonly hints?: ReadonlyMap<string, string>;
}

type OpenString = "persistence" | "trigger" | "operator" | "role" | "variable type" | "reducer";

const vocabulary: Readonly<Record<OpenString, Vocabulary>> = {
  persistence: {
    known: ["transient", "persistent"],
    meaning: "treated as transient",
    hints: new Map([
      ["durable", "persistent"],
      ["keep", "persistent"],
      ["ephemeral", "transient"],
    ]),
  },
  trigger: {
    known: [
      "every_turn",
      "on_session_complete",
      "on_conversation_complete",
      "on_workflow_step",
      "sample_turns",
      "sample_sessions",
    ],
    meaning: "the eval never runs",
  },
  operator: {
    known: ["gte", "lte", "gt", "lt", "eq"],
    meaning: "the threshold decides nothing",
    hints: new Map([
      [">=", "gte"],
      ["<=", "lte"],
      [">", "gt"],
      ["<", "lt"],
      ["=", "eq"],
      ["==", "eq"],
    ]),
  },
  role: {
    known: ["llm", "embedding", "tts", "stt", "image", "inference"],
    meaning: "no provider can be matched by it",
  },
  "variable type": {
    known: ["string", "number", "boolean", "object", "array"],
    meaning: "values are not checked against it",
    hints: new Map([
      ["integer", "number"],
      ["int", "number"],
      ["float", "number"],
      ["bool", "boolean"],
      ["str", "string"],
      ["text", "string"],
      ["list", "array"],
      ["dict", "object"],
      ["map", "object"],
    ]),
  },
  reducer: { known: ["append", "replace", "barrier"], meaning: "a run that needs it is refused" },
};

interface Found {
  readonly what: OpenString;
  readonly value: string;
  readonly path: Path;
}

function openStrings(context: CheckContext): readonly Found[] {
  const { pack } = context;
  const found: Found[] = [];
  const add = (what: OpenString, value: string | undefined, path: Path): void => {
    if (value !== undefined) found.push({ what, value, path });
  };
  for (const [name, state] of Object.entries(pack.workflow?.states ?? {})) {
    add("persistence", state.persistence, ["workflow", "states", name, "persistence"]);
  }
  for (const { eval: one, path } of evalLevels(context).flat()) {
    add("trigger", one.trigger, [...path, "trigger"]);
    add("operator", one.threshold?.operator, [...path, "threshold", "operator"]);
  }
  for (const [index, provider] of (pack.requires?.providers ?? []).entries()) {
    if (typeof provider !== "string") add("role", provider.role, ["requires", "providers", index, "role"]);
  }
  for (const [key, prompt] of Object.entries(pack.prompts)) {
    for (const [index, variable] of (prompt.variables ?? []).entries()) {
      add("variable type", variable.type, ["prompts", key, "variables", index, "type"]);
    }
  }
  for (const { step, path } of compositionsOf(context).flatMap(({ steps }) => steps)) {
    if (step.kind !== "parallel" || isReserved(step.reduce.strategy)) continue;
    add("reducer", step.reduce.strategy, [...path, "reduce", "strategy"]);
  }
  return found;
}
