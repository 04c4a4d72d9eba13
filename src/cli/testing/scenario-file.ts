// Scenario files of the reference runtime: what a user says turn by turn, and what is then judged. What
// cannot be done here is said with the result, never passed over.

import { OptionReader } from "../../adapter/tool/option-reader.ts";
import { isObject, type Json, type JsonObject, type Path } from "../../base/json.ts";
import type { Difference } from "./difference.ts";
import type { Document } from "./document.ts";
import type { Check, UserTurn } from "./pack-test.ts";
import { readChecks } from "./read-checks.ts";

export interface Scenario {
  readonly name: string;
  /** The prompt of a pack without a workflow. */
  readonly prompt?: string;
  readonly variables: JsonObject;
  readonly turns: readonly UserTurn[];
  readonly checks: readonly Check[];
  /** What it asks for and nobody does: the test cannot pass. */
  readonly unsupported: readonly Difference[];
  /** What makes no difference here. */
  readonly remarks: readonly string[];
}

export const isScenario = ({ value }: Document): boolean => value["kind"] === "Scenario";

/** What the pack, the command line or the other runtime decides. */
const IGNORED = [
  "tool_policy",
  "context_metadata",
  "context",
  "constraints",
  "context_policy",
  "providers",
  "provider_group",
  "required_capabilities",
  "streaming",
];
const UNSUPPORTED = ["trials", "seed_memories", "duplex", "voice"];
const UNSUPPORTED_IN_TURN = [
  "persona",
  "turns",
  "max_turns",
  "seed",
  "perturbations",
  "chaos",
  "consent_overrides",
];

export function readScenario(document: Document, problems: OptionReader["problems"]): Scenario | undefined {
  const reader = new OptionReader(document.value, [], problems);
  for (const key of ["apiVersion", "kind"]) reader.any(key);
  const metadata = reader.object("metadata");
  const spec = reader.object("spec");
  reader.end();
  if (spec === undefined) {
    reader.wrongWhole("a Scenario has a `spec` with `turns`");
    return undefined;
  }
  return new SpecReader(document, spec, problems).read(metadata?.["name"]);
}

class SpecReader {
  readonly #document: Document;
  readonly #spec: OptionReader;
  readonly #unsupported: Difference[] = [];

  constructor(document: Document, spec: JsonObject, problems: OptionReader["problems"]) {
    this.#document = document;
    this.#spec = new OptionReader(spec, ["spec"], problems);
  }

  read(given: Json | undefined): Scenario {
    const spec = this.#spec;
    const id = spec.text("id");
    spec.text("description");
    const task = spec.text("task_type");
    const variables = spec.object("variables") ?? {};
    const turns = this.#turns(spec.any("turns"));
    const checks = this.#checks(spec.any("conversation_assertions"), ["spec", "conversation_assertions"]);
    const remarks = IGNORED.filter((key) => spec.any(key) !== undefined).map(
      (key) => `\`spec.${key}\` makes no difference here`,
    );
    this.#refuse(spec, UNSUPPORTED, ["spec"]);
    spec.end();
    return {
      name: typeof given === "string" ? given : (id ?? ""),
      variables,
      turns,
      checks,
      unsupported: this.#unsupported,
      remarks,
      ...(task !== undefined && task !== "" && { prompt: task }),
    };
  }

  #turns(value: Json | undefined): readonly UserTurn[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#spec.wrong("turns", "`turns` is a list of { role: user, content }");
      return [];
    }
    return (value as readonly Json[]).map((turn, index) => this.#turn(turn, ["spec", "turns", index]));
  }

  #turn(value: Json, path: Path): UserTurn {
    const { problems } = this.#spec;
    if (!isObject(value)) {
      problems.push({ path, message: "a turn is a mapping with `role` and `content`" });
      return { text: "", checks: [] };
    }
    const reader = new OptionReader(value, path, problems);
    const role = reader.text("role");
    const text = reader.text("content") ?? partsText(reader.any("parts"));
    const checks = this.#checks(reader.any("assertions"), [...path, "assertions"]);
    this.#refuse(reader, UNSUPPORTED_IN_TURN, path);
    reader.end();
    const isPlayed = role === undefined || role === "user";
    if (!isPlayed || text === undefined)
      this.#cannot([...path, isPlayed ? "parts" : "role"], isPlayed ? "media of a turn" : `role \`${role}\``);
    return { text: text ?? "", checks };
  }

  #checks(value: Json | undefined, path: Path): readonly Check[] {
    const { place } = this.#document;
    return readChecks(value, { path, place, problems: this.#spec.problems, unjudged: "keep" });
  }

  #refuse(reader: OptionReader, keys: readonly string[], path: Path): void {
    for (const key of keys) if (reader.any(key) !== undefined) this.#cannot([...path, key], `\`${key}\``);
  }

  #cannot(path: Path, what: string): void {
    this.#unsupported.push({
      ...{ place: this.#document.place(path), kind: "unsupported", what },
      ...{ expected: "to be played", actual: "packloop test does not play it" },
    });
  }
}

/** Undefined when a part is no text. */
function partsText(parts: Json | undefined): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  const texts = (parts as readonly Json[]).map((part) => (isObject(part) ? part["text"] : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined;
}
