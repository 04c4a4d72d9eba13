// Tasks of the extension `io.modelcontextprotocol/tasks`: a task is a run seen by whoever called for it. Its
// name is all there is to it, so a task outlives the server.

import type { JsonObject } from "../../base/json.ts";
import type { Summary, WaitingFor } from "../../core/summary.ts";
import { hasEnded } from "../is-over.ts";
import { Problem } from "../problem.ts";
import { type StandingRun, standingRun } from "../resting-run.ts";
import { answerable, answerForms, askable, inputRequests } from "./answer-forms.ts";
import { askApi, spoken } from "./ask-api.ts";
import { runResult, taskFrame, waitedFor } from "./follow-run.ts";
import type { McpCall, Responses } from "./mcp-call.ts";
import { runOfTask } from "./seal.ts";

/** How long the answer to one of several questions may be worked on before it is acknowledged. */
const SETTLE_MS = 1_000;

export async function getTask(call: McpCall, taskId: string): Promise<JsonObject> {
  const seen = await taskRun(call, taskId);
  return { ...taskFrame(taskId, seen), ...(await statusOf(call, seen)) };
}

async function statusOf(call: McpCall, seen: StandingRun): Promise<JsonObject> {
  const { summary, record } = seen;
  const statusMessage = messageOf(summary);
  if (summary.status === "cancelled") return { status: "cancelled", statusMessage };
  if (hasEnded(record)) return { status: "completed", statusMessage, result: runResult(seen) };
  const asked = askable(call.client, await answerable(call, seen));
  if (asked.length === 0) return { status: "working", statusMessage };
  return { status: "input_required", statusMessage, inputRequests: inputRequests(call.client, asked) };
}

function messageOf({ run, status, state, held, waiting_for: waits }: Summary): string {
  if (held !== null) return `run ${run} is held by ${held.by} since ${held.since}`;
  const where = state === null ? "" : ` in ${state}`;
  const wants = waits.length === 0 ? "" : ` for ${waits.map(wantedBy).join(", ")}`;
  return `run ${run} is ${status}${where}${wants}`;
}

const wantedBy = ({ kind, events, tool, step }: WaitingFor): string =>
  kind === "event" ? `event ${(events ?? []).join(" or ")}` : `${kind} ${tool ?? ""} (step ${step})`;

/** What was answered before, or is asked no more, is passed over. */
export async function updateTask(call: McpCall, taskId: string, responses: Responses): Promise<JsonObject> {
  const seen = await taskRun(call, taskId);
  const asks = (await answerable(call, seen)).map(({ id }) => id);
  await answerForms(call, { run: seen.summary.run, asks }, responses);
  // With questions left the task is to be seen as asking, also while the run works on the answer.
  if (asks.some((id) => !Object.hasOwn(responses, id))) await waitedFor(call, seen.summary.run, SETTLE_MS);
  return {};
}

/** A run that has ended stays as it ended, which is fine as well. */
export async function cancelTask(call: McpCall, taskId: string): Promise<JsonObject> {
  const { summary, record } = await taskRun(call, taskId);
  if (hasEnded(record)) return {};
  const body = spoken({ reason: "its task was cancelled" }, call);
  await askApi(call, { route: "cancelRun", params: { id: summary.run }, body });
  return {};
}

async function taskRun({ parts, principal }: McpCall, taskId: string): Promise<StandingRun> {
  const run = runOfTask({ side: parts.side, principal }, taskId);
  if (run === undefined)
    throw new Problem("unknown-run", `there is no task \`${taskId.slice(0, 100)}\` of yours here`);
  return await standingRun(parts, run);
}
