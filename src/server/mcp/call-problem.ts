// Problems in the words of MCP: what is wrong with a request is an error of the protocol, what a run refuses
// is the result of the tool, and of a defect nothing is shown but that there was one.

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { Problem, type ProblemCode, problemBody, problemOf } from "../problem.ts";
import type { ServerParts } from "../server-parts.ts";

/** The request itself is wrong: no run was asked anything. */
const BAD_REQUEST: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  ...(["bad-request", "bad-json", "not-found"] as const),
  ...(["unknown-run", "unknown-turn", "unknown-step", "unknown-artifact", "unknown-pack"] as const),
]);

/** A request that has no result of its own to tell of problems in. */
export async function orProtocolError<T>(parts: ServerParts, what: () => Promise<T>): Promise<T> {
  try {
    return await what();
  } catch (error) {
    throw protocolError(parts, error);
  }
}

/** A call of a tool: a model is shown what was refused, so that it can do better. */
export async function orToolError(parts: ServerParts, what: () => Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await what();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const problem = problemOf(error);
    if (BAD_REQUEST.has(problem.code) || problem.status >= 500) throw protocolError(parts, error);
    return toolError(problem);
  }
}

function toolError(problem: Problem): JsonObject {
  const body = problemBody(problem, "mcp:");
  return {
    content: [
      { type: "text", text: problem.message },
      { type: "text", text: JSON.stringify(body) },
    ],
    isError: true,
  };
}

function protocolError(parts: ServerParts, error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const problem = problemOf(error);
  const body = problemBody(problem, "mcp:");
  if (problem.status < 500) return new ProtocolError(ProtocolErrorCode.InvalidParams, problem.message, body);
  parts.log.error({ code: problem.code, err: problem.cause ?? problem }, problem.message);
  return new ProtocolError(ProtocolErrorCode.InternalError, problem.message, body);
}
