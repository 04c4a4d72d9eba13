// The metrics there are.

export interface MetricSpec {
  readonly name: string;
  readonly kind: "counter" | "up_down_counter" | "histogram";
  readonly unit: string;
  readonly description: string;
  /** Upper ends, ascending; of a histogram. */
  readonly buckets?: readonly number[];
}

/** Doubling from a hundredth of a second, and four times as much each for tokens: the conventions' own. */
const SECONDS = Array.from({ length: 14 }, (_, index) => (2 ** index * 10) / 1000);
const TOKENS = Array.from({ length: 14 }, (_, index) => 4 ** index);
/** Workflows go on for up to a day. */
const LONG_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400];
/** From what a fast disk needs to what a broken one does. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

export const METRICS = {
  operationDuration: {
    name: "gen_ai.client.operation.duration",
    kind: "histogram",
    unit: "s",
    description: "How long calls of models took.",
    buckets: SECONDS,
  },
  tokenUsage: {
    name: "gen_ai.client.token.usage",
    kind: "histogram",
    unit: "{token}",
    description: "Tokens of calls of models.",
    buckets: TOKENS,
  },
  workflowDuration: {
    name: "gen_ai.workflow.duration",
    kind: "histogram",
    unit: "s",
    description: "How long runs went on between waits.",
    buckets: LONG_SECONDS,
  },
  visits: {
    name: "packloop.visits",
    kind: "counter",
    unit: "{visit}",
    description: "States entered.",
  },
  redirects: {
    name: "packloop.redirects",
    kind: "counter",
    unit: "{redirect}",
    description: "Entries of states that had no visit left and led elsewhere.",
  },
  budgetExhausted: {
    name: "packloop.budget_exhausted",
    kind: "counter",
    unit: "{run}",
    description: "Runs that ended because a limit was reached.",
  },
  openAsks: {
    name: "packloop.open_asks",
    kind: "up_down_counter",
    unit: "{ask}",
    description: "What turns of this process have asked and nobody has answered.",
  },
  commitDuration: {
    name: "packloop.commit.duration",
    kind: "histogram",
    unit: "s",
    description: "How long it took until a turn was durable.",
    buckets: COMMIT_SECONDS,
  },
  recoveryDuration: {
    name: "packloop.recovery.duration",
    kind: "histogram",
    unit: "s",
    description: "How long it took to take up a run that was left.",
    buckets: COMMIT_SECONDS,
  },
} as const satisfies Readonly<Record<string, MetricSpec>>;
