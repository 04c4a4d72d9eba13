// A2A 1.0: every method by the package's own client, over both bindings.

import { type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import {
  asking,
  BINDINGS,
  clientOf,
  configuration,
  data,
  datas,
  ending,
  message,
  request,
  send,
  servedDesk,
  started,
  text,
  texts,
} from "./a2a-served.ts";
import { temporaryFolder } from "./served.ts";

const none = { tenant: "" };
const stateOf = ({ status }: Task): TaskState | undefined => status?.state;

async function all(
  stream: AsyncGenerator<StreamResponse, void, undefined>,
): Promise<readonly StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const kinds = (events: readonly StreamResponse[]): readonly string[] =>
  events.map(({ payload }) => payload?.$case ?? "");

const statesOf = (events: readonly StreamResponse[]): readonly (TaskState | undefined)[] =>
  events.flatMap(({ payload }) =>
    payload?.$case === "task" || payload?.$case === "statusUpdate" ? [payload.value.status?.state] : [],
  );

const listing = (more: JsonObject = {}) => ({
  ...{ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" },
  ...{ statusTimestampAfter: undefined },
  ...more,
});

describe.each(BINDINGS)("over %s", (binding) => {
  test("a message starts a task, which is answered where it asks somebody", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const task = await started(client);
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(task.metadata).toMatchObject({ state: "gate", reason: "event", pack: { id: "desk" } });
    const parts = task.status?.message?.parts ?? [];
    expect(texts(parts).join("\n")).toContain("Yes, No");
    expect(datas(parts)).toMatchObject([{ waiting_for: [{ kind: "event", events: ["Yes", "No"] }] }]);
  });

  test("artifacts have their names, types and values", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const { artifacts } = await started(client);
    const shown = artifacts.map(({ artifactId, description, parts }) => [
      ...[artifactId, description],
      parts.map(({ mediaType, content }) => [mediaType, content?.value]),
    ]);
    expect(shown).toEqual([
      ["note", "What was noted.", [["text/markdown", "# seen"]]],
      ["data", "", [["application/json", { n: 1 }]]],
      ["log", "", [["text/plain", "one"]]],
    ]);
  });

  test("a data part with an event goes on with the task to its end", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const { id, contextId } = await started(client);
    const said = message([data({ event: "Yes", context: "go" })], { taskId: id, contextId });
    const task = (await client.sendMessage(send(said))) as Task;
    expect([task.id, stateOf(task)]).toEqual([id, TaskState.TASK_STATE_COMPLETED]);
    expect(texts(task.status?.message?.parts)).toEqual(["Goodbye."]);
    expect(task.metadata).toMatchObject({ outcome: "completed", state: "end" });
  });

  test("a text that is an allowed event is that event, without regard to case", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const { id } = await started(client);
    const task = (await client.sendMessage(send(message([text(" yes\n")], { taskId: id })))) as Task;
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  test("any other answer leaves the task waiting and repeats what is asked", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const { id } = await started(client);
    for (const part of [text("Sure, why not"), data({ event: "Maybe" }), data({ decision: "approve" })]) {
      const task = (await client.sendMessage(send(message([part], { taskId: id })))) as Task;
      expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      expect(datas(task.status?.message?.parts)).toMatchObject([
        { waiting_for: [{ events: ["Yes", "No"] }] },
      ]);
      expect(task.metadata?.["not_taken"]).toEqual(expect.any(String));
    }
    expect((await client.getTask({ ...none, id })).history).toHaveLength(2);
  });

  test("a task is found again with as much history as is wanted", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const first = request();
    const { id } = await started(client, first);
    const answer = message([data({ event: "Yes" })], { taskId: id });
    await client.sendMessage(send(answer));
    const { history } = await client.getTask({ ...none, id });
    expect(history.map(({ messageId }) => messageId)).toEqual([
      first.messageId,
      expect.stringContaining("/asks/"),
      answer.messageId,
      `${id}/end`,
    ]);
    expect(texts(history[0]?.parts)).toEqual(["Please."]);
    expect(datas(history[2]?.parts)).toEqual([{ event: "Yes" }]);
    expect((await client.getTask({ ...none, id, historyLength: 1 })).history).toHaveLength(1);
    expect((await client.getTask({ ...none, id, historyLength: 0 })).history).toEqual([]);
  });

  test("a stream begins with the task and shows every update in the order of the journal", async () => {
    const client = await clientOf(await servedDesk({ script: ending }), { binding });
    const events = await all(client.sendMessageStream(send(request())));
    expect(kinds(events)[0]).toBe("task");
    expect(statesOf(events).at(0)).toBe(TaskState.TASK_STATE_SUBMITTED);
    expect(statesOf(events).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    const logs = events.flatMap(({ payload }) =>
      payload?.$case === "artifactUpdate"
        ? [[payload.value.append, texts(payload.value.artifact?.parts)]]
        : [],
    );
    expect(logs).toEqual([
      [false, ["one"]],
      [true, ["two"]],
    ]);
    const id =
      events.flatMap(({ payload }) => (payload?.$case === "task" ? [payload.value.id] : []))[0] ?? "";
    const { artifacts } = await client.getTask({ ...none, id });
    expect(artifacts.map(({ parts }) => texts(parts))).toEqual([["one", "two"]]);
  });

  test("a stream ends where somebody is asked; a subscription goes on to the end", async () => {
    const server = await servedDesk();
    const client = await clientOf(server, { binding });
    const events = await all(client.sendMessageStream(send(request())));
    expect(statesOf(events).at(-1)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const id =
      events.flatMap(({ payload }) => (payload?.$case === "task" ? [payload.value.id] : []))[0] ?? "";
    const followed = client.resubscribeTask({ ...none, id });
    const first = await followed.next();
    expect(first.value?.payload).toMatchObject({ $case: "task", value: { id } });
    const rest = all(followed);
    await client.sendMessage(send(message([text("Yes")], { taskId: id })));
    expect(statesOf(await rest).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  test("every subscriber gets the same updates", async () => {
    const server = await servedDesk();
    const clients = await Promise.all([1, 2, 3].map(() => clientOf(server, { binding })));
    const [client] = clients as [Client];
    const { id } = await started(client);
    const streams = clients.map((one) => one.resubscribeTask({ ...none, id }));
    await Promise.all(streams.map((stream) => stream.next()));
    const rest = streams.map(all);
    await client.sendMessage(send(message([text("No")], { taskId: id })));
    await client.sendMessage(send(message([text("Yes")], { taskId: id })));
    const [one, two, three] = await Promise.all(rest);
    expect(one?.length).toBeGreaterThan(3);
    expect([two, three]).toEqual([one, one]);
  });

  test("a task is cancelled once and for all", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const { id } = await started(client);
    const cancel = () => client.cancelTask({ ...none, id, metadata: undefined });
    expect(stateOf(await cancel())).toBe(TaskState.TASK_STATE_CANCELED);
    expect(stateOf(await cancel())).toBe(TaskState.TASK_STATE_CANCELED);
  });

  test("tasks are listed by when they moved, in pages, without artifacts unless asked", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await started(client)).id);
    await client.sendMessage(send(message([text("Yes")], { taskId: ids[0] ?? "" })));
    const first = await client.listTasks(listing({ pageSize: 2 }));
    expect(first.tasks.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect([first.pageSize, first.totalSize, first.tasks[0]?.artifacts]).toEqual([2, 3, []]);
    const second = await client.listTasks(listing({ pageSize: 2, pageToken: first.nextPageToken }));
    expect([second.tasks.map(({ id }) => id), second.nextPageToken]).toEqual([[ids[1]], ""]);
    const whole = await client.listTasks(listing({ includeArtifacts: true, historyLength: 1 }));
    expect(whole.tasks[0]?.artifacts).toHaveLength(3);
    expect(whole.tasks[0]?.history).toHaveLength(1);
  });

  test("tasks are listed by context, state and time, and only those of the agent", async () => {
    const server = await servedDesk();
    const client = await clientOf(server, { binding });
    const greeter = await clientOf(server, { binding, agent: "desk/greeter" });
    const one = await started(client, request({ contextId: "talk" }));
    const two = await started(client);
    await started(greeter, message([text("Hi")]));
    await client.sendMessage(send(message([text("Yes")], { taskId: two.id })));
    const idsOf = async (more: JsonObject) =>
      (await client.listTasks(listing(more))).tasks.map(({ id }) => id);
    expect(await idsOf({})).toEqual([two.id, one.id]);
    expect(await idsOf({ contextId: "talk" })).toEqual([one.id]);
    expect(await idsOf({ status: TaskState.TASK_STATE_INPUT_REQUIRED })).toEqual([one.id]);
    expect(await idsOf({ status: TaskState.TASK_STATE_COMPLETED })).toEqual([two.id]);
    expect(await idsOf({ status: TaskState.TASK_STATE_FAILED })).toEqual([]);
    const at = (await client.getTask({ ...none, id: two.id })).status?.timestamp ?? "";
    expect(await idsOf({ statusTimestampAfter: at })).toEqual([two.id]);
  });

  test("the same message starts one run, whoever asks first", async () => {
    const server = await servedDesk();
    const client = await clientOf(server, { binding });
    const same = request();
    const [one, two] = await Promise.all([started(client, same), started(client, same)]);
    const three = await started(client, same);
    expect([two?.id, three.id, three.contextId]).toEqual([one?.id, one?.id, one?.contextId]);
    expect((await client.listTasks(listing())).totalSize).toBe(1);
  });

  test("the same answer is taken once", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const { id } = await started(client);
    const no = message([text("No")], { taskId: id });
    await client.sendMessage(send(no));
    const again = (await client.sendMessage(send(no))) as Task;
    expect(stateOf(again)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(again.history.filter(({ messageId }) => messageId === no.messageId)).toHaveLength(1);
    await client.sendMessage(send(message([text("Yes")], { taskId: id })));
    expect(stateOf((await client.sendMessage(send(no))) as Task)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  test("a client that does not wait gets the task as it was accepted", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const wanted = send(request(), configuration({ returnImmediately: true }));
    const task = (await client.sendMessage(wanted)) as Task;
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_SUBMITTED);
  });

  test("a task outlives its server", async () => {
    const folder = temporaryFolder();
    const before = await servedDesk({ folder });
    const { id, contextId } = await started(await clientOf(before, { binding }));
    await before.stop();
    const client = await clientOf(await servedDesk({ folder }), { binding });
    const found = await client.getTask({ ...none, id });
    expect([stateOf(found), found.contextId]).toEqual([TaskState.TASK_STATE_INPUT_REQUIRED, contextId]);
    const task = (await client.sendMessage(send(message([text("Yes")], { taskId: id })))) as Task;
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  test("the extended card tells which variables and artifacts there are", async () => {
    const client = await clientOf(await servedDesk(), { binding });
    const card = await client.getAgentCard();
    expect(card.capabilities?.extensions[0]?.params).toMatchObject({
      pack: { id: "desk", version: "1.2.0" },
      variables: [{ name: "who", required: true }],
      artifacts: [{ name: "note", type: "text/markdown" }, { name: "data" }, { name: "log" }],
    });
  });

  test("an agent that is one prompt answers with a text, as message and as artifact", async () => {
    const client = await clientOf(await servedDesk(), { binding, agent: "desk/greeter" });
    const task = await started(client, message([text("Hi")]));
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(texts(task.status?.message?.parts)).toEqual(["Hello."]);
    expect(task.artifacts.map(({ name, parts }) => [name, texts(parts)])).toEqual([["response", ["Hello."]]]);
  });
});

describe("a task", () => {
  test("that runs out of budget has failed, and says of what", async () => {
    const rounds = { ...asking, states: { work: [{ artifacts: { log: "more" }, event: "Again" }] } };
    const client = await clientOf(await servedDesk({ script: rounds }));
    const task = await started(client);
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_FAILED);
    expect(task.metadata).toMatchObject({ outcome: "budget_exhausted", limit: "max_total_visits" });
    expect(texts(task.artifacts[0]?.parts)).toContain("more");
  });

  test("whose model fails has failed", async () => {
    const broken = { states: { work: [{ fail: { status: 400 } }] } };
    const task = await started(await clientOf(await servedDesk({ script: broken })));
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_FAILED);
    expect(task.metadata).toMatchObject({ outcome: "failed" });
  });

  test("that cannot start is rejected with the reason, and can be read again", async () => {
    const client = await clientOf(await servedDesk());
    const asked = message([text("Please.")]);
    const task = await started(client, asked);
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_REJECTED);
    expect(texts(task.status?.message?.parts).join()).toContain("who");
    expect(await client.getTask({ ...none, id: task.id })).toEqual(task);
    expect((await started(client, asked)).id).toBe(task.id);
  });

  test("without a model is rejected", async () => {
    const task = await started(await clientOf(await servedDesk({ withoutModel: true })));
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_REJECTED);
    expect(task.metadata).toMatchObject({ reason: "cannot-start" });
  });

  test("that talks waits for a message", async () => {
    const talk = { states: { work: [{ text: "Hello. Who are you?" }, { text: "Hello, Ada." }] } };
    const client = await clientOf(await servedDesk({ script: talk }));
    const asked = { ...send(request()), metadata: { mode: "conversational" } };
    const task = (await client.sendMessage(asked)) as Task;
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(task.metadata).toMatchObject({ reason: "message" });
    expect(texts(task.status?.message?.parts)[0]).toBe("Hello. Who are you?");
    const next = (await client.sendMessage(send(message([text("Ada")], { taskId: task.id })))) as Task;
    expect(texts(next.status?.message?.parts)[0]).toBe("Hello, Ada.");
  });

  test("whose call needs approval shows the call and its hash, and takes the decision", async () => {
    const stamps = {
      states: {
        work: [{ calls: [{ tool: "stamp", args: { on: "it" } }] }, { event: "Done" }],
        end: [{ text: "Goodbye." }],
      },
      tools: { stamp: [{ ok: "stamped" }] },
    };
    const client = await clientOf(await servedDesk({ script: stamps, approvals: ["stamp"] }));
    const task = await started(client);
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(task.metadata).toMatchObject({ reason: "approval" });
    const [asked] = datas(task.status?.message?.parts);
    expect(asked).toMatchObject({ waiting_for: [{ tool: "stamp", args: { on: "it" } }] });
    const [{ sha256 }] = (asked?.["waiting_for"] ?? [{}]) as unknown as [{ sha256: string }];
    const decide = (value: JsonObject) =>
      client.sendMessage(send(message([data(value)], { taskId: task.id }))) as Promise<Task>;
    const wrong = await decide({ decision: "approve", sha256: "0".repeat(64) });
    expect(stateOf(wrong)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(stateOf(await decide({ decision: "approve", sha256 }))).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});
