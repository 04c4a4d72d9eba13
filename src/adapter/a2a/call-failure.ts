// What went wrong with a request to a remote agent, sorted by what may follow from it: an answer of the agent
// is shown to the model; what never left is tried again; a message that left and whose answer is lost is sent
// again only where the agent may be asked twice (S46).

import { Fault } from "../../engine/ports.ts";
import { errorChain } from "../error-chain.ts";
import { cut } from "../mcp/tool-result.ts";
import { ToolProblem } from "../tool/tool-problem.ts";

export interface FailurePlace {
  readonly label: string;
  readonly hide: (text: string) => string;
  /** A look changes nothing and may be made again. */
  readonly phase: "look" | "send";
}

const MESSAGE_BYTES = 2048;

/** What to throw: a fault, or a problem that becomes the tool's error. */
export function failureOf(error: unknown, place: FailurePlace): Fault | ToolProblem {
  const causes = errorChain(error);
  const known = causes.find((one) => one instanceof Fault || one instanceof ToolProblem);
  if (known instanceof Fault) return onTheWay(known, place);
  if (known instanceof ToolProblem) return new ToolProblem(known.code, place.hide(known.message));
  const said = causes.find(isProtocolError);
  if (said !== undefined) return refusal(said, place);
  if (causes.some((one) => one instanceof DOMException && one.name === "TimeoutError"))
    return onTheWay(
      new Fault("timeout", words(place, "did not answer in time"), { retry: "unknown" }),
      place,
    );
  const reason = error instanceof Error ? error.message : String(error);
  return new ToolProblem("bad_answer", words(place, `answered against the protocol: ${reason}`));
}

function onTheWay(fault: Fault, { phase, hide }: FailurePlace): Fault {
  const { code, retry, afterMs } = fault;
  const again = retry === "unknown" && phase === "look" ? "later" : retry;
  return new Fault(code, hide(fault.message), { retry: again, ...(afterMs !== undefined && { afterMs }) });
}

/** Errors of the protocol, by their names: the package has a copy of their classes in each of its modules. */
interface ProtocolError extends Error {
  readonly reason: string;
}

const isProtocolError = (error: unknown): error is ProtocolError =>
  error instanceof Error && "reason" in error && typeof error.reason === "string";

/** By its reason, or as a server says it that gives none. */
export const isTaskUnknown = (error: unknown): boolean =>
  hasReason(error, ["TASK_NOT_FOUND"]) ||
  errorChain(error).some((one) => one instanceof Error && "statusCode" in one && one.statusCode === 404);

/** The agent has not that operation, or not for a task in this state. */
export const isUnsupported = (error: unknown): boolean =>
  hasReason(error, ["UNSUPPORTED_OPERATION", "TASK_NOT_CANCELABLE"]);

const hasReason = (error: unknown, reasons: readonly string[]): boolean =>
  errorChain(error).some((one) => isProtocolError(one) && reasons.includes(one.reason));

function refusal(error: ProtocolError, place: FailurePlace): Fault | ToolProblem {
  const message = words(place, `refused the request: ${error.message}`);
  // The agent failed inside, at nothing that was asked of it: the next look may find it well.
  if (place.phase === "look" && !NAMED.has(error.reason))
    return new Fault("agent_unavailable", message, { retry: "later" });
  return new ToolProblem(NAMED.has(error.reason) ? error.reason.toLowerCase() : "agent_error", message);
}

/** Reasons that the specification gives (§3.3.2). */
const NAMED: ReadonlySet<string> = new Set([
  ...["TASK_NOT_FOUND", "TASK_NOT_CANCELABLE", "UNSUPPORTED_OPERATION", "CONTENT_TYPE_NOT_SUPPORTED"],
  ...["INVALID_AGENT_RESPONSE", "EXTENSION_SUPPORT_REQUIRED", "VERSION_NOT_SUPPORTED", "INVALID_PARAMS"],
]);

const words = ({ label, hide }: FailurePlace, what: string): string =>
  hide(cut(`agent \`${label}\` ${what}`, MESSAGE_BYTES));
