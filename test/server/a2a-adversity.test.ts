// Clients of A2A that ask at once, again, in the wrong order and for what is not there: each task has one truth,
// and every request an answer.

import { type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { describe, expect, test } from "vitest";
import {
  asking,
  BINDINGS,
  clientOf,
  ending,
  message,
  request,
  send,
  servedDesk,
  started,
  text,
} from "./a2a-served.ts";
import type { Served } from "./served.ts";

const { TASK_STATE_COMPLETED: COMPLETED, TASK_STATE_CANCELED: CANCELED } = TaskState;
const { TASK_STATE_INPUT_REQUIRED: INPUT } = TaskState;

const say = (client: Client, taskId: string, word: string): Promise<Task> =>
  client.sendMessage(send(message([text(word)], { taskId }))) as Promise<Task>;

const factsOf = async (server: Served, run: string): Promise<readonly { type: string }[]> => {
  const rows = await server.store.rows(run, { from: 1, to: 10_000, limit: 10_000 });
  return rows.flatMap(({ facts }) => facts);
};

const both = async (server: Served): Promise<readonly Client[]> =>
  Promise.all(BINDINGS.map((binding) => clientOf(server, { binding })));

describe("many at once", () => {
  test("answers to one question over both bindings: one is taken, each hears how the task stands", async () => {
    const server = await servedDesk({ script: asking });
    const clients = await both(server);
    const { id } = await started(clients[0] as Client);
    const words = Array.from({ length: 16 }, () => "Yes");
    const said = await Promise.allSettled(
      words.map((word, index) => say(clients[index % 2] as Client, id, word)),
    );
    const entered = (await factsOf(server, id)).filter((fact) => "state" in fact && fact.state === "end");
    expect(entered).toHaveLength(1);
    const taken = said.filter(({ status }) => status === "fulfilled");
    expect(taken.length).toBeGreaterThan(0);
    for (const one of said)
      if (one.status === "rejected") expect(String(one.reason)).toMatch(/ended|takes no message|meanwhile/);
      else expect(one.value.id).toBe(id);
    expect((await (clients[0] as Client).getTask({ tenant: "", id })).status?.state).toBe(COMPLETED);
  });

  test("one message sent many times over both bindings is one task, and its answer one turn", async () => {
    const server = await servedDesk({ script: asking });
    const clients = await both(server);
    const first = request();
    const tasks = await Promise.all(
      Array.from({ length: 12 }, (_, index) => started(clients[index % 2] as Client, first)),
    );
    const ids = new Set(tasks.map(({ id }) => id));
    expect(ids.size).toBe(1);
    const [taskId = ""] = ids;
    const answer = send(message([text("Yes")], { taskId }));
    const ends = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (clients[index % 2] as Client).sendMessage(answer)),
    );
    for (const end of ends as Task[]) expect(end.status?.state).toBe(COMPLETED);
    expect((await server.get("/api/runs")).body["items"]).toHaveLength(1);
  });

  test("a cancel and an answer: whichever is first holds, and both hear the same end", async () => {
    const server = await servedDesk({ script: asking });
    const [rpcClient, restClient] = (await both(server)) as [Client, Client];
    const { id } = await started(rpcClient);
    await Promise.allSettled([
      say(rpcClient, id, "Yes"),
      restClient.cancelTask({ tenant: "", id, metadata: undefined }),
    ]);
    const [one, two] = await Promise.all([
      rpcClient.getTask({ tenant: "", id }),
      restClient.getTask({ tenant: "", id }),
    ]);
    expect([COMPLETED, CANCELED]).toContain(one.status?.state);
    expect(two.status?.state).toBe(one.status?.state);
    const finished = (await factsOf(server, id)).filter(({ type }) => type === "finished");
    expect(finished).toHaveLength(1);
  });
});

/** Artifacts and states in the order they came. */
const said = ({ payload }: StreamResponse): readonly string[] => {
  if (payload?.$case === "artifactUpdate") return [`artifact ${payload.value.artifact?.name}`];
  return payload?.$case === "statusUpdate" ? [`state ${payload.value.status?.state}`] : [];
};

describe.each(BINDINGS)("over %s", (binding) => {
  test("whoever is cut off again and again and comes back misses no end, and holds nothing", async () => {
    const server = await servedDesk({ script: asking });
    const client = await clientOf(server, { binding });
    const { id } = await started(client);
    for (let round = 0; round < 10; round++) {
      for await (const { payload } of client.resubscribeTask({ tenant: "", id })) {
        expect(payload).toMatchObject({ $case: "task", value: { id, status: { state: INPUT } } });
        break;
      }
    }
    const all: string[] = [];
    let answer: Promise<Task> | undefined;
    for await (const event of client.resubscribeTask({ tenant: "", id })) {
      if (event.payload?.$case === "task") answer = say(client, id, "Yes");
      all.push(...said(event));
    }
    expect((await answer)?.status?.state).toBe(COMPLETED);
    expect(all.at(-1)).toBe(`state ${COMPLETED}`);
    const again = client.resubscribeTask({ tenant: "", id });
    await expect(again.next()).rejects.toThrow(/has ended/);
  });

  test("what is not there, empty, out of place or too much is refused in the protocol's words", async () => {
    const server = await servedDesk({ script: ending });
    const client = await clientOf(server, { binding });
    const { id } = await started(client);
    const push = { tenant: "", taskId: id, id: "p", url: "https://example.org/", token: "" };
    const config = { ...push, authentication: undefined };
    const wrong: readonly [string, () => Promise<unknown>, RegExp][] = [
      ["an unknown task", () => client.getTask({ tenant: "", id: "r_none" }), /no task/],
      [
        "a task to cancel",
        () => client.cancelTask({ tenant: "", id: "r_none", metadata: undefined }),
        /no task/,
      ],
      ["an ended one", () => client.cancelTask({ tenant: "", id, metadata: undefined }), /has ended/],
      ["an answer to it", () => say(client, id, "Yes"), /has ended/],
      ["an answer to nothing", () => say(client, "r_none", "Yes"), /no task/],
      [
        "a history below nothing",
        () => client.getTask({ tenant: "", id, historyLength: -1 }),
        /historyLength/,
      ],
      [
        "a config of no task",
        () => client.createTaskPushNotificationConfig({ ...config, taskId: "x" }),
        /no task/,
      ],
      ["a config to nowhere", () => client.createTaskPushNotificationConfig({ ...config, url: "" }), /url/],
      [
        "no such config",
        () => client.getTaskPushNotificationConfig({ tenant: "", taskId: id, id: "q" }),
        /no push/,
      ],
    ];
    for (const [what, ask, words] of wrong) await expect(ask(), what).rejects.toThrow(words);
    await client.createTaskPushNotificationConfig(config);
    await client.createTaskPushNotificationConfig({ ...config, url: "https://example.org/2" });
    const list = () =>
      client.listTaskPushNotificationConfig({ tenant: "", taskId: id, pageSize: 0, pageToken: "" });
    expect((await list()).configs).toMatchObject([{ id: "p", url: "https://example.org/2" }]);
    for (let times = 0; times < 2; times++)
      await client.deleteTaskPushNotificationConfig({ tenant: "", taskId: id, id: "p" });
    expect((await list()).configs).toEqual([]);
  });
});
