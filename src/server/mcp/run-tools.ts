// The tools every client has: the routes of the API under names and descriptions that a model can use. What a
// request may say and what comes of it is the route's.

import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../base/json.ts";
import { Problem } from "../problem.ts";
import type { Reply } from "../route.ts";
import { checkReport } from "../schemas/pack-shapes.ts";
import {
  answerBody,
  approvalBody,
  cancelBody,
  eventBody,
  messageBody,
  packBody,
  startBody,
} from "../schemas/requests.ts";
import { runList, summary, traceRow } from "../schemas/run-shapes.ts";
import { status, whole } from "../schemas/shared.ts";
import type { Scope } from "../scope.ts";
import { askApi, sparse, spoken } from "./ask-api.ts";
import { checkedArguments } from "./checked-arguments.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { McpCall, McpTool, ToolHints, ToolOutcome } from "./mcp-call.ts";

const READS: ToolHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
/** A run may call tools that change the world. */
const MOVES: ToolHints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

interface ToolPlan<T> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodType<T>;
  readonly output: z.ZodType;
  readonly scopes: readonly Scope[];
  readonly hints: ToolHints;
  readonly call: (args: T, call: McpCall) => Promise<ToolOutcome>;
}

/** Refuses what does not fit before anything happens. */
function tool<T>({ input, output, hints, call, ...rest }: ToolPlan<T>): McpTool {
  return {
    ...rest,
    inputSchema: jsonSchemaOf(input),
    outputSchema: jsonSchemaOf(output),
    annotations: hints,
    call: (args, context) => call(checkedArguments(input, args), context),
  };
}

const valueOf = ({ body }: Reply): ToolOutcome => ({ kind: "value", value: body as JsonObject });

const run = z.string().min(1).max(500).describe("The id of a run, like r_01hqz.");
const wait = z
  .boolean()
  .optional()
  .describe("Wait until the run ends or wants something (at most 30 s). True if left out.");

const startRun = tool({
  name: "start_run",
  title: "Start a run",
  description:
    "Start a pack's workflow as a durable run, from the pack's text or its digest, and wait for it. A result with status `running` goes on by itself: read it later with get_run. With status `waiting`, `waiting_for` says what is wanted: send_event, send_message or answer give it.",
  input: z.strictObject({
    ...startBody.shape,
    wait,
    key: z.string().min(1).max(255).optional().describe("The same key never starts a second run."),
  }),
  output: summary,
  scopes: ["runs:write"],
  hints: MOVES,
  async call({ wait: waits, key, ...body }, call) {
    const { body: started } = await askApi(call, { route: "startRun", body, key });
    return { kind: "run", run: (started as { readonly run: string }).run, wait: waits !== false };
  },
});

const getRun = tool({
  name: "get_run",
  title: "Look at a run",
  description:
    "How a run stands: its status, its state, what it waits for, and its output when it has ended.",
  input: z.strictObject({
    run,
    at: whole.min(1).optional().describe("As it was after this turn."),
  }),
  output: summary,
  scopes: ["runs:read"],
  hints: READS,
  call: async ({ run: id, at }, call) =>
    valueOf(await askApi(call, { route: "getRun", params: { id }, query: { at } })),
});

const sendEvent = tool({
  name: "send_event",
  title: "Send an event",
  description: "Send one of the events that a waiting run allows, then wait for the run.",
  input: z.strictObject({ run, ...eventBody.shape, wait }),
  output: summary,
  scopes: ["events:send"],
  hints: MOVES,
  async call({ run: id, wait: waits, ...body }, call) {
    await askApi(call, { route: "sendEvent", params: { id }, body: spoken(body, call) });
    return { kind: "run", run: id, wait: waits !== false };
  },
});

const sendMessage = tool({
  name: "send_message",
  title: "Say something to a run",
  description: "Say something to a run that waits for a message, then wait for the run.",
  input: z.strictObject({ run, ...messageBody.shape, wait }),
  output: summary,
  scopes: ["events:send"],
  hints: MOVES,
  async call({ run: id, wait: waits, ...body }, call) {
    await askApi(call, { route: "sayMessage", params: { id }, body: spoken(body, call) });
    return { kind: "run", run: id, wait: waits !== false };
  },
});

