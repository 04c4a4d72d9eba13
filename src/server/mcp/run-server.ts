// The MCP server of one caller: which tools and resources there are, and who answers which request. It holds
// nothing between requests; the revision it is served in is the caller's choice.

import { z } from "@hono/zod-openapi";
import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { demandScope } from "../demand-scope.ts";
import { Problem } from "../problem.ts";
import { mayUse, type Principal } from "../scope.ts";
import { seenRun } from "../seen-run.ts";
import type { ServerParts } from "../server-parts.ts";
import { agentTools } from "./agent-tools.ts";
import { answerForms, type Responses } from "./answer-forms.ts";
import { orProtocolError, orToolError } from "./call-problem.ts";
import { followRun, runResult } from "./follow-run.ts";
import type { ClientAbilities, McpCall, McpTool } from "./mcp-call.ts";
import { listResources, readResource, TEMPLATES } from "./run-resources.ts";
import { cancelTask, getTask, updateTask } from "./run-tasks.ts";
import { RUN_TOOLS } from "./run-tools.ts";
import { openState } from "./seal.ts";

const TASKS = "io.modelcontextprotocol/tasks";
/** Of a sender who may send the same call twice and means one. */
const KEY = "packloop/key";
const LIST_MS = 60_000;

const INSTRUCTIONS =
  "packloop runs PromptPack workflows as durable loops. start_run starts one and waits up to 30 s; a run that " +
  "takes longer goes on by itself and is read with get_run. A run with status `waiting` says in `waiting_for` " +
  "what it wants: send_event, send_message or answer give it. Tools named agent_… run one agent of a pack.";

export interface ServerTerms {
  readonly parts: ServerParts;
  readonly principal: Principal;
  readonly era: "legacy" | "modern";
}

export function runServer(terms: ServerTerms): McpServer {
  const { parts, era } = terms;
  const mcp = new McpServer(
    { name: "packloop", title: "packloop", version: parts.version },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        // Before 2026-07-28 tasks were another thing.
        ...(era === "modern" && { extensions: { [TASKS]: {} } }),
      },
      instructions: INSTRUCTIONS,
      cacheHints: {
        "server/discover": { ttlMs: LIST_MS, cacheScope: "public" },
        "resources/templates/list": { ttlMs: LIST_MS, cacheScope: "public" },
        // What a caller sees here depends on its token.
        "tools/list": { ttlMs: LIST_MS, cacheScope: "private" },
        "resources/list": { ttlMs: LIST_MS, cacheScope: "private" },
        "resources/read": { ttlMs: 0, cacheScope: "private" },
      },
    },
  );
  answerTools(mcp, terms);
  answerResources(mcp, terms);
  if (era === "modern") answerTasks(mcp, terms);
  return mcp;
}

const toolsFor = ({ parts, principal }: Pick<ServerTerms, "parts" | "principal">): readonly McpTool[] =>
  [...RUN_TOOLS, ...agentTools(parts.side)].filter(({ scopes }) =>
    scopes.some((scope) => mayUse(principal, scope)),
  );

function answerTools({ server }: McpServer, terms: ServerTerms): void {
  const { parts } = terms;
  server.setRequestHandler("tools/list", () =>
    orProtocolError(parts, async () => ({ tools: toolsFor(terms).map(definitionOf) }) as never),
  );
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const call = callOf(server, terms, context);
    const args = (params.arguments ?? {}) as JsonObject;
    return (await orToolError(parts, () => called(call, { name: params.name, args }, context))) as never;
  });
}

const definitionOf = (tool: McpTool): JsonObject => {
  const { name, title, description, inputSchema, outputSchema, annotations, meta } = tool;
  const hints = annotations as unknown as JsonObject;
  return {
    ...{ name, title, description, inputSchema, outputSchema, annotations: hints },
    ...(meta !== undefined && { _meta: meta }),
  };
};

interface CalledTool {
  readonly name: string;
  readonly args: JsonObject;
}

