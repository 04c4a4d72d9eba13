// Input that a tool or a prompt wants of the client before it has a result, and what comes back. Between the
// two the client holds all there is to know, sealed.

import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { Problem } from "../problem.ts";
import type { GivenInput, InputRequest, McpCall, Responses, WantedInput } from "./mcp-call.ts";
import { type InputState, openState, type QuestionState, sealState } from "./seal.ts";

/** What a client sent for what it was asked before. */
export interface BroughtInput {
  readonly responses: Responses;
  readonly held: QuestionState | InputState | undefined;
}

/** Undefined for a call that is made for the first time. */
export function broughtInput(call: McpCall, { mcpReq }: ServerContext): BroughtInput | undefined {
  const { inputResponses: responses } = mcpReq;
  const state = mcpReq.requestState();
  if (state === undefined) return responses && { responses, held: undefined };
  const { parts, principal, of } = call;
  const terms = { side: parts.side, principal, now: parts.clock.now() };
  const held = typeof state === "string" ? openState(terms, state) : undefined;
  if (held === undefined || held.of !== of) throw badState();
  return { responses: responses ?? {}, held };
}

/** What came for a wish of the tool or prompt itself. */
export function givenInput({ responses, held }: BroughtInput): GivenInput {
  if (held !== undefined && "run" in held) throw badState();
  return { responses, state: held?.state };
}

/** For tools that ask about runs: which run it is, only the state says. */
export function refuseStateless(brought: BroughtInput | undefined): void {
  if (brought !== undefined && brought.held === undefined)
    throw new Problem("bad-request", "`inputResponses` come with the `requestState` they belong to");
}

function badState(): ProtocolError {
  const message =
    "`requestState` was not made here for you and this call, or has expired (call again without it)";
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: "invalid_request_state" });
}

const NEEDED = {
  "elicitation/create": { elicitation: { form: {} } },
  "sampling/createMessage": { sampling: {} },
  "roots/list": { roots: {} },
} as const satisfies Readonly<Record<InputRequest["method"], JsonObject>>;

/** Asks what the client can answer. Where it can answer nothing of it, it is told what it lacks. */
export function wantedInput(call: McpCall, { requests, state }: WantedInput): JsonObject {
  const { parts, principal, client, of } = call;
  const all = Object.entries(requests);
  const asked = all.filter(([, { method }]) => client.answers(method));
  if (asked.length === 0) {
    const lacking = all.map(([, { method }]) => NEEDED[method]);
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: Object.assign({}, ...lacking) });
  }
  return {
    resultType: "input_required",
    inputRequests: Object.fromEntries(asked) as unknown as JsonObject,
    requestState: sealState({ side: parts.side, principal, now: parts.clock.now() }, { of, state }),
  };
}
