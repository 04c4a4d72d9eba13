// Calls of a remote agent over both bindings, streamed and polled: what is sent, and what a task comes to.

import { TaskState } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import { bench, context, followed, goOn, laterOf, NOW, step } from "./bench.ts";
import {
  type AgentOptions,
  type Does,
  dataPart,
  type OwnAgent,
  ownAgent,
  rawPart,
  textPart,
} from "./own-agent.ts";

const { TASK_STATE_WORKING, TASK_STATE_COMPLETED } = TaskState;

const writes: Does = (turn) => {
  turn.task(TASK_STATE_WORKING);
  turn.artifact("note", [textPart(`noted: ${turn.text}`)]);
  turn.status(TASK_STATE_COMPLETED, "written");
};

const hangs: Does = async (turn) => {
  turn.task(TASK_STATE_WORKING);
  await new Promise(() => {});
};

const sent = (agent: OwnAgent) =>
  agent.seen.flatMap(({ message }) => (message === undefined ? [] : [message]));

const WAYS: readonly Pick<AgentOptions, "bindings" | "streaming">[] = [
  { bindings: ["JSONRPC"], streaming: true },
  { bindings: ["JSONRPC"], streaming: false },
  { bindings: ["HTTP+JSON"], streaming: true },
  { bindings: ["HTTP+JSON"], streaming: false },
];

describe.each(WAYS)("over $bindings, streaming $streaming", (way) => {
  test("a task is named at once, followed by its name, and gives its text and artifacts", async () => {
    await using agent = await ownAgent({ ...way, does: writes });
    const first = await step(agent.url);
    expect(first).toMatchObject({ deferred: true, until: NOW, looks: true, stoppable: true });
    const task = (laterOf(first).handle as { task: string }).task;
    expect(task).not.toBe("");
    expect(await followed(agent.url, goOn(first))).toEqual({
      ok: true,
      value: { status: "completed", response: "written", artifacts: { note: "noted: write" } },
    });
    expect(sent(agent)).toHaveLength(1);
  });

  test("the message is named by run and step, and every request says its version", async () => {
    await using agent = await ownAgent({ ...way, does: writes });
    await followed(agent.url);
    expect(sent(agent)).toMatchObject([
      { messageId: "r_1/3", role: "ROLE_USER", parts: [{ text: "write" }] },
    ]);
    expect(agent.seen.map(({ headers }) => headers["a2a-version"])).toEqual(agent.seen.map(() => "1.0"));
  });

  test("every request says which trace the call is in", async () => {
    await using agent = await ownAgent({ ...way, does: writes });
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const headers = { traceparent, tracestate: "rojo=1" };
    const part = () => Promise.reject(new Error("none"));
    const trace = { headers, note: () => undefined, part };
    await followed(agent.url, { trace });
    expect(agent.seen.length).toBeGreaterThan(1);
    for (const request of agent.seen) expect(request.headers).toMatchObject(headers);
  });

  test("an agent may answer without a task", async () => {
    await using agent = await ownAgent({ ...way, does: (turn) => turn.reply("at once") });
    expect(await step(agent.url)).toEqual({
      ok: true,
      value: { status: "completed", response: "at once", artifacts: {} },
    });
  });

  test.each([
    { state: TaskState.TASK_STATE_FAILED, code: "task_failed" },
    { state: TaskState.TASK_STATE_REJECTED, code: "task_rejected" },
    { state: TaskState.TASK_STATE_CANCELED, code: "task_cancelled" },
  ])("a task that ends $code is an error for the model", async ({ state, code }) => {
    const does: Does = (turn) => turn.task(state, "no paper");
    await using agent = await ownAgent({ ...way, does });
    const answer = await followed(agent.url);
    expect(answer).toMatchObject({ ok: false, code, message: expect.stringContaining("no paper") });
  });

  test("a task that the agent asks in is answered by a message to the same task", async () => {
    const does: Does = (turn) => {
      if (!turn.isAnswer) return turn.task(TaskState.TASK_STATE_INPUT_REQUIRED, "which colour?");
      turn.task(TASK_STATE_WORKING);
      return turn.status(TASK_STATE_COMPLETED, `painted ${turn.text}`);
    };
    await using agent = await ownAgent({ ...way, does });
    const asked = await followed(agent.url);
    expect(laterOf(asked).question).toMatchObject({ text: "which colour?" });
    const done = await followed(agent.url, goOn(asked, { input: "blue" }));
    expect(done).toMatchObject({ ok: true, value: { response: "painted blue" } });
    const handle = laterOf(asked).handle as { task: string; context: string };
    expect(sent(agent)[1]).toMatchObject({
      messageId: "r_1/3/1",
      taskId: handle.task,
      contextId: handle.context,
      parts: [{ text: "blue" }],
    });
  });

  test("a task is cancelled when nobody waits for it any more", async () => {
    await using agent = await ownAgent({ ...way, does: hangs });
    const first = await step(agent.url);
    const { handle = null } = laterOf(first);
    await bench().bind({ agent: agent.url }).tool.stop?.(context({ handle }));
    expect(agent.cancelled).toEqual([(handle as { task: string }).task]);
    // Again, as after a crash in between: it is over, and that is fine.
    await bench().bind({ agent: agent.url }).tool.stop?.(context({ handle }));
  });
});

