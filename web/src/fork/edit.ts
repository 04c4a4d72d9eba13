// One edit of a fork: as it is written, as it is sent, and as a flag of the command line.

import { valueIn } from "../inbox/json-field.ts";

export interface Edit {
  readonly kind: "artifact" | "variable" | "event" | "answer" | "model" | "pack" | "script";
  /** Which artifact, variable or step. */
  readonly name: string;
  readonly value: string;
}

export const isNamed = ({ kind }: Edit): boolean =>
  kind === "artifact" || kind === "variable" || kind === "answer";

/** Nothing is asked of the server while an edit is half written. */
export const isWhole = (edit: Edit): boolean => (isNamed(edit) ? edit.name !== "" : edit.value.trim() !== "");

export function sentEdit({ kind, name, value }: Edit): Readonly<Record<string, unknown>> {
  switch (kind) {
    // A text as it is: whether it is JSON is the artifact's type to say.
    case "artifact":
      return { artifact: name, value };
    case "variable":
      return { variable: name, value: valueIn(value) };
    case "event":
      return { event: value };
    case "answer":
      return { step: Number(name), value: valueIn(value) };
    case "model":
      return { model: value };
    case "pack":
      return isDigest(value) ? { digest: value.trim() } : { pack: value };
    case "script":
      return { script: valueIn(value) };
  }
}

const isDigest = (value: string): boolean => /^sha256[:-][0-9a-f]{64}$/.test(value.trim());

/** An edit that was changed or removed since stays so: `after` was made from what it was. */
export const exchanged = (edits: readonly Edit[], before: Edit, after: Edit): readonly Edit[] =>
  edits.map((one) => (one === before ? after : one));

export interface ForkTerms {
  readonly run: string;
  readonly turn: number;
  readonly edits: readonly Edit[];
  readonly isReset: boolean;
}

/** What is long stands in files, which whoever runs the command has to write. */
export function commandFor({ run, turn, edits, isReset }: ForkTerms): string {
  const flags = edits.map(({ kind, name, value }) => {
    switch (kind) {
      case "artifact":
        return `--set ${quoted(`artifact.${name}=${value}`)}`;
      case "variable":
        return `--var ${quoted(`${name}=${value}`)}`;
      case "event":
        return `--event ${quoted(value)}`;
      case "answer":
        return `--answer ${quoted(`${name}=${value}`)}`;
      case "model":
        return `--model ${quoted(value)}`;
      case "pack":
        return "--pack pack.yaml";
      case "script":
        return "--script script.yaml";
    }
  });
  return ["packloop fork", `${run}@${turn}`, ...flags, ...(isReset ? ["--reset-budget"] : [])].join(" ");
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
