// Calls that are not over when they return. Each step is made by a fresh set of agents, as after a crash of the
// process that made the one before (S45–S47).

import { Task, TaskState } from "@a2a-js/sdk";
import { InMemoryTaskStore } from "@a2a-js/sdk/server";
import { describe, expect, test } from "vitest";
import { stepClosed } from "../../../src/engine/ports.ts";
import { faultOf } from "../mcp/bench.ts";
import { bench, context, followed, goOn, laterOf, NOW, step } from "./bench.ts";
import { type Does, type OwnAgent, ownAgent } from "./own-agent.ts";

const { TASK_STATE_WORKING, TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_AUTH_REQUIRED } =
  TaskState;

const works: Does = (turn) => turn.task(TASK_STATE_WORKING);
const asks: Does = (turn) => turn.task(TASK_STATE_INPUT_REQUIRED, "which colour?");

const messages = (agent: OwnAgent) =>
  agent.seen.flatMap(({ message }) => (message === undefined ? [] : [message["messageId"]]));

const taskOf = (answer: Parameters<typeof laterOf>[0]): string =>
  (laterOf(answer).handle as { task: string }).task;

/** Tasks that a test moves from outside, as an agent that works elsewhere does. */
class Desk extends InMemoryTaskStore {
  async move(id: string, status: object | undefined): Promise<void> {
    const call = { tenant: "", user: { userName: "", isAuthenticated: false } } as never;
    const task = await this.load(id, call);
    if (task === undefined) throw new Error(`no task ${id}`);
    const moved = Task.fromJSON({
      ...(Task.toJSON(task) as object),
      ...(status !== undefined && { status }),
    });
    await this.save(moved, call);
  }
}

const says = (state: string, text: string): object => ({
  state,
  timestamp: new Date(text.length).toISOString(),
  message: { messageId: text, role: "ROLE_AGENT", parts: [{ text }] },
});

describe("a task that takes its time", () => {
  test("is looked at less often the longer it runs", async () => {
    await using agent = await ownAgent({ does: works, streaming: false });
    const first = await step(agent.url);
    const pauseAt = async (now: number): Promise<number> =>
      (laterOf(await step(agent.url, goOn(first, { now }))).until ?? 0) - now;
    expect(await pauseAt(NOW + 2000)).toBe(1000);
    expect(await pauseAt(NOW + 300_000)).toBe(30_000);
    expect(await pauseAt(NOW + 90_000_000)).toBe(60_000);
  });

  test("is waited for over a stream without being asked again and again", async () => {
    const finish = Promise.withResolvers<void>();
    const does: Does = async (turn) => {
      turn.task(TASK_STATE_WORKING);
      await finish.promise;
      turn.status(TASK_STATE_COMPLETED, "at last");
    };
    await using agent = await ownAgent({ does });
    const first = await step(agent.url);
    const second = step(agent.url, goOn(first));
    await expect.poll(() => agent.seen.map(({ rpc }) => rpc)).toContain("SubscribeToTask");
    finish.resolve();
    expect(await second).toMatchObject({ ok: true, value: { response: "at last" } });
    expect(agent.seen.filter(({ rpc }) => rpc === "GetTask")).toHaveLength(2);
  });

  test("is polled where the stream breaks", async () => {
    await using agent = await ownAgent({ does: works });
    const first = await step(agent.url);
    // The package's server has no stream for a task whose executor has returned: it ends at once.
    expect(await step(agent.url, goOn(first))).toMatchObject({
      deferred: true,
      until: NOW + 1000,
      looks: true,
    });
  });

  test("is given up and cancelled after the time the binding sets", async () => {
    await using agent = await ownAgent({ does: works, streaming: false });
    const first = await step(agent.url);
    const options = { wait_sec: 60 };
    expect(await step(agent.url, goOn(first, { options, now: NOW + 59_000 }))).toMatchObject({
      deferred: true,
    });
    const late = await step(agent.url, goOn(first, { options, now: NOW + 60_000 }));
    expect(late).toMatchObject({ ok: false, code: "timeout" });
    expect(agent.seen.map(({ rpc }) => rpc)).toContain("CancelTask");
  });
});

