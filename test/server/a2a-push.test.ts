// Push notifications of A2A: a client is told every update of its task, in order, at least once.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Task, TaskState } from "@a2a-js/sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { webhookPost } from "../../src/cli/runs/webhook-post.ts";
import type { PostRequest } from "../../src/server/webhook/webhook-sender.ts";
import {
  BINDINGS,
  clientOf,
  configuration,
  message,
  request,
  send,
  servedDesk,
  started,
  text,
} from "./a2a-served.ts";
import { leads, nested } from "./one-run-scene.ts";
import { temporaryFolder } from "./served.ts";

const url = "https://client.example/hook";

/** Takes what is sent, and answers as it is told to. */
class Receiver {
  readonly got: PostRequest[] = [];
  statuses: number[] = [];
  #seen: (() => void) | undefined;

  readonly post = async (sent: PostRequest) => {
    this.got.push(sent);
    this.#seen?.();
    return { kind: "answered" as const, status: this.statuses.shift() ?? 200 };
  };

  get updates(): readonly JsonObject[] {
    return this.got.map(({ body }) => JSON.parse(body) as JsonObject);
  }

  async until(wanted: (updates: readonly JsonObject[]) => boolean): Promise<void> {
    while (!wanted(this.updates))
      await new Promise<void>((resolve) => {
        this.#seen = resolve;
      });
  }
}

const config = (more: JsonObject = {}) => ({
  ...{ tenant: "", id: "", taskId: "", url, token: "", authentication: undefined },
  ...more,
});

const stateOf = (update: JsonObject | undefined): unknown => {
  const inner = (update?.["task"] ?? update?.["statusUpdate"]) as unknown as { status?: { state: string } };
  return inner?.status?.state;
};

const isAt = (state: string) => (updates: readonly JsonObject[]) => stateOf(updates.at(-1)) === state;

const asked = send(
  request(),
  configuration({
    taskPushNotificationConfig: {
      ...config({ token: "mine" }),
      authentication: { scheme: "Bearer", credentials: "secret" },
    },
  }),
);

describe.each(BINDINGS)("over %s", (binding) => {
  test("configs are made, read, listed and removed, and never show their credentials", async () => {
    const client = await clientOf(await servedDesk({ post: new Receiver().post }), { binding });
    const { id: taskId } = await started(client);
    const authentication = { scheme: "Bearer", credentials: "secret" };
    const made = await client.createTaskPushNotificationConfig({ ...config({ taskId }), authentication });
    expect(made).toMatchObject({ taskId, url, id: expect.stringMatching(/./) as string });
    const { id } = made;
    const get = () => client.getTaskPushNotificationConfig({ tenant: "", taskId, id });
    expect(await get()).toMatchObject({ id, url, authentication: { scheme: "Bearer" } });
    const list = async () =>
      (await client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" }))
        .configs;
    expect(JSON.stringify([await get(), await list()])).not.toContain("secret");
    expect(await list()).toHaveLength(1);
    const remove = () => client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id });
    await remove();
    await remove();
    expect(await list()).toEqual([]);
    await expect(get()).rejects.toThrow("no push notification config");
  });

  test("a config sent with the first message is told of the task from its beginning", async () => {
    const receiver = new Receiver();
    const client = await clientOf(await servedDesk({ post: receiver.post }), { binding });
    const task = (await client.sendMessage(asked)) as Task;
    await receiver.until(isAt("TASK_STATE_INPUT_REQUIRED"));
    expect(stateOf(receiver.updates[0])).toBe("TASK_STATE_SUBMITTED");
    expect(receiver.updates[0]).toMatchObject({ task: { id: task.id } });
    const artifacts = receiver.updates.flatMap(({ artifactUpdate }) =>
      artifactUpdate ? [artifactUpdate] : [],
    );
    expect(artifacts).toMatchObject([
      { artifact: { name: "note" } },
      { artifact: { name: "data" } },
      { artifact: { name: "log" } },
    ]);
    expect(receiver.got[0]?.headers).toMatchObject({
      authorization: "Bearer secret",
      "x-a2a-notification-token": "mine",
      "content-type": "application/a2a+json",
    });
    await client.sendMessage(send(message([text("Yes")], { taskId: task.id })));
    await receiver.until(isAt("TASK_STATE_COMPLETED"));
  });
});

