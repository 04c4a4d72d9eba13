// A run whose model has no key: held, told to whoever looks, and going on once there is one.

import { type Task, TaskState } from "@a2a-js/sdk";
import { expect, test } from "vitest";
import { Fault, type ModelPort } from "../../src/engine/ports.ts";
import {
  asking,
  clientOf,
  data,
  ending,
  message,
  send,
  servedDesk,
  started,
  text,
  texts,
} from "./a2a-served.ts";
import { interrupts, post } from "./agui-page.ts";
import { leads, nested } from "./one-run-scene.ts";
import { temporaryFolder } from "./served.ts";

const { TASK_STATE_AUTH_REQUIRED: AUTH, TASK_STATE_COMPLETED: COMPLETED } = TaskState;

/** A model that has a key from some time on. */
function lockable(): { hasKey: boolean; calls: number; model: (inner: ModelPort) => ModelPort } {
  const lock = {
    ...{ hasKey: false, calls: 0 },
    model: (inner: ModelPort): ModelPort => ({
      call: async (asked, context) => {
        lock.calls += 1;
        if (!lock.hasKey) throw new Fault("no_key", "`a/b` needs a key (set A_KEY)", { retry: "never" });
        return inner.call(asked, context);
      },
    }),
  };
  return lock;
}

test("nothing is tried twice or spent, and an answer lets it go: with the key it ends, without it waits again", async () => {
  const lock = lockable();
  const server = await servedDesk({ script: ending, model: lock.model });
  const client = await clientOf(server);
  const { id: taskId, status } = await started(client);
  expect(status?.state).toBe(AUTH);
  expect(texts(status?.message?.parts).join("\n")).toContain("set A_KEY");
  const { body } = await server.get(`/api/runs/${taskId}`);
  expect(body).toMatchObject({
    ...{ status: "waiting", reason: null },
    held: { by: "packloop", reason: "no_key: `a/b` needs a key (set A_KEY)" },
    used: { input_tokens: 0, output_tokens: 0, cost_usd: 0 },
  });
  expect(lock.calls).toBe(1);
  const say = async (parts: Parameters<typeof message>[0]): Promise<Task> =>
    (await client.sendMessage(send(message(parts, { taskId })))) as Task;
  expect((await say([data(false)])).metadata).toHaveProperty("not_taken");
  expect((await say([text("sk-secret")])).metadata).toHaveProperty("not_taken");
  expect(lock.calls).toBe(1);
  expect((await say([data(true)])).status?.state).toBe(AUTH);
  expect(lock.calls).toBe(2);
  lock.hasKey = true;
  // It says "answer true", and people write words.
  expect((await say([text("True")])).status?.state).toBe(COMPLETED);
});

test("a server that has the key goes on by itself, and lets nothing go that somebody else holds", async () => {
  const folder = temporaryFolder();
  const lock = lockable();
  const first = await servedDesk({ script: asking, model: lock.model, folder });
  const client = await clientOf(first);
  lock.hasKey = true;
  const paused = await started(client);
  await first.post(`/api/runs/${paused.id}/pause`, {});
  lock.hasKey = false;
  const keyless = await started(client);
  expect(keyless.status?.state).toBe(AUTH);
  await first.stop();
  lock.hasKey = true;
  const second = await servedDesk({ script: asking, model: lock.model, folder });
  await second.until(keyless.id, ({ state }) => state === "gate");
  expect((await second.get(`/api/runs/${paused.id}`)).body["held"]).toMatchObject({ by: "api" });
});

test("the key that an agent lacks is asked for by whoever called it", async () => {
  const lock = lockable();
  const ofHelper = (inner: ModelPort): ModelPort => ({
    call: (asked, context) => (context.run.includes("/") ? lock.model(inner) : inner).call(asked, context),
  });
  const server = await servedDesk({ script: leads, pack: nested, model: ofHelper });
  const client = await clientOf(server, { agent: "nested/lead" });
  const { id } = await started(client);
  const yes = send(message([text("Yes")], { taskId: id }));
  const { status, metadata } = (await client.sendMessage(yes)) as Task;
  expect([status?.state, metadata?.["reason"]]).toEqual([AUTH, "auth_required"]);
  const page = await post(server, { threadId: id, runId: "1" });
  const [question] = interrupts(page);
  expect(question).toMatchObject({
    id: expect.stringMatching(/^\d+\/\d+$/),
    reason: "packloop:auth_required",
  });
  lock.hasKey = true;
  const resume = [{ interruptId: question?.["id"] ?? "", status: "resolved", payload: true }];
  const next = await post(server, { threadId: id, runId: "2", resume });
  expect(next.last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
});