describe("an agent that is away", () => {
  test("is waited for while it has a task, and its task is not sent again", async () => {
    const store = new Desk();
    await using agent = await ownAgent({ does: works, store });
    const first = await step(agent.url);
    agent.instead = (_request, response) => {
      response.writeHead(503).end();
      return true;
    };
    const away = await step(agent.url, goOn(first));
    expect(away).toMatchObject({ deferred: true, until: NOW + 1000, handle: { misses: 1 } });
    expect(await step(agent.url, goOn(away))).toMatchObject({ until: NOW + 2000, handle: { misses: 2 } });
    agent.instead = () => false;
    await store.move(taskOf(first), says("TASK_STATE_COMPLETED", "back"));
    expect(await step(agent.url, goOn(away))).toMatchObject({ ok: true, value: { response: "back" } });
    expect(messages(agent)).toEqual(["r_1/3"]);
  });

  test("is given up after an hour or so of nothing", async () => {
    await using agent = await ownAgent({ does: works });
    const first = await step(agent.url);
    agent.instead = (_request, response) => {
      response.writeHead(503).end();
      return true;
    };
    const handle = { ...(laterOf(first).handle as object), misses: 60 };
    expect(await faultOf(step(agent.url, { handle }))).toMatchObject({ retry: "later" });
  });

  test("before anything was sent is tried again by the dispatcher", async () => {
    const agent = await ownAgent({ does: works });
    await agent[Symbol.asyncDispose]();
    expect(await faultOf(step(agent.url))).toMatchObject({ code: "network", retry: "later" });
  });

  test.each([
    { status: 500, retry: "unknown" },
    { status: 502, retry: "unknown" },
    { status: 429, retry: "later" },
    { status: 403, retry: "never" },
  ])("and answers a message with status $status may be sent it again: $retry", async ({ status, retry }) => {
    await using agent = await ownAgent({ does: works });
    agent.instead = (request, response) => {
      if (request.method !== "POST") return false;
      response.writeHead(status).end("trouble");
      return true;
    };
    expect(await faultOf(step(agent.url))).toMatchObject({ retry });
  });

  test.each([true, false])(
    "and breaks off in its answer leaves it unknown, streaming %s",
    async (streaming) => {
      await using agent = await ownAgent({ does: works, streaming });
      agent.instead = (request, response) => {
        if (request.method !== "POST") return false;
        const type = streaming ? "text/event-stream" : "application/json";
        response.writeHead(200, { "content-type": type });
        response.write(": wait\n", () => response.destroy());
        return true;
      };
      expect(await faultOf(step(agent.url))).toMatchObject({ code: "connection_lost", retry: "unknown" });
    },
  );

  test("says nothing to a message until its time is over", async () => {
    await using agent = await ownAgent({ does: works });
    agent.instead = (request) => request.method === "POST";
    const options = { timeout_sec: 0.1 };
    expect(await faultOf(step(agent.url, { options }))).toMatchObject({ code: "timeout", retry: "unknown" });
  });
});

describe("a task that the agent forgot (S46)", () => {
  const forgetting = async (safe: boolean) => {
    await using agent = await ownAgent({ does: works });
    const handle = { task: "gone", context: "c", since: NOW };
    return { answer: await step(agent.url, { handle, safe }), sent: messages(agent) };
  };

  test("is sent again under the same name where that does no harm", async () => {
    const { answer, sent } = await forgetting(true);
    expect(answer).toMatchObject({ deferred: true, looks: true });
    expect(sent).toEqual(["r_1/3"]);
  });

  test("is for a person to decide else, who may have it sent again or give it up", async () => {
    const { answer, sent } = await forgetting(false);
    expect(answer).toMatchObject({ deferred: true, question: { choices: ["send again", "give up"] } });
    expect(sent).toEqual([]);
    // A crash on the way of the second message puts the call in doubt, as it does the first.
    expect(laterOf(answer).looks).toBeUndefined();
    await using agent = await ownAgent({ does: works });
    const up = await step(agent.url, goOn(answer, { input: "give up" }));
    expect(up).toMatchObject({ ok: false, code: "task_lost" });
    expect(await step(agent.url, goOn(answer, { input: "Send again" }))).toMatchObject({ deferred: true });
    expect(messages(agent)).toEqual(["r_1/3"]);
  });
});

