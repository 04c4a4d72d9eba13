// One agent as the A2A package wants to have it: every method of the protocol, answered from the journal and
// through the engine's door. Made for one request; holds nothing that outlives it.

import { randomUUID } from "node:crypto";
import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { demandScope } from "../demand-scope.ts";
import type { Problem } from "../problem.ts";
import { checkUrl } from "../routes/webhooks.ts";
import { mayUse, type Principal, type Scope, speaker } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";
import { agentCard, type CardTerms, extendedCard } from "./agent-card.ts";
import type { ServedAgent } from "./agent-directory.ts";
import { answerTask } from "./answer-task.ts";
import { settledTask, taskStream } from "./follow-task.ts";
import { lengthOf, listTasks } from "./list-tasks.ts";
import { textPart } from "./message-parts.ts";
import type { OneAtATime } from "./one-at-a-time.ts";
import { asA2aError, httpProblem } from "./protocol-error.ts";
import type { PushBook, PushConfig } from "./push-book.ts";
import type { PushSender } from "./push-sender.ts";
import { checkedMessage } from "./sent-message.ts";
import { startTask } from "./start-task.ts";
import type { TaskIndex } from "./task-index.ts";
import { foundRecord, foundTask, placeOf, rejectedTask, type SeenTask, taskView } from "./task-view.ts";

export interface AgentTerms {
  readonly parts: ServerParts;
  readonly agent: ServedAgent;
  readonly principal: Principal;
  readonly card: CardTerms;
  readonly book: PushBook;
  readonly push: PushSender;
  readonly starts: OneAtATime;
  readonly index: TaskIndex;
  /** Ends what waits or follows. */
  readonly signal: AbortSignal;
}

/** For one task. */
const CONFIGS_MAX = 20;

type Taken =
  | { readonly kind: "rejected"; readonly task: Task }
  | { readonly kind: "task"; readonly seen: SeenTask; readonly why?: string };

export class JournalAgent implements A2ARequestHandler {
  readonly #terms: AgentTerms;
  /** What HTTP has its own answer for: the package's transports know none, who uses them looks here. */
  problem: Problem | undefined;

  constructor(terms: AgentTerms) {
    this.#terms = terms;
  }

