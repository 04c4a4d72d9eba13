// The queue in its file: order, retries, duplicates, and the transaction that ends a job (section 6).

import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { enqueue } from "../../src/gateway/queue/enqueue.ts";
import {
  type Context,
  type Job,
  type JobStatus,
  type NewJob,
  NO_CONTEXT,
} from "../../src/gateway/queue/job.ts";
import { claim, contextOf, jobById, jobTree, listJobs, stateOf } from "../../src/gateway/queue/jobs.ts";
import { lastNotice, noticesAfter } from "../../src/gateway/queue/notices.ts";
import { QueueFile } from "../../src/gateway/queue/queue-file.ts";
import { settle } from "../../src/gateway/queue/settle.ts";
import type { Outcome } from "../../src/gateway/router/outcome.ts";
import { temporaryFolder } from "./gateway-folder.ts";

const TTL = 1_000;
const trace = { exitCode: 0, document: null, stderr: "" };

function openQueue(path = join(temporaryFolder(), "state.db")) {
  let made = 0;
  const file = new QueueFile({ path, newId: () => `id-${String(++made).padStart(5, "0")}` });
  onTestFinished(() => file[Symbol.dispose]());
  return file;
}

const newJob = (change: Partial<NewJob> = {}): NewJob => ({
  ...{ plugin: "it", command: "handle", payload: {}, submittedBy: "route", dedupeKey: null, pipeline: "p" },
  ...{ stepId: "s", instanceId: null, sourceEventId: null, context: NO_CONTEXT, maxAttempts: 4, ...change },
});

const put = (file: QueueFile, job: NewJob, now = 0, parent: Job | null = null) =>
  file.transaction(() => enqueue(file, job, { now, dedupeTtlMs: TTL, parent, stored: new Map() }), {
    durable: false,
  });

const ok = (jobs: readonly NewJob[] = [], state?: JsonObject): Outcome => ({
  ...{ kind: "succeeded", result: "r", jobs, dropped: [] },
  state: state === undefined ? undefined : JSON.stringify(state),
});

function close(file: QueueFile, job: Job, outcome: Outcome, now: number): boolean {
  return settle(file, job, { outcome, trace, terms: { now, dedupeTtlMs: TTL } });
}

function claimed(file: QueueFile, now: number): Job {
  const job = claim(file, now);
  if (job === undefined) throw new Error("no job");
  return job;
}

describe("order", () => {
  test("is that of arrival, also of a thousand jobs in one millisecond (Q1)", () => {
    const file = openQueue();
    const ids = Array.from({ length: 1_000 }, (_, n) => put(file, newJob({ payload: { n } }), 5).id);
    const order: string[] = [];
    for (let job = claim(file, 5); job !== undefined; job = claim(file, 5)) {
      order.push(job.id);
      close(file, job, ok(), 5);
    }
    expect(order).toEqual(ids);
  });

  test("lets others pass a job that waits for its retry, which goes first once it is due (Q2)", () => {
    const file = openQueue();
    const [a, b, c] = [put(file, newJob()).id, put(file, newJob()).id, put(file, newJob()).id];
    const first = claimed(file, 1);
    close(file, first, { kind: "again", code: "x", message: "m", at: 100 }, 1);
    expect(claimed(file, 2).id).toBe(b);
    expect(claimed(file, 100)).toMatchObject({ id: a, attempt: 2, status: "running" });
    expect(claimed(file, 100).id).toBe(c);
    expect(claim(file, 100)).toBeUndefined();
  });
});

describe("a key stops a second job (Q4):", () => {
  const end: Readonly<Record<string, Outcome>> = {
    succeeded: ok(),
    failed: { kind: "ended", status: "failed", code: "x", message: "m", jobs: [] },
    timed_out: { kind: "ended", status: "timed_out", code: "x", message: "m", jobs: [] },
    dead: { kind: "ended", status: "dead", code: "x", message: "m", jobs: [] },
    queued: { kind: "again", code: "x", message: "m", at: 9_999 },
  };

  test.each<[string, JobStatus | undefined, number, boolean]>([
    ["queued", undefined, 10, true],
    ["running", "running", 10, true],
    ["waiting for a retry", "queued", 10, true],
    ["succeeded a moment ago", "succeeded", 10, true],
    ["succeeded, at the end of the window", "succeeded", TTL + 4, true],
    ["succeeded, after the window", "succeeded", TTL + 6, false],
    ["failed", "failed", 10, false],
    ["timed out", "timed_out", 10, false],
    ["dead", "dead", 10, false],
  ])("the first is %s", (_, status, now, isDuplicate) => {
    const file = openQueue();
    const first = put(file, newJob({ dedupeKey: "k" }), 0);
    if (status !== undefined) {
      const job = claimed(file, 1);
      const outcome = end[status];
      if (outcome !== undefined) close(file, job, outcome, 5);
    }
    const second = put(file, newJob({ dedupeKey: "k" }), now);
    expect(second.isDuplicate).toBe(isDuplicate);
    expect(second.id === first.id).toBe(isDuplicate);
    const told = noticesAfter(file, 0).filter(({ name }) => name === "job.deduped");
    expect(told).toHaveLength(isDuplicate ? 1 : 0);
  });

  test.each<[string, Partial<NewJob>]>([
    ["another key", { dedupeKey: "other" }],
    ["another pipeline", { pipeline: "q" }],
    ["no pipeline", { pipeline: null, stepId: null }],
    ["another step", { stepId: "t" }],
    ["another plugin", { plugin: "that" }],
    ["another command", { command: "poll" }],
    ["no key", { dedupeKey: null }],
  ])("%s is another job", (_, change) => {
    const file = openQueue();
    put(file, newJob({ dedupeKey: "k" }));
    expect(put(file, newJob({ dedupeKey: "k", ...change })).isDuplicate).toBe(false);
  });

  test("the emitting job succeeds all the same", () => {
    const file = openQueue();
    put(file, newJob({ dedupeKey: "k", plugin: "next" }));
    put(file, newJob());
    claimed(file, 1);
    const job = claimed(file, 1);
    expect(close(file, job, ok([newJob({ dedupeKey: "k", plugin: "next" })]), 2)).toBe(true);
    expect(jobById(file, job.id)?.status).toBe("succeeded");
    expect(listJobs(file, { limit: 10 })).toHaveLength(2);
  });

  test("attempt 2 of a step is not taken for attempt 1, which succeeded (Q5)", () => {
    const file = openQueue();
    put(file, newJob({ dedupeKey: "agentic:run:R:step:1:request" }));
    close(file, claimed(file, 1), ok(), 2);
    expect(put(file, newJob({ dedupeKey: "agentic:run:R:step:1:attempt:2:request" }), 3).isDuplicate).toBe(
      false,
    );
  });
});