describe("what goes in", () => {
  test.each([
    { args: { query: "hi" }, parts: [{ text: "hi" }] },
    { args: { query: "hi", variables: { n: 1 } }, parts: [{ text: "hi" }, { data: { n: 1 } }] },
    { args: { query: "hi", city: "Rome" }, parts: [{ text: "hi" }, { data: { city: "Rome" } }] },
    { args: { message: "hi" }, parts: [{ text: "hi" }] },
    { args: { city: "Rome" }, parts: [{ text: '{"city":"Rome"}' }] },
    { args: JSON.parse('{"query": "hi", "__proto__": 1}') as never, parts: [{ text: "hi" }, { data: {} }] },
  ])("$args is sent as $parts", async ({ args, parts }) => {
    await using agent = await ownAgent({ does: writes });
    await step(agent.url, { args });
    expect(sent(agent)[0]).toMatchObject({ parts });
  });
});

describe("what comes out", () => {
  test("data, files and several parts are kept apart, and files are described", async () => {
    const does: Does = (turn) => {
      turn.task(TASK_STATE_WORKING);
      turn.artifact("sum", [dataPart({ total: 3 })]);
      turn.artifact("both", [textPart("a"), dataPart(null)]);
      turn.artifact("picture", [rawPart(Buffer.from("png"))]);
      turn.status(TASK_STATE_COMPLETED, "done", [dataPart({ more: true })]);
    };
    await using agent = await ownAgent({ does });
    expect(await followed(agent.url)).toEqual({
      ok: true,
      value: {
        status: "completed",
        response: "done",
        artifacts: {
          sum: { total: 3 },
          both: ["a", null],
          picture: {
            bytes: 3,
            sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
            name: "x.png",
            mime_type: "image/png",
          },
        },
        data: { more: true },
      },
    });
  });

  test("what is too long is cut and says by how much", async () => {
    await using agent = await ownAgent({ does: (turn) => turn.reply("x".repeat(5000)) });
    const answer = await step(agent.url, { options: { max_result_bytes: 1024 } });
    const response = expect.stringMatching(/^x{1024}\n\[cut: 3976 of 5000 bytes left out\]$/);
    expect(answer).toMatchObject({ ok: true, value: { response } });
  });

  test("secrets that an agent sends back stay out", async () => {
    await using agent = await ownAgent({ does: (turn) => turn.reply("your token is tok-123456") });
    const on = bench();
    on.env.set("CLERK_TOKEN", "tok-123456");
    const { tool } = on.bind({ agent: { url: agent.url, bearer_env: "CLERK_TOKEN" } });
    const answer = await tool.call({ query: "hi" }, context());
    expect(answer).toMatchObject({ ok: true, value: { response: "your token is [CLERK_TOKEN]" } });
    expect(agent.seen.map(({ headers }) => headers.authorization)).toEqual(
      agent.seen.map(() => "Bearer tok-123456"),
    );
  });
});
