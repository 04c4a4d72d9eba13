// What goes wrong, in the words of A2A. What HTTP has its own answer for (who may come in, how often, when
// the server is gone) stays a problem, as everywhere on this server.

import {
  A2AError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { Logger } from "pino";
import { type Problem, problemOf } from "../problem.ts";

const HTTP_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 405, 408, 413, 429, 503]);

/** Undefined for what A2A has words for. */
export function httpProblem(error: unknown): Problem | undefined {
  if (error instanceof A2AError) return undefined;
  const problem = problemOf(error);
  return problem.code !== "unknown-run" && HTTP_STATUSES.has(problem.status) ? problem : undefined;
}

/** Nothing of a defect is shown but that there was one. */
export function asA2aError(error: unknown, log: Logger): A2AError {
  if (error instanceof A2AError) return error;
  const problem = problemOf(error);
  const { code, status, message } = problem;
  if (code === "unknown-run") return new TaskNotFoundError({ message, cause: error });
  if (status >= 500) {
    log.error({ code, err: problem.cause ?? problem }, message);
    return new A2AError({ message, cause: error });
  }
  const metadata = { code };
  if (status === 409) return new UnsupportedOperationError({ message, metadata, cause: error });
  return new RequestMalformedError({ message, metadata, cause: error });
}
