// One request, one response: which command, which path, and what every path has in common.

import { get, type JsonObject } from "../base/json.ts";
import { correlate } from "../goal/correlation.ts";
import { type ReadConfig, readLoopConfig } from "../goal/loop-config.ts";
import { responseOf, type TurnEnd } from "../goal/response.ts";
import { readBlob } from "../goal/state-blob.ts";
import { checkHealth } from "./check-health.ts";
import { loopModel } from "./loop-model.ts";
import type { LoopRequest } from "./loop-request.ts";
import { LoopTurn } from "./loop-turn.ts";
import { pollRuns } from "./poll-runs.ts";
import { resumeRun } from "./resume-run.ts";
import { startRun } from "./start-run.ts";

export interface AnswerOptions {
  readonly clock: () => number;
  /** Where the host was started: relative paths begin there. */
  readonly cwd: string;
}

export async function answerRequest(request: LoopRequest, options: AnswerOptions): Promise<JsonObject> {
  const read = readLoopConfig(request.config);
  const { config } = read;
  const blob = readBlob(request.state, {
    now: options.clock(),
    stepsMax: config.stepsMax,
    reframesMax: config.reframesMax,
    attemptsMax: config.attemptsMax,
    toolDeadlineMs: config.toolDeadlineMs,
    workspaceRef: `job:${request.jobId}`,
  });
  if (typeof blob === "number") {
    const message = `the state has schema ${blob}, which is newer than this plugin (use the newer one)`;
    return responseOf({ status: "error", code: "state-schema", message, retry: false, logs: [] });
  }
  const model = loopModel(config.model, options.cwd);
  const turn = new LoopTurn({ request, config, blob, model, ...options });
  return responseOf(await performed(turn, read));
}

async function performed(turn: LoopTurn, read: ReadConfig): Promise<TurnEnd> {
  const { command } = turn.request;
  switch (command) {
    case "handle":
      return handle(turn, read);
    case "poll": {
      const wrong = [...(read.noTools === undefined ? [] : [read.noTools]), ...read.problems];
      if (wrong.length > 0) return turn.refused("bad-config", wrong.join("; "), { retry: false });
      return pollRuns(turn);
    }
    case "health":
      return checkHealth(turn, read);
    default:
      return turn.refused("unknown-command", `there is no command \`${command.slice(0, 40)}\``, {
        retry: false,
      });
  }
}

async function handle(turn: LoopTurn, read: ReadConfig): Promise<TurnEnd> {
  const { event, context } = turn.request;
  if (event === undefined) return turn.ignored("uncorrelated", "warn", "the job has no event");
  const type = get(event, "type");
  const correlated = correlate(event, context);
  if (type === "agentic.start" || (type === "api.trigger" && correlated === undefined))
    return startRun(turn, event, read);
  if (correlated === undefined)
    return turn.ignored("uncorrelated", "warn", "the event belongs to no step of a run");
  // Another attempt of the host may find the configuration mended; the result would be lost otherwise.
  if (read.problems.length > 0) return turn.refused("bad-config", read.problems.join("; "), { retry: true });
  return resumeRun(turn, event, correlated);
}
