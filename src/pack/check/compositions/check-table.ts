// The checks that validators and evals may name, under every spelling in use, with the parameters they cannot
// do without. Types whose parameters vary between runtimes are listed by name alone.

import { checkTypeAliases, checkTypeOf } from "../../../core/check-names.ts";

/** What a parameter must be to be usable. */
export type ParamKind = "count" | "text" | "texts" | "schema";

export interface Need {
  /** Names of the same parameter; one of them is needed. */
  readonly names: readonly string[];
  readonly kind: ParamKind;
}

/** The needs of a known type, none for types that are known by name alone; undefined for an unknown type. */
export function needsOf(type: string): readonly Need[] | undefined {
  return needs.get(checkTypeOf(type)) ?? (named.has(checkTypeOf(type)) ? [] : undefined);
}

export function checkTypeNames(): readonly string[] {
  return [...needs.keys(), ...checkTypeAliases(), ...named];
}

const need = (kind: ParamKind, ...names: readonly string[]): Need => ({ kind, names });

const tools = need("texts", "tool_names", "tools");
const limit = need("count", "max", "max_characters", "max_chars", "max_tokens");
const floor = need("count", "min", "min_characters", "min_chars", "min_tokens");

const needs: ReadonlyMap<string, readonly Need[]> = new Map([
  ["contains", [need("texts", "patterns")]],
  ["contains_any", [need("texts", "patterns")]],
  ["content_excludes", [need("texts", "patterns", "words")]],
  ["regex", [need("text", "pattern")]],
  ["max_length", [limit]],
  ["min_length", [floor]],
  ["sentence_count", [need("count", "max", "max_sentences")]],
  ["field_presence", [need("texts", "fields", "required_fields")]],
  ["json_schema", [need("schema", "schema")]],
  ["json_path", [need("text", "expression")]],
  ["tools_called", [tools]],
  ["tools_not_called", [tools]],
  ["tool_args", [need("text", "tool_name")]],
  ["tool_call_sequence", [need("texts", "sequence")]],
  ["latency_budget", [need("count", "max_ms")]],
  [
    "cost_budget",
    [need("count", "max_cost_usd", "max_input_tokens", "max_output_tokens", "max_total_tokens")],
  ],
  ["llm_judge", [need("text", "criteria", "judge_prompt")]],
  ["state_is", [need("text", "state")]],
  ["transitioned_to", [need("text", "state")]],
  ["spoke_in_state", [need("text", "state")]],
  ["workflow_transition_order", [need("texts", "sequence")]],
  ["composition_branch_taken", [need("text", "branch")]],
  ["composition_step_output", [need("text", "step")]],
  ["guardrail_triggered", [need("text", "validator_type")]],
]);

const named: ReadonlySet<string> = new Set(
  `json_valid cosine_similarity invariant_fields_preserved tools_called_session
  tools_not_called_session tool_args_session tool_args_excluded_session tool_calls_with_args
  tool_call_count tool_call_chain tool_no_repeat tool_anti_pattern tool_efficiency no_tool_errors
  tool_result_includes tool_result_matches tool_result_has_media tool_result_media_type tool_exec
  workflow_complete workflow_tool_access composition_parallel_complete composition_output
  agent_invoked agent_not_invoked agent_response_contains skill_activated skill_not_activated
  skill_activation_order llm_judge_session llm_judge_tool_calls faithfulness answer_relevancy
  contextual_precision contextual_recall contextual_relevancy hallucination bias toxicity pii_leakage
  role_violation outcome_equivalent directional text_toxicity text_sentiment audio_emotion
  image_moderation image_format image_dimensions audio_format audio_duration video_duration
  video_resolution rest_eval rest_eval_session a2a_eval a2a_eval_session assertion guardrail`.split(/\s+/),
);