test("a config made later hears only of what comes after it", async () => {
  const receiver = new Receiver();
  const client = await clientOf(await servedDesk({ post: receiver.post }));
  const { id: taskId } = await started(client);
  await client.createTaskPushNotificationConfig(config({ taskId }));
  await client.sendMessage(send(message([text("Yes")], { taskId })));
  await receiver.until(isAt("TASK_STATE_COMPLETED"));
  expect(receiver.updates.every((update) => update["task"] === undefined)).toBe(true);
  expect(receiver.updates.filter(({ statusUpdate }) => statusUpdate !== undefined).length).toBeLessThan(4);
});

test("what an agent of the task asks next is told, also where the task has no turn for it", async () => {
  const receiver = new Receiver();
  const server = await servedDesk({ post: receiver.post, script: leads, pack: nested });
  const client = await clientOf(server, { agent: "nested/lead" });
  const { id: taskId } = (await client.sendMessage(asked)) as Task;
  const questions = (updates: readonly JsonObject[]): ReadonlySet<string> =>
    new Set(updates.flatMap((one) => /"question":"[^"]+"/.exec(JSON.stringify(one))?.[0] ?? []));
  for (const count of [1, 2, 3]) {
    await receiver.until((updates) => questions(updates).size === count);
    const word = count < 3 ? "More" : "Yes";
    await client.sendMessage(send(message([text(word)], { taskId })));
  }
  await receiver.until(isAt("TASK_STATE_COMPLETED"));
});

test("an update that does not arrive is sent again before any other", async () => {
  const receiver = new Receiver();
  receiver.statuses = [500, 503, 200];
  const server = await servedDesk({ post: receiver.post, webhookPausesMs: [1, 1, 1] });
  await (await clientOf(server)).sendMessage(asked);
  await receiver.until(isAt("TASK_STATE_INPUT_REQUIRED"));
  const [one, two, three, four] = receiver.got.map(({ body }) => body);
  expect([two, three]).toEqual([one, one]);
  expect(four).not.toBe(one);
});

test("who says it is gone is told nothing more, and the task goes on", async () => {
  const receiver = new Receiver();
  receiver.statuses = [410];
  const client = await clientOf(await servedDesk({ post: receiver.post, webhookPausesMs: [1] }));
  const task = (await client.sendMessage(asked)) as Task;
  const done = (await client.sendMessage(send(message([text("Yes")], { taskId: task.id })))) as Task;
  expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(receiver.got).toHaveLength(1);
});

test("what was not told before a restart is told after it, and nothing that was", async () => {
  const folder = temporaryFolder();
  const deaf = new Receiver();
  deaf.statuses = [200, ...Array.from({ length: 5_000 }, () => 500)];
  const often = Array.from({ length: 5_000 }, () => 10);
  const before = await servedDesk({ folder, post: deaf.post, webhookPausesMs: often });
  await (await clientOf(before)).sendMessage(asked);
  await deaf.until((updates) => updates.length >= 3);
  await before.stop();
  const receiver = new Receiver();
  const pauses = { webhookPausesMs: [1] };
  const after = await servedDesk({ folder, post: receiver.post, ...pauses });
  await receiver.until(isAt("TASK_STATE_INPUT_REQUIRED"));
  expect(receiver.updates[0]).toEqual(deaf.updates[1]);
  await after.stop();
});

test("a receiver on this machine is told over HTTP, when that is allowed", async () => {
  const got: string[] = [];
  const heard = Promise.withResolvers<void>();
  const receiver = createServer((incoming, response) => {
    incoming.setEncoding("utf8").on("data", (chunk: string) => {
      got.push(`${incoming.headers.authorization} ${chunk}`);
      if (chunk.includes("INPUT_REQUIRED")) heard.resolve();
    });
    incoming.on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void receiver.close());
  await once(receiver, "listening");
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const client = await clientOf(await servedDesk({ post: webhookPost([host]) }));
  const authentication = { scheme: "Bearer", credentials: "secret" };
  const taskPushNotificationConfig = { ...config({ url: `http://${host}/` }), authentication };
  await client.sendMessage(send(request(), configuration({ taskPushNotificationConfig })));
  await heard.promise;
  expect(got[0]).toMatch(/^Bearer secret \{"task":/);
});

test("addresses that are none are refused before anything starts", async () => {
  const client = await clientOf(await servedDesk());
  for (const wrong of [
    "",
    "nowhere",
    "ftp://x.example/",
    "http://client.example/",
    "https://a:b@x.example/",
  ]) {
    const taskPushNotificationConfig = config({ url: wrong });
    const sent = send(request(), configuration({ taskPushNotificationConfig }));
    await expect(client.sendMessage(sent)).rejects.toMatchObject({ envelopeCode: -32602 });
  }
  const listed = await client.listTasks({
    ...{ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" },
    statusTimestampAfter: undefined,
  });
  expect(listed.totalSize).toBe(0);
});
