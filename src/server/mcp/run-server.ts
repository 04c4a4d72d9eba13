// The MCP server of one caller: who answers which request. It holds nothing between requests; the revision it
// is served in is the caller's choice.

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
import { mayUse, type Principal } from "../scope.ts";
import { seenRun } from "../seen-run.ts";
import type { ServerParts } from "../server-parts.ts";
import { answerForms } from "./answer-forms.ts";
import { answerPrompts } from "./answer-prompts.ts";
import { orProtocolError, orToolError } from "./call-problem.ts";
import type { Catalogue } from "./catalogue.ts";
import { broughtInput, givenInput, refuseStateless, wantedInput } from "./client-input.ts";
import { followRun, runResult } from "./follow-run.ts";
import type { ClientAbilities, McpCall, McpTool, Responses, ToolOutcome } from "./mcp-call.ts";
import { cancelTask, getTask, updateTask } from "./run-tasks.ts";
import type { QuestionState } from "./seal.ts";

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
  readonly catalogue: Catalogue;
  readonly era: "legacy" | "modern";
}

export function runServer(terms: ServerTerms): McpServer {
  const { parts, era } = terms;
  const mcp = new McpServer(
    { name: "packloop", title: "packloop", version: parts.version },
    {
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        completions: {},
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
        "prompts/list": { ttlMs: LIST_MS, cacheScope: "private" },
        "resources/list": { ttlMs: LIST_MS, cacheScope: "private" },
        "resources/read": { ttlMs: 0, cacheScope: "private" },
      },
    },
  );
  // What the entry holds headers against: the tools are not registered with it.
  mcp.toolInputSchemaJson = (name) => toolNamed(terms, name)?.inputSchema;
  answerTools(mcp, terms);
  answerPrompts(mcp, { ...terms, callOf: (context) => callOf(mcp.server, terms, context) });
  answerResources(mcp, terms);
  if (era === "modern") answerTasks(mcp, terms);
  return mcp;
}

const toolsFor = ({ parts, principal, catalogue }: ServerTerms): readonly McpTool[] =>
  catalogue.tools(parts).filter(({ scopes }) => scopes.some((scope) => mayUse(principal, scope)));

const toolNamed = (terms: ServerTerms, name: string): McpTool | undefined =>
  toolsFor(terms).find((one) => one.name === name);

function answerTools({ server }: McpServer, terms: ServerTerms): void {
  const { parts } = terms;
  server.setRequestHandler("tools/list", () =>
    orProtocolError(parts, async () => ({ tools: toolsFor(terms).map(definitionOf) }) as never),
  );
  server.setRequestHandler("tools/call", ({ params }, context) =>
    orToolError(parts, async () => {
      const tool = toolNamed(terms, params.name);
      if (tool === undefined) {
        const message = `\`${params.name.slice(0, 100)}\` is not a tool of yours here (see tools/list)`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      const args = (params.arguments ?? {}) as JsonObject;
      const call = callOf(server, terms, context);
      return await called({ tool, args }, { ...call, of: `tool ${tool.name}` }, context);
    }).then((result) => result as never),
  );
}

const definitionOf = (tool: McpTool): JsonObject => {
  const { name, title, description, inputSchema, outputSchema, annotations, meta } = tool;
  const hints = annotations as unknown as JsonObject;
  return {
    ...{ name, title, description, inputSchema, annotations: hints },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(meta !== undefined && { _meta: meta }),
  };
};

interface CalledTool {
  readonly tool: McpTool;
  readonly args: JsonObject;
}

async function called(
  { tool, args }: CalledTool,
  call: McpCall,
  context: ServerContext,
): Promise<JsonObject> {
  if (tool.needsTasks === true) demandTasks(call);
  const brought = broughtInput(call, context);
  if (brought?.held !== undefined && "run" in brought.held)
    return await wentOn(call, brought.held, brought.responses);
  if (tool.asks !== true) refuseStateless(brought);
  const outcome = await tool.call(args, { ...call, given: brought && givenInput(brought) });
  return outcome.kind === "input" ? wantedInput(call, outcome) : await resultOf(call, outcome);
}

async function resultOf(
  call: McpCall,
  outcome: Exclude<ToolOutcome, { readonly kind: "input" }>,
): Promise<JsonObject> {
  switch (outcome.kind) {
    case "run":
      if (outcome.wait) return await followRun(call, { run: outcome.run, asks: true });
      return runResult(await seenRun(call.parts, outcome.run));
    case "content":
      return { content: outcome.content };
    case "value": {
      const { value } = outcome;
      return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    }
  }
}

/** The call was made before and asked something; its run is there, and nothing is started again. */
async function wentOn(call: McpCall, asked: QuestionState, responses: Responses): Promise<JsonObject> {
  const answered = await answerForms(call, asked, responses);
  const declined = !answered && Object.keys(responses).length > 0;
  return await followRun(call, { run: asked.run, asks: !declined });
}

function answerResources({ server }: McpServer, terms: ServerTerms): void {
  const { parts, principal, catalogue } = terms;
  const reading = <T>(what: () => Promise<T>): Promise<never> =>
    orProtocolError(parts, async () => {
      demandScope(principal, "runs:read");
      return (await what()) as never;
    });
  server.setRequestHandler("resources/list", ({ params }) =>
    reading(() => catalogue.listResources(parts, params?.cursor)),
  );
  server.setRequestHandler("resources/templates/list", () =>
    reading(async () => ({ resourceTemplates: catalogue.templates })),
  );
  server.setRequestHandler("resources/read", ({ params }) =>
    reading(() => catalogue.readResource(parts, params.uri)),
  );
}

const taskParams = { params: z.looseObject({ taskId: z.string().min(1).max(1_000) }) };

function answerTasks({ server }: McpServer, terms: ServerTerms): void {
  const { parts } = terms;
  const ofTask = (context: ServerContext, what: (call: McpCall) => Promise<JsonObject>): Promise<never> =>
    orProtocolError(parts, async () => {
      const call = callOf(server, terms, context);
      demandTasks(call);
      return (await what(call)) as never;
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

function demandTasks({ client }: McpCall): void {
  if (client.tasks) return;
  const requiredCapabilities = { extensions: { [TASKS]: {} } };
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
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
    of: mcpReq.method,
    given: undefined,
    key: typeof key === "string" && key !== "" && key.length <= 255 ? key : undefined,
    progress: token === undefined ? undefined : progress,
  };
}

/** An elicitation without a mode is one of forms. */
function abilitiesOf(capabilities: unknown): ClientAbilities {
  const declared = isObject(capabilities) ? (capabilities as Json) : {};
  const elicitation = get(declared, "elicitation");
  const elicits = isObject(elicitation) && (isObject(elicitation["form"]) || !isObject(elicitation["url"]));
  return {
    elicits,
    opensPages: isObject(get(elicitation, "url")),
    tasks: isObject(get(get(declared, "extensions"), TASKS)),
    answers: (method) =>
      method === "elicitation/create" ? elicits : isObject(get(declared, method.split("/", 1)[0] ?? "")),
  };
}
