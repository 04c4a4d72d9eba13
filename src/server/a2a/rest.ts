// The HTTP+JSON binding: addresses below the agent's own, bodies and answers in the protocol's JSON.

import {
  A2A_CONTENT_TYPE,
  A2A_PROTOCOL_VERSION,
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import {
  ContentTypeNotSupportedError,
  RequestMalformedError,
  restStatusFor,
  toRestErrorBody,
} from "@a2a-js/sdk/errors";
import { isObject, type JsonObject } from "../../base/json.ts";
import { eventStream } from "../event-stream.ts";
import { Problem } from "../problem.ts";
import type { JournalAgent } from "./journal-agent.ts";
import { unknownVersion } from "./json-rpc.ts";
import { asA2aError } from "./protocol-error.ts";
import { checkSendParams } from "./sent-message.ts";
import { jsonBody, type ServedRequest } from "./served-request.ts";

export async function answerRest(served: ServedRequest, agent: JournalAgent): Promise<Response> {
  const operation = operationOf(served.request.method, served.rest);
  if (operation === undefined)
    throw new Problem("not-found", `there is nothing at \`${served.rest.join("/").slice(0, 200)}\``);
  try {
    if (served.version !== A2A_PROTOCOL_VERSION) throw unknownVersion(served.version);
    return await operation(served, agent);
  } catch (error) {
    if (agent.problem !== undefined) throw agent.problem;
    const said = asA2aError(error, served.log);
    const status = restStatusFor(said);
    return json(toRestErrorBody(said, status), status);
  }
}

type Operation = (served: ServedRequest, agent: JournalAgent) => Promise<Response>;

/** Undefined where nothing is. */
function operationOf(method: string, rest: readonly string[]): Operation | undefined {
  const [first = "", second, third, fourth] = rest;
  if (rest.length === 1) return PLAIN.get(`${method} ${first}`);
  if (first !== "tasks" || second === undefined || rest.length > 4) return undefined;
  if (rest.length === 2) return taskOperation(method, second);
  if (third !== "pushNotificationConfigs") return undefined;
  return configOperation(method, { taskId: second, id: fourth });
}

const PLAIN: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  [
    "POST message:send",
    async ({ request }, agent) => {
      const task = await agent.sendMessage(await sentIn(request));
      return json({ task: Task.toJSON(task) });
    },
  ],
  [
    "POST message:stream",
    async (served, agent) => streamed(served, agent, agent.sendMessageStream(await sentIn(served.request))),
  ],
  [
    "GET tasks",
    async ({ request }, agent) => {
      const query = Object.fromEntries(new URL(request.url).searchParams);
      const given = ListTasksRequest.fromJSON(query);
      const includeArtifacts = query["includeArtifacts"] === "true";
      return json(listJson(await agent.listTasks({ ...given, includeArtifacts }), includeArtifacts));
    },
  ],
  [
    "GET extendedAgentCard",
    async (_, agent) => json(AgentCard.toJSON(await agent.getAuthenticatedExtendedAgentCard())),
  ],
]);

function taskOperation(method: string, named: string): Operation | undefined {
  const at = named.lastIndexOf(":");
  const verb = at === -1 ? "" : named.slice(at);
  const id = at === -1 ? named : named.slice(0, at);
  if (verb === "" && method === "GET")
    return async ({ request }, agent) => {
      const given = new URL(request.url).searchParams.get("historyLength");
      const historyLength = given === null || given === "" ? undefined : Number(given);
      const wanted = { id, tenant: "", ...(historyLength !== undefined && { historyLength }) };
      return json(Task.toJSON(await agent.getTask(wanted)));
    };
  if (verb === ":cancel" && method === "POST")
    return async (_, agent) =>
      json(Task.toJSON(await agent.cancelTask({ id, tenant: "", metadata: undefined })));
  if (verb === ":subscribe" && (method === "POST" || method === "GET"))
    return (served, agent) => streamed(served, agent, agent.resubscribe({ id, tenant: "" }));
  return undefined;
}

function configOperation(
  method: string,
  { taskId, id }: { readonly taskId: string; readonly id: string | undefined },
): Operation | undefined {
  if (id === undefined && method === "POST")
    return async ({ request }, agent) => {
      const given = TaskPushNotificationConfig.fromJSON({ ...(await bodyOf(request)), taskId });
      return json(
        TaskPushNotificationConfig.toJSON(await agent.createTaskPushNotificationConfig(given)),
        201,
      );
    };
  if (id === undefined && method === "GET")
    return async (_, agent) => {
      const asked = { taskId, tenant: "", pageSize: 0, pageToken: "" };
      const found = await agent.listTaskPushNotificationConfigs(asked);
      return json(ListTaskPushNotificationConfigsResponse.toJSON(found));
    };
  if (id === undefined) return undefined;
  if (method === "GET")
    return async (_, agent) => {
      const found = await agent.getTaskPushNotificationConfig({ taskId, id, tenant: "" });
      return json(TaskPushNotificationConfig.toJSON(found));
    };
  if (method !== "DELETE") return undefined;
  return async (_, agent) => {
    await agent.deleteTaskPushNotificationConfig({ taskId, id, tenant: "" });
    return new Response(null, { status: 204 });
  };
}

async function sentIn(request: Request): Promise<SendMessageRequest> {
  const body = await bodyOf(request);
  checkSendParams(body);
  return SendMessageRequest.fromJSON(body);
}

async function bodyOf(request: Request): Promise<JsonObject> {
  try {
    const value = (await jsonBody(request)) ?? {};
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "unsupported-media-type")
      throw new ContentTypeNotSupportedError({ message: error.message, cause: error });
    throw new RequestMalformedError({ message: error.message, cause: error });
  }
  throw new RequestMalformedError("the body is not an object");
}

/** The token of the next page is always there; artifacts are, when they were asked for. */
function listJson(response: ListTasksResponse, withArtifacts: boolean): JsonObject {
  const { nextPageToken, pageSize, totalSize } = response;
  const { tasks = [] } = ListTasksResponse.toJSON(response) as { readonly tasks?: readonly JsonObject[] };
  const shown = withArtifacts ? tasks.map((task) => ({ artifacts: [], ...task })) : tasks;
  return { tasks: shown, nextPageToken, pageSize, totalSize };
}

async function streamed(
  { leave, log }: ServedRequest,
  agent: JournalAgent,
  events: AsyncGenerator<StreamResponse, void, undefined>,
): Promise<Response> {
  // What is wrong with the request is an answer of its own; only what begins well becomes a stream.
  const first = await events.next();
  async function* texts(): AsyncGenerator<string> {
    try {
      if (first.done !== true) yield eventText(StreamResponse.toJSON(first.value));
      for await (const event of events) yield eventText(StreamResponse.toJSON(event));
    } catch (error) {
      const said = agent.problem ?? asA2aError(error, log);
      yield `event: error\n${eventText(toRestErrorBody(said, restStatusFor(said)))}`;
    }
  }
  return eventStream(texts(), { leave });
}

const eventText = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": A2A_CONTENT_TYPE } });