describe("the end of a job", () => {
  test("brings state, children, contexts and notices, or none of them", () => {
    const file = openQueue();
    put(file, newJob());
    const job = claimed(file, 1);
    const before = lastNotice(file);
    const context: Context = { id: null, body: { a: 1 }, replyTo: null };
    const broken = newJob({ plugin: undefined as unknown as string, context });
    expect(() => close(file, job, ok([newJob({ context }), broken], { n: 1 }), 2)).toThrow(/cannot be bound/);
    expect(jobById(file, job.id)?.status).toBe("running");
    expect({ state: stateOf(file, "it"), notice: lastNotice(file) }).toEqual({ state: "{}", notice: before });
    expect(close(file, job, ok([newJob({ context, sourceEventId: "e" })], { n: 1 }), 2)).toBe(true);
    const [, child] = jobTree(file, job.id);
    expect(child).toMatchObject({
      status: "queued",
      parentJobId: job.id,
      rootJobId: job.id,
      workspaceId: job.id,
    });
    expect(contextOf(file, child as Job).body).toEqual({ a: 1 });
    expect(stateOf(file, "it")).toBe('{"n":1}');
  });

  test("is discarded when the job was taken up by somebody else", () => {
    const file = openQueue();
    put(file, newJob());
    const job = claimed(file, 1);
    close(file, job, { kind: "again", code: "x", message: "m", at: null }, 2);
    const second = claimed(file, 3);
    expect(close(file, job, ok([newJob()], { n: 1 }), 4)).toBe(false);
    expect(stateOf(file, "it")).toBe("{}");
    expect(close(file, second, ok(), 5)).toBe(true);
    expect(close(file, second, ok([newJob()]), 6)).toBe(false);
    expect(listJobs(file, { limit: 10 })).toHaveLength(1);
  });

  test("queues one child for an event and a target, also when the event is there twice", () => {
    const file = openQueue();
    put(file, newJob());
    const same = newJob({ sourceEventId: "e", plugin: "next" });
    const jobs = [
      same,
      same,
      { ...same, stepId: "other" },
      { ...same, plugin: "more" },
      { ...same, pipeline: null },
    ];
    close(file, claimed(file, 1), ok(jobs), 2);
    expect(listJobs(file, { limit: 10 })).toHaveLength(5);
  });

  test("a request of a poll returns to the folder of its run", () => {
    const file = openQueue();
    const start = put(file, newJob()).id;
    close(file, claimed(file, 1), ok(), 2);
    put(file, newJob({ command: "poll" }));
    const poll = claimed(file, 3);
    const ref = (id: string): Context => ({
      id: null,
      body: { agentic: { workspace_ref: `job:${id}` } },
      replyTo: "it",
    });
    const jobs = [
      newJob({ context: ref(start) }),
      newJob({ context: ref("../../etc") }),
      newJob({ context: { ...ref(start), replyTo: null } }),
    ];
    close(file, poll, ok(jobs), 4);
    const [, ...children] = jobTree(file, poll.id);
    expect(children.map(({ workspaceId }) => workspaceId)).toEqual([start, poll.id, poll.id]);
  });
});

describe("the file", () => {
  test("is one gateway's at a time, and readers are let in (Q11)", () => {
    const path = join(temporaryFolder(), "state.db");
    const file = openQueue(path);
    put(file, newJob());
    expect(() => openQueue(path)).toThrow(expect.objectContaining({ code: "store-locked" }));
    using reader = new QueueFile({ path, newId: () => "", readOnly: true });
    expect(listJobs(reader, { limit: 10 })).toHaveLength(1);
    file[Symbol.dispose]();
    expect(listJobs(openQueue(path), { limit: 10 })).toHaveLength(1);
  });

  test("of somebody else is refused, and one that is not there is not made for a reader", () => {
    const folder = temporaryFolder();
    const reading = (path: string) => () => new QueueFile({ path, newId: () => "", readOnly: true });
    expect(reading(join(folder, "none.db"))).toThrow(expect.objectContaining({ code: "store-empty" }));
    expect(() => openQueue(folder)).toThrow(expect.objectContaining({ code: "gateway-state" }));
  });
});
