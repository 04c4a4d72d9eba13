// The names of checks that validators, evals and tests use, under every spelling, apart from the checks
// themselves: the checker needs only these.

/** Other spellings, those of earlier schemas included. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["content_includes", "contains"],
  ["content_includes_any", "contains_any"],
  ["content_matches", "regex"],
  ["regex_match", "regex"],
  ["content_not_includes", "content_excludes"],
  ["banned_words", "content_excludes"],
  ["is_valid_json", "json_valid"],
  ["valid_json", "json_valid"],
  ["length", "max_length"],
  ["max_sentences", "sentence_count"],
  ["required_fields", "field_presence"],
  ["tool_called", "tools_called"],
  ["tools_not_called_with_args", "tool_args_excluded_session"],
  ["llm_judge_conversation", "llm_judge_session"],
  ["pii_detection", "pii_leakage"],
  ["sentiment", "text_sentiment"],
]);

export const checkTypeAliases = (): readonly string[] => [...ALIASES.keys()];

/** The one name of a type. */
export const checkTypeOf = (type: string): string => ALIASES.get(type) ?? type;

/** Checks that look at a text alone. */
const TEXT_CHECKS = [
  "contains",
  "contains_any",
  "content_excludes",
  "regex",
  "max_length",
  "min_length",
  "sentence_count",
  "field_presence",
  "json_valid",
  "json_schema",
  "pii_leakage",
] as const;

export type TextCheckType = (typeof TEXT_CHECKS)[number];

/** Whether a text can be judged by this type at all. */
export const judgesText = (type: string): boolean =>
  (TEXT_CHECKS as readonly string[]).includes(checkTypeOf(type));