async function called(
  call: McpCall,
  { name, args }: CalledTool,
  context: ServerContext,
): Promise<JsonObject> {
  const tool = toolsFor(call).find((one) => one.name === name);
  if (tool === undefined) {
    const message = `\`${name.slice(0, 100)}\` is not a tool of yours here (see tools/list)`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  const { inputResponses: responses } = context.mcpReq;
  const state = context.mcpReq.requestState();
  if (state !== undefined) return await wentOn(call, state, responses ?? {});
  if (responses !== undefined)
    throw new Problem("bad-request", "`inputResponses` come with the `requestState` they belong to");
  const outcome = await tool.call(args, call);
  if (outcome.kind === "run") {
    if (outcome.wait) return await followRun(call, { run: outcome.run, asks: true });
    return runResult(await seenRun(call.parts, outcome.run));
  }
  const { value } = outcome;
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

/** The call was made before and asked something; its run is there, and nothing is started again. */
async function wentOn(call: McpCall, state: unknown, responses: Responses): Promise<JsonObject> {
  const { parts, principal } = call;
  const terms = { side: parts.side, principal, now: parts.clock.now() };
  const asked = typeof state === "string" ? openState(terms, state) : undefined;
  if (asked === undefined) {
    const message = "`requestState` was not made here for you, or has expired (call again without it)";
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: "invalid_request_state" });
  }
  const answered = await answerForms(call, asked, responses);
  const declined = !answered && Object.keys(responses).length > 0;
  return await followRun(call, { run: asked.run, asks: !declined });
}

function answerResources({ server }: McpServer, terms: ServerTerms): void {
  const { parts, principal } = terms;
  const reading = <T>(what: () => Promise<T>): Promise<never> =>
    orProtocolError(parts, async () => {
      demandScope(principal, "runs:read");
      return (await what()) as never;
    });
  server.setRequestHandler("resources/list", ({ params }) =>
    reading(() => listResources(parts, params?.cursor)),
  );
  server.setRequestHandler("resources/templates/list", () =>
    reading(async () => ({ resourceTemplates: TEMPLATES })),
  );
  server.setRequestHandler("resources/read", ({ params }) => reading(() => readResource(parts, params.uri)));
}

const taskParams = { params: z.looseObject({ taskId: z.string().min(1).max(1_000) }) };

function answerTasks({ server }: McpServer, terms: ServerTerms): void {
  const { parts } = terms;
  const ofTask = (context: ServerContext, what: (call: McpCall) => Promise<JsonObject>): Promise<never> =>
    orProtocolError(parts, async () => {
      const call = callOf(server, terms, context);
      if (call.client.tasks) return (await what(call)) as never;
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS]: {} } },
      });
    });
  server.setRequestHandler("tasks/get", taskParams, ({ taskId }, context) =>
    ofTask(context, (call) => getTask(call, taskId)),
  );
  server.setRequestHandler("tasks/update", taskParams, ({ taskId }, context) =>
    ofTask(context, (call) => updateTask(call, taskId, context.mcpReq.inputResponses ?? {})),
  );
  server.setRequestHandler("tasks/cancel", taskParams, ({ taskId }, context) =>
    ofTask(context, (call) => cancelTask(call, taskId)),
  );
}

function callOf(server: McpServer["server"], terms: ServerTerms, context: ServerContext): McpCall {
  const { parts, principal } = terms;
  const { mcpReq } = context;
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const meta = (mcpReq._meta ?? {}) as JsonObject;
  const key = get(meta, KEY);
  const token = get(meta, "progressToken");
  const progress = async (turn: number, message: string): Promise<void> => {
    const params = { progressToken: token as string | number, progress: turn, message };
    await mcpReq.notify({ method: "notifications/progress", params });
  };
  return {
    ...{ parts, principal },
    client: abilitiesOf(envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()),
    signal: mcpReq.signal,
    key: typeof key === "string" && key !== "" && key.length <= 255 ? key : undefined,
    progress: token === undefined ? undefined : progress,
  };
}

/** An elicitation without a mode is one of forms. */
function abilitiesOf(capabilities: unknown): ClientAbilities {
  const declared = isObject(capabilities) ? (capabilities as Json) : {};
  const elicitation = get(declared, "elicitation");
  return {
    elicits: isObject(elicitation) && (isObject(elicitation["form"]) || !isObject(elicitation["url"])),
    tasks: isObject(get(get(declared, "extensions"), TASKS)),
  };
}