  async getAgentCard(): Promise<AgentCard> {
    return agentCard(this.#terms.agent, this.#terms.card);
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.#answered(async () => {
      demandScope(this.#terms.principal, "runs:read", "runs:write");
      return extendedCard(this.#terms.agent, this.#terms.card);
    });
  }

  sendMessage(request: SendMessageRequest): Promise<Task> {
    return this.#answered(async () => {
      const { parts, signal } = this.#terms;
      const shape = this.#shape(request.configuration?.historyLength);
      const taken = await this.#take(request);
      if (taken.kind === "rejected") return taken.task;
      if (request.configuration?.returnImmediately === true || taken.why !== undefined)
        return explained(await taskView(parts, taken.seen, shape), taken.why);
      const id = taken.seen.record.run;
      return taskView(parts, await settledTask(parts, { id, signal }), shape);
    });
  }

  async *sendMessageStream(request: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const taken = await this.#answered(() => this.#take(request));
    if (taken.kind === "rejected") return yield { payload: { $case: "task", value: taken.task } };
    const { seen, why } = taken;
    const shape = this.#shape(request.configuration?.historyLength);
    if (why !== undefined) {
      const task = await this.#answered(() => taskView(this.#terms.parts, seen, shape));
      return yield { payload: { $case: "task", value: explained(task, why) } };
    }
    return yield* this.#followed(seen, { shape, untilAsked: true });
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const seen = await this.#answered(async () => {
      demandScope(this.#terms.principal, "runs:read");
      const found = await this.#found(id);
      if (found.run.final === null) return found;
      throw new UnsupportedOperationError(`the task \`${id}\` has ended (see GetTask)`);
    });
    yield* this.#followed(seen, { shape: this.#shape(undefined), untilAsked: false });
  }

  getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return this.#answered(async () => {
      const { parts, agent, principal } = this.#terms;
      const shape = this.#shape(historyLength);
      const rejected = rejectedTask(parts.side, agent, named(id));
      // Nobody but who wanted to start it has any business with it.
      demandScope(principal, "runs:read", ...(rejected === undefined ? [] : (["runs:write"] as const)));
      return rejected ?? taskView(parts, await this.#found(id), shape);
    });
  }

  listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return this.#answered(async () => {
      demandScope(this.#terms.principal, "runs:read");
      return listTasks(this.#terms.parts, this.#terms, request);
    });
  }

  /** Cancelled is cancelled, however often it is asked for; what ended otherwise stays so. */
  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.#answered(async () => {
      const { parts, principal, agent } = this.#terms;
      demandScope(principal, "runs:write");
      await foundRecord(parts, agent, named(id));
      const by = speaker(principal, undefined);
      await parts.worlds.learn(parts.store, id);
      const at = parts.clock.now();
      const submitted = await parts.engine.submit(id, { type: "cancel", at, by, reason: "" });
      const seen = await this.#found(id);
      if (submitted.kind === "refused" || seen.run.final !== "cancelled")
        throw new TaskNotCancelableError(`the task \`${id}\` has ended already`);
      return taskView(parts, seen, this.#shape(undefined));
    });
  }

  createTaskPushNotificationConfig(given: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    return this.#answered(async () => {
      this.#mayBeTold();
      const { turn } = await this.#configured(given.taskId, "runs:write");
      return this.#keep({ ...given, id: given.id || randomUUID() }, turn);
    });
  }

  getTaskPushNotificationConfig(
    request: GetTaskPushNotificationConfigRequest,
  ): Promise<TaskPushNotificationConfig> {
    return this.#answered(async () => {
      const { taskId, id } = request;
      await this.#configured(taskId, "runs:read");
      const found = this.#terms.book.find(taskId, id);
      if (found !== undefined) return configOf(found);
      throw new TaskNotFoundError(`the task \`${taskId}\` has no push notification config \`${id}\``);
    });
  }

  listTaskPushNotificationConfigs(
    request: ListTaskPushNotificationConfigsRequest,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#answered(async () => {
      await this.#configured(request.taskId, "runs:read");
      // There are few, so that one page holds them all.
      return { configs: this.#terms.book.ofTask(request.taskId).map(configOf), nextPageToken: "" };
    });
  }

  deleteTaskPushNotificationConfig(request: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    return this.#answered(async () => {
      await this.#configured(request.taskId, "runs:write");
      this.#terms.book.remove(request.taskId, request.id);
    });
  }

  /** Committed when this resolves. */
  async #take(request: SendMessageRequest): Promise<Taken> {
    const { parts, agent, principal, starts } = this.#terms;
    const message = checkedMessage(request);
    const config = request.configuration?.taskPushNotificationConfig;
    if (config !== undefined) checkConfig(config);
    if (message.taskId === "") {
      demandScope(principal, "runs:write");
      const started = await startTask(parts, { agent, principal, request, starts }, message);
      if (started.kind === "rejected") return started;
      const { run } = started.seen.record;
      // From before its first turn, which is told as the task.
      if (config !== undefined) this.#keep({ ...config, taskId: run, id: config.id || run }, 0);
      return { kind: "task", seen: started.seen };
    }
    if (config !== undefined) this.#mayBeTold();
    const seen = await this.#found(message.taskId);
    this.#inContext(seen, message.contextId);
    const { defaultInputModes: inputModes } = agent.card;
    const answered = await answerTask(parts, { seen, message, inputModes, principal });
    const { run, turn } = seen.record;
    if (config !== undefined) this.#keep({ ...config, taskId: run, id: config.id || run }, turn);
    const now = await this.#found(run);
    return { kind: "task", seen: now, ...(answered.kind === "not-taken" && { why: answered.why }) };
  }

  #inContext({ record }: SeenTask, given: string): void {
    const { context } = placeOf(record);
    if (given !== "" && given !== context)
      throw new RequestMalformedError(`the task \`${record.run}\` is not in the context \`${given}\``);
  }

  #found(id: string): Promise<SeenTask> {
    return foundTask(this.#terms.parts, this.#terms.agent, named(id));
  }

  async #configured(task: string, scope: Scope): Promise<{ readonly turn: number }> {
    demandScope(this.#terms.principal, scope);
    return foundRecord(this.#terms.parts, this.#terms.agent, named(task));
  }

  #keep(config: TaskPushNotificationConfig, turn: number): TaskPushNotificationConfig {
    const { book, push, parts } = this.#terms;
    checkConfig(config);
    const others = book.ofTask(config.taskId).filter(({ id }) => id !== config.id);
    if (others.length >= CONFIGS_MAX)
      throw new RequestMalformedError(`a task has at most ${CONFIGS_MAX} push notification configs`);
    book.put(config, turn, parts.clock.now());
    push.add(config.taskId);
    return withoutSecret(config);
  }

  /** Being told of a task is reading it. */
  #mayBeTold(): void {
    demandScope(this.#terms.principal, "runs:write");
    demandScope(this.#terms.principal, "runs:read");
  }

  /** What was said before is for those who may read runs; how it stands is the answer to whoever moved it. */
  #shape(historyLength: number | undefined): { readonly historyLength: number | undefined } {
    const length = lengthOf(historyLength);
    return { historyLength: mayUse(this.#terms.principal, "runs:read") ? length : 0 };
  }

  async *#followed(
    seen: SeenTask,
    terms: { shape: { historyLength: number | undefined }; untilAsked: boolean },
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { parts, signal } = this.#terms;
    try {
      yield* taskStream(parts, seen, { ...terms, signal });
    } catch (error) {
      throw this.#said(error);
    }
  }

  async #answered<T>(answer: () => Promise<T>): Promise<T> {
    try {
      return await answer();
    } catch (error) {
      throw this.#said(error);
    }
  }

  #said(error: unknown): Error {
    this.problem ??= httpProblem(error);
    return asA2aError(error, this.#terms.parts.log);
  }
}