const answerShape = z.strictObject({
  run,
  step: whole.min(1).describe("The step that `waiting_for` names."),
  wait,
  ...answerBody.shape,
  ...approvalBody.partial().shape,
});

const answer = tool({
  name: "answer",
  title: "Answer a step",
  description:
    "Answer what a run waits for by its step: `decision` for an approval (with `sha256` of what was read, `value` for edit, `reason` for reject), `result` or `error` for a question or a late tool, `retry`, `result` or `abort` for a call in doubt. Then wait for the run.",
  input: answerShape,
  output: summary,
  scopes: ["events:send", "approvals:decide"],
  hints: MOVES,
  async call(args, call) {
    const { run: id, step, wait: waits } = args;
    const { decision, sha256, value, reason, result, error, retry, abort, by } = args;
    const params = { id, step };
    if (decision === undefined) {
      const body = sparse({ result, error, retry, abort, by });
      await askApi(call, { route: "answerStep", params, body: spoken(body, call) });
    } else {
      if ([result, error, retry, abort].some((one) => one !== undefined))
        throw new Problem("bad-request", "give `decision`, or one of `result`, `error`, `retry`, `abort`");
      const body = sparse({ decision, sha256, value, reason, by });
      await askApi(call, { route: "decideApproval", params, body: spoken(body, call) });
    }
    return { kind: "run", run: id, wait: waits !== false };
  },
});

const cancelRun = tool({
  name: "cancel_run",
  title: "Cancel a run",
  description: "Cancel a run and the agents it called. What it wrote so far can still be read.",
  input: z.strictObject({ run, ...cancelBody.shape }),
  output: summary,
  scopes: ["runs:write"],
  hints: { ...MOVES, idempotentHint: true, openWorldHint: false },
  call: async ({ run: id, ...body }, call) =>
    valueOf(await askApi(call, { route: "cancelRun", params: { id }, body: spoken(body, call) })),
});

const listRuns = tool({
  name: "list_runs",
  title: "List runs",
  description: "List runs, the newest first.",
  input: z.strictObject({
    status: z.array(status).min(1).optional(),
    pack: z.string().optional().describe("The id of a pack."),
    parent: z.string().optional().describe("Runs of this run's agents; empty for runs that nobody called."),
    text: z.string().max(200).optional().describe("Found in the run, its pack, state, reason or key."),
    cursor: z.string().max(1_000).optional().describe("The `next_cursor` of the page before."),
    limit: whole.min(1).max(200).optional(),
  }),
  output: runList,
  scopes: ["runs:read"],
  hints: READS,
  call: async ({ limit = 50, ...query }, call) =>
    valueOf(await askApi(call, { route: "listRuns", query: { ...query, limit } })),
});

const getTrace = tool({
  name: "get_trace",
  title: "The way a run took",
  description: "One row per transition: from, event, to, who caused it, and the artifacts that changed.",
  input: z.strictObject({
    run,
    after: whole.optional().describe("Rows of later turns than this."),
    limit: whole.min(1).max(1_000).optional(),
  }),
  output: z.object({
    run: z.string(),
    rows: z.array(traceRow),
    next_after: whole.nullable().describe("Null on the last page."),
  }),
  scopes: ["runs:read"],
  hints: READS,
  async call({ run: id, after, limit = 100 }, call) {
    const query = { after, limit, values: "changed" };
    const { body, headers = {} } = await askApi(call, { route: "getTrace", params: { id }, query });
    const next = /[?&]after=(\d+)/.exec(headers["link"] ?? "")?.[1];
    const value = { run: id, rows: body, next_after: next === undefined ? null : Number(next) };
    return { kind: "value", value: value as unknown as JsonObject };
  },
});

const checkPack = tool({
  name: "check_pack",
  title: "Check a pack",
  description: "Check the text of a pack like a compiler, and prove how its runs end. Nothing is kept.",
  input: packBody,
  output: checkReport,
  scopes: ["runs:read"],
  hints: READS,
  call: async (body, call) => valueOf(await askApi(call, { route: "checkPack", body })),
});

/** What only looks comes first: a client that tries the first tool it finds changes nothing. */
export const RUN_TOOLS: readonly McpTool[] = [
  ...[listRuns, getRun, getTrace, checkPack],
  ...[startRun, sendEvent, sendMessage, answer, cancelRun],
];
