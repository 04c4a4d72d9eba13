// What a run may wait for, as its A2A task shows it, and how each is answered by a message.

import { type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { RunPorts } from "../../src/engine/dispatcher.ts";
import { Fault } from "../../src/engine/ports.ts";
import {
  clientOf,
  configuration,
  data,
  datas,
  message,
  request,
  send,
  servedDesk,
  started,
  text,
  texts,
} from "./a2a-served.ts";

const stamps: JsonObject = {
  states: {
    work: [{ calls: [{ tool: "stamp", args: { on: "it" } }] }, { event: "Done" }],
    end: [{ text: "Goodbye." }],
  },
};

const withTool = (call: RunPorts["tools"]["call"]) =>
  servedDesk({ script: stamps, tools: { knows: () => true, isSafe: () => false, call } });

const stateOf = ({ status }: Task): TaskState | undefined => status?.state;

const waitsOf = ({ status }: Task): readonly JsonObject[] =>
  datas(status?.message?.parts).flatMap(
    ({ waiting_for: waits }) => (waits ?? []) as unknown as readonly JsonObject[],
  );

const say = async (client: Client, { id }: Task, value: Json): Promise<Task> =>
  (await client.sendMessage(send(message([data(value)], { taskId: id })))) as Task;

const lost = () => Promise.reject(new Fault("cut", "the line was cut", { retry: "unknown" }));

describe("a call whose end is unknown", () => {
  test("is shown in doubt, and goes on with the result that is supplied", async () => {
    const client = await clientOf(await withTool(lost));
    const task = await started(client);
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(task.metadata).toMatchObject({ reason: "in_doubt" });
    expect(waitsOf(task)).toMatchObject([{ kind: "in_doubt", tool: "stamp", args: { on: "it" } }]);
    const done = await say(client, task, { decision: "result", result: "stamped" });
    expect(stateOf(done)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  test("is made again, or given up, on request", async () => {
    let calls = 0;
    const client = await clientOf(
      await withTool(async () => {
        calls++;
        return calls === 1 ? lost() : { ok: true, value: "stamped" };
      }),
    );
    const task = await say(client, await started(client), { decision: "retry" });
    expect([stateOf(task), calls]).toEqual([TaskState.TASK_STATE_COMPLETED, 2]);
    const other = await clientOf(await withTool(lost));
    const given = await say(other, await started(other), { decision: "abort" });
    expect(stateOf(given)).toBe(TaskState.TASK_STATE_FAILED);
    expect(given.metadata).toMatchObject({ outcome: "failed", reason: "aborted" });
  });
});

test("a call that is answered from elsewhere is work, and takes no message", async () => {
  const server = await withTool(async () => ({ deferred: true }));
  const client = await clientOf(server);
  const accepted = send(request(), configuration({ returnImmediately: true }));
  const { id } = (await client.sendMessage(accepted)) as Task;
  const { waiting_for: waits } = await server.until(id, ({ status }) => status === "waiting");
  const task = await client.getTask({ tenant: "", id });
  expect(stateOf(task)).toBe(TaskState.TASK_STATE_WORKING);
  expect(texts(task.status?.message?.parts)).toEqual(["waits for `stamp`"]);
  await expect(client.sendMessage(send(message([text("Yes")], { taskId: id })))).rejects.toMatchObject({
    envelopeCode: -32004,
  });
  await server.post(`/api/runs/${id}/answers/${waits[0]?.step}`, { result: "stamped" });
  await server.until(id, ({ status }) => status === "completed");
});

test("a tool that asks a person is answered by a text or by data", async () => {
  const answers: Json[] = [];
  const question = { text: "Which colour?" };
  const server = await withTool(async (_tool, _args, { input }) => {
    if (input === undefined) return { deferred: true, question };
    answers.push(input);
    return { ok: true, value: input };
  });
  const client = await clientOf(server);
  const task = await started(client);
  expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(waitsOf(task)).toMatchObject([{ kind: "answer", text: "Which colour?", asked: question }]);
  const done = (await client.sendMessage(send(message([text("Red")], { taskId: task.id })))) as Task;
  expect(stateOf(done)).toBe(TaskState.TASK_STATE_COMPLETED);
  const other = await started(client);
  const [{ question: id }] = waitsOf(other) as [JsonObject];
  await say(client, other, { question: id ?? "", answer: { colour: "blue" } });
  expect(answers).toEqual(["Red", { colour: "blue" }]);
});

const nested = `id: nested
name: Nested
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead: { id: lead, name: Lead, version: 1.0.0, system_template: "Lead.", tools: [helper] }
  helper: { id: helper, name: Helper, version: 1.0.0, system_template: "Help." }
workflow:
  version: 2
  entry: lead
  engine: { budget: { max_total_visits: 9, max_tool_calls: 9, max_wall_time_sec: 600 } }
  states:
    lead: { prompt_task: lead, on_event: { Done: end } }
    ask: { prompt_task: helper, orchestration: external, on_event: { Yes: end, More: ask } }
    end: { prompt_task: helper, terminal: true }
agents:
  entry: lead
  members: { lead: { state: lead }, helper: { state: ask } }
`;

const leads: JsonObject = {
  states: {
    lead: [{ calls: [{ tool: "helper", args: { query: "May I?" } }] }, { event: "Done" }],
    ask: [{ text: "May it?" }],
    end: [{ text: "It may." }],
  },
};

describe("an agent that a task has called", () => {
  test("asks through the task, and hears what is answered there", async () => {
    const client = await clientOf(await servedDesk({ script: leads, pack: nested }), {
      agent: "nested/lead",
    });
    const task = await started(client, message([text("Go")]));
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(waitsOf(task)).toMatchObject([{ kind: "event", events: ["Yes", "More"] }]);
    const again = (await client.sendMessage(send(message([text("More")], { taskId: task.id })))) as Task;
    expect(stateOf(again)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const yes = message([text("Yes")], { taskId: task.id });
    const done = (await client.sendMessage(send(yes))) as Task;
    expect(stateOf(done)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(((await client.sendMessage(send(yes))) as Task).id).toBe(task.id);
  });

  test("is no task of its own", async () => {
    const server = await servedDesk({ script: leads, pack: nested });
    const client = await clientOf(server, { agent: "nested/lead" });
    const { id } = await started(client, message([text("Go")]));
    const { body } = await server.get(`/api/runs?parent=${id}`);
    const [{ run }] = body["items"] as unknown as [{ run: string }];
    await expect(client.getTask({ tenant: "", id: run })).rejects.toMatchObject({ envelopeCode: -32001 });
    const listed = await client.listTasks({
      ...{ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" },
      statusTimestampAfter: undefined,
    });
    expect(listed.tasks.map((task) => task.id)).toEqual([id]);
  });

  test("is shown by a stream, and the stream goes on when it was answered", async () => {
    const server = await servedDesk({ script: leads, pack: nested });
    const client = await clientOf(server, { agent: "nested/lead" });
    const { id } = await started(client, message([text("Go")]));
    const states: (TaskState | undefined)[] = [];
    for await (const { payload } of client.sendMessageStream(send(message([text("Yes")], { taskId: id }))))
      if (payload?.$case === "statusUpdate") states.push(payload.value.status?.state);
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});

test("a fork of a task is a task that says where it is from", async () => {
  const server = await servedDesk();
  const client = await clientOf(server);
  const { id, contextId } = await started(client);
  const { body } = await server.post(`/api/runs/${id}/fork`, { turn: 1 });
  const fork = await client.getTask({ tenant: "", id: String(body["run"]) });
  expect([fork.contextId, fork.metadata]).toMatchObject([contextId, { forked_from: { run: id, turn: 1 } }]);
});