const named = (id: string): string => {
  if (id.trim() === "") throw new RequestMalformedError("the id of a task is missing");
  return id;
};

/** Why a message was not taken comes before what is asked again. */
function explained(task: Task, why: string | undefined): Task {
  const message = task.status?.message;
  if (why === undefined || task.status === undefined || message === undefined) return task;
  const parts = [textPart(`Not taken: ${why}`), ...message.parts];
  const status = { ...task.status, message: { ...message, messageId: `${message.messageId}/again`, parts } };
  return { ...task, status, metadata: { ...task.metadata, not_taken: why } };
}

/** Of an address, an id or a secret. */
const CONFIG_CHARS_MAX = 4_000;
/** What may stand in a header of HTTP. */
const HEADER_TEXT = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

function checkConfig({ url, id, token, authentication }: TaskPushNotificationConfig): void {
  checkUrl(url);
  const { scheme = "", credentials = "" } = authentication ?? {};
  for (const [name, value] of Object.entries({ url, id, token, scheme, credentials }))
    if (value.length > CONFIG_CHARS_MAX)
      throw new RequestMalformedError(`\`${name}\` has more than ${CONFIG_CHARS_MAX} characters`);
  for (const [name, value] of Object.entries({ token, scheme, credentials }))
    if (!HEADER_TEXT.test(value)) throw new RequestMalformedError(`\`${name}\` cannot be sent as a header`);
}

const configOf = ({ task, id, url, token, scheme }: PushConfig): TaskPushNotificationConfig => ({
  ...{ tenant: "", taskId: task, id, url, token },
  authentication: scheme === "" ? undefined : { scheme, credentials: "" },
});

/** Credentials are written, and read by nobody. */
const withoutSecret = (config: TaskPushNotificationConfig): TaskPushNotificationConfig => ({
  ...config,
  authentication: config.authentication && { ...config.authentication, credentials: "" },
});
