// Every name that leaves with a span or a metric. The conventions for generative AI are in development, so
// they are spelled here and nowhere else.

export const SCOPE = "packloop";

export const OPERATIONS = {
  workflow: "invoke_workflow",
  agent: "invoke_agent",
  chat: "chat",
  tool: "execute_tool",
} as const;

/** Of the OpenTelemetry conventions. */
export const ATTR = {
  operation: "gen_ai.operation.name",
  conversation: "gen_ai.conversation.id",
  workflowName: "gen_ai.workflow.name",
  agentId: "gen_ai.agent.id",
  agentName: "gen_ai.agent.name",
  agentVersion: "gen_ai.agent.version",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  responseId: "gen_ai.response.id",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  tokenType: "gen_ai.token.type",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  errorType: "error.type",
} as const;

/** Only on request: what people, models and tools said. */
export const CONTENT = {
  system: "gen_ai.system_instructions",
  input: "gen_ai.input.messages",
  output: "gen_ai.output.messages",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
} as const;

/** Parameters of a request, by their names in packs. */
export const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ["temperature", "gen_ai.request.temperature"],
  ["max_tokens", "gen_ai.request.max_tokens"],
  ["top_p", "gen_ai.request.top_p"],
  ["top_k", "gen_ai.request.top_k"],
  ["frequency_penalty", "gen_ai.request.frequency_penalty"],
  ["presence_penalty", "gen_ai.request.presence_penalty"],
  ["seed", "gen_ai.request.seed"],
]);

/** What packs and this engine have and the conventions do not. */
export const OWN = {
  packId: "promptpack.pack.id",
  packVersion: "promptpack.pack.version",
  packDigest: "promptpack.pack.digest",
  segment: "promptpack.segment",
  status: "promptpack.status",
  state: "promptpack.state",
  visit: "promptpack.visit",
  cause: "promptpack.cause",
  redirectedFrom: "promptpack.redirected_from",
  step: "packloop.step",
  compositionStep: "promptpack.composition.step",
  attempt: "packloop.attempt",
  givenUp: "packloop.given_up",
  deferred: "packloop.deferred",
  tier: "packloop.tool.tier",
  approval: "packloop.tool.approval",
  parentRun: "packloop.parent.run",
  parentStep: "packloop.parent.step",
  forkedFromRun: "packloop.forked_from.run",
  forkedFromTurn: "packloop.forked_from.turn",
  link: "packloop.link",
  limit: "limit",
  kind: "kind",
} as const;

/** What a link leads to. */
export const LINKS = {
  previous: "previous_segment",
  fork: "fork_origin",
  agent: "agent",
} as const;

export const EVENTS = {
  waiting: "packloop.waiting",
  stopped: "packloop.stopped",
} as const;

/** The conventions' names of providers, by how the adapters begin theirs. */
const PROVIDERS: readonly (readonly [string, string])[] = [
  ["anthropic", "anthropic"],
  ["azure", "azure.ai.openai"],
  ["openai", "openai"],
  ["google.vertex", "gcp.vertex_ai"],
  ["google.generative", "gcp.gemini"],
  ["google", "gcp.gen_ai"],
  ["amazon-bedrock", "aws.bedrock"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
];

export function providerName(provider: string): string {
  const known = PROVIDERS.find(([start]) => provider === start || provider.startsWith(`${start}.`));
  return known?.[1] ?? (provider.split(".", 1)[0] || provider);
}

/** The conventions' names of why a model stopped. */
export const finishReason = (reason: string): string =>
  reason === "tool-calls" ? "tool_call" : reason.replaceAll("-", "_");