describe("a question", () => {
  test("keeps its answer until the agent is there to take it", async () => {
    const store = new Desk();
    const does: Does = (turn) => {
      if (!turn.isAnswer) return asks(turn);
      turn.task(TASK_STATE_WORKING);
      return turn.status(TASK_STATE_COMPLETED, turn.text);
    };
    await using agent = await ownAgent({ does, store });
    const asked = await followed(agent.url);
    agent.instead = (_request, response) => {
      response.writeHead(503).end();
      return true;
    };
    const kept = await step(agent.url, goOn(asked, { input: { colour: "blue" } }));
    expect(kept).toMatchObject({ deferred: true, handle: { reply: { colour: "blue" } } });
    agent.instead = () => false;
    const done = await followed(agent.url, goOn(kept));
    expect(done).toMatchObject({ ok: true, value: { response: '{"colour":"blue"}' } });
    expect(messages(agent)).toEqual(["r_1/3", "r_1/3/1"]);
  });

  test("that was answered before a crash is not answered again", async () => {
    const store = new Desk();
    await using agent = await ownAgent({ does: asks, store, streaming: false });
    const asked = await followed(agent.url);
    await store.move(taskOf(asked), says("TASK_STATE_WORKING", "painting"));
    const again = await step(agent.url, goOn(asked, { input: "blue" }));
    expect(again).toMatchObject({ deferred: true });
    expect(laterOf(again).question).toBeUndefined();
    await store.move(taskOf(asked), says("TASK_STATE_INPUT_REQUIRED", "glossy?"));
    const next = await step(agent.url, goOn(asked, { input: "blue" }));
    expect(laterOf(next).question).toMatchObject({ text: "glossy?" });
    expect(messages(agent)).toEqual(["r_1/3"]);
  });

  test("that somebody else answers is over for us, too", async () => {
    const store = new Desk();
    await using agent = await ownAgent({ does: asks, store });
    const asked = await followed(agent.url);
    expect(laterOf(asked).until).toBe(NOW + 60_000);
    await store.move(taskOf(asked), says("TASK_STATE_COMPLETED", "red then"));
    expect(await step(agent.url, goOn(asked))).toMatchObject({ ok: true, value: { response: "red then" } });
  });

  test("that is still shown after its answer is asked again in the end", async () => {
    const store = new Desk();
    const same = says("TASK_STATE_INPUT_REQUIRED", "which colour?");
    await using agent = await ownAgent({ does: asks, store, streaming: false });
    const first = await step(agent.url);
    await store.move(taskOf(first), same);
    let answer = await step(agent.url, goOn(first));
    expect(laterOf(answer).question).toMatchObject({ text: "which colour?" });
    answer = await step(agent.url, goOn(answer, { input: "plaid" }));
    const looks: boolean[] = [];
    for (let look = 0; look < 5; look++) {
      await store.move(taskOf(first), same);
      answer = await step(agent.url, goOn(answer));
      looks.push(laterOf(answer).question !== undefined);
    }
    expect(looks.slice(0, 4)).toEqual([false, false, false, true]);
    expect(messages(agent)).toHaveLength(2);
  });

  test("for credentials is settled outside, and no secret passes through the run", async () => {
    const store = new Desk();
    const does: Does = (turn) => turn.task(TASK_STATE_AUTH_REQUIRED, "sign in at https://id.example");
    await using agent = await ownAgent({ does, store });
    const asked = await followed(agent.url);
    expect(laterOf(asked).question).toMatchObject({
      text: expect.stringContaining("sign in at https://id.example"),
      schema: { type: "boolean" },
    });
    const told = await step(agent.url, goOn(asked, { input: true }));
    expect(messages(agent)).toEqual(["r_1/3"]);
    await store.move(taskOf(asked), says("TASK_STATE_COMPLETED", "signed in"));
    expect(await step(agent.url, goOn(told))).toMatchObject({ ok: true, value: { response: "signed in" } });
  });
});

describe("a call that is given up", () => {
  test("for good while its message is under way ends what it began", async () => {
    const begun = Promise.withResolvers<void>();
    const goOnNow = Promise.withResolvers<void>();
    const does: Does = async (turn) => {
      begun.resolve();
      await goOnNow.promise;
      turn.task(TASK_STATE_WORKING);
      await new Promise(() => {});
    };
    await using agent = await ownAgent({ does });
    const abort = new AbortController();
    const call = step(agent.url, { signal: abort.signal });
    await begun.promise;
    abort.abort(stepClosed);
    goOnNow.resolve();
    await expect(call).rejects.toBe(stepClosed);
    expect(agent.cancelled).toHaveLength(1);
  });

  test("because the process stops leaves the task alone", async () => {
    const does: Does = async (turn) => {
      turn.task(TASK_STATE_WORKING);
      await new Promise(() => {});
    };
    await using agent = await ownAgent({ does });
    const first = await step(agent.url);
    const abort = new AbortController();
    const call = step(agent.url, goOn(first, { signal: abort.signal }));
    await expect.poll(() => agent.seen.map(({ rpc }) => rpc)).toContain("SubscribeToTask");
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    expect(agent.cancelled).toEqual([]);
  });

  test("is told to an agent that is away until it has heard it", async () => {
    await using agent = await ownAgent({ does: works });
    const { handle = null } = laterOf(await step(agent.url));
    agent.instead = (_request, response) => {
      response.writeHead(502).end();
      return true;
    };
    const stop = bench().bind({ agent: agent.url }).tool.stop?.(context({ handle }));
    expect(await faultOf(stop ?? Promise.resolve())).toMatchObject({ retry: "later" });
  });
});
