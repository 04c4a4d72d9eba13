// What follows a job: targets, contexts, error results, and what is never routed (sections 8, 10, 15.2).

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Job, NewJob } from "../../src/gateway/queue/job.ts";
import { type Following, resultFor, whatFollows } from "../../src/gateway/router/follow.ts";
import { filled, hop } from "../../src/gateway/router/hop.ts";
import {
  backoff,
  crashOutcome,
  type JobFailure,
  mergedState,
  outcomeOf,
} from "../../src/gateway/router/outcome.ts";
import { agentContext, ended, sampleCatalog } from "./sample-job.ts";

const tools = `
- { name: tool-x, on: agentic.tool_request.x, steps: [{ id: tool, uses: x }, { id: resume, uses: agentic-loop }] }
- { name: start, on: agentic.start, steps: [{ id: agent, uses: agentic-loop }] }
- { name: done, on: agent.completed, steps: [{ id: tell, uses: notify }] }
`;
const catalog = sampleCatalog(tools);
const request = (payload: JsonObject = {}, type = "agentic.tool_request.x") => ({
  ...{ type, dedupe_key: "agentic:run:R:step:1:request" },
  payload: { run_id: "R", step: 1, tool: "x", attempt: 1, ...payload },
});
const agentic = { v: 1, run_id: "R", step: 1, tool: "x", attempt: 1 };
const tool: Partial<Job> = { plugin: "x", pipeline: "tool-x", stepId: "tool" };

function following(value: ReturnType<typeof whatFollows>): Following {
  if ("code" in value) throw new Error(value.message);
  return value;
}

const follows = (
  from: ReturnType<typeof ended>,
  events: readonly { type: string; payload: JsonObject }[],
  of = catalog,
  result?: string,
): Following => following(whatFollows(from, { events, result }, of));

const places = (jobs: readonly NewJob[]) =>
  jobs.map(({ plugin, pipeline, stepId }) => `${pipeline ?? ""}/${stepId ?? ""}=${plugin}`);

const event = (type: string, payload: JsonObject = {}) => ({ type, payload });

describe("targets", () => {
  const some = sampleCatalog(
    `
- { name: b, on: go, steps: [{ id: 1, uses: one }, { id: 2, uses: two }] }
- { name: a, on: go, steps: [{ id: 1, uses: three }] }
- { name: c, on: gone, steps: [{ id: 1, uses: four }] }
- { name: s, on: split, steps: [{ id: 0, uses: zero }, { split: [{ id: 1, uses: one }, { id: 2, uses: two }] }, { id: 3, uses: three }] }
`.replaceAll(/id: (\d)/g, "id: n$1"),
  );

  test.each([
    ["successors whatever the type", { pipeline: "b", stepId: "n1" }, ["anything"], ["b/n2=two"]],
    ["pipelines by the exact type, sorted by name", {}, ["go"], ["a/n1=three", "b/n1=one"]],
    ["no prefix and no wildcard", {}, ["go.x", "g", "*"], []],
    ["both at once", { pipeline: "b", stepId: "n1" }, ["gone"], ["b/n2=two", "c/n1=four"]],
    ["each event in order", { pipeline: "b", stepId: "n1" }, ["x", "y"], ["b/n2=two", "b/n2=two"]],
    ["every branch of a split", { pipeline: "s", stepId: "n0" }, ["x"], ["s/n1=one", "s/n2=two"]],
    ["what follows a split, from each branch", { pipeline: "s", stepId: "n2" }, ["x"], ["s/n3=three"]],
    ["nothing after the last step", { pipeline: "b", stepId: "n2" }, ["x"], []],
    ["nothing for a step that is gone", { pipeline: "b", stepId: "old" }, ["x"], []],
  ])("%s (R1, R3)", (_, job, types, targets) => {
    const { jobs } = follows(
      ended(job),
      types.map((type) => event(type)),
      some,
    );
    expect(places(jobs)).toEqual(targets);
  });

  test("a target that is both next and an entry is queued once, as the next", () => {
    const loop = sampleCatalog(
      "[{ name: p, on: x, steps: [{ id: a, uses: a }, { split: [{ id: b, uses: b }] }] }, { name: q, on: y, steps: [{ id: a, uses: a }, { id: c, uses: c }] }]",
    );
    const { jobs } = follows(ended({ pipeline: "p", stepId: "a" }), [event("x")], loop);
    expect(jobs.map(({ instanceId }) => instanceId)).toEqual(["instance", "new-1"]);
  });

  test("entering a pipeline makes an instance, and successors stay in theirs", () => {
    const { jobs } = follows(ended({ pipeline: "b", stepId: "n1" }), [event("go"), event("go")], some);
    expect(jobs.map(({ pipeline, instanceId }) => [pipeline, instanceId])).toEqual([
      ["b", "instance"],
      ["a", "new-1"],
      ["b", "new-2"],
      ["b", "instance"],
      ["a", "new-3"],
      ["b", "new-4"],
    ]);
  });

  test("an event keeps its own id and key, and gets an id where it has none", () => {
    const own = { ...event("go"), event_id: "mine", dedupe_key: "k" };
    const { jobs } = follows(ended({ id: "j" }), [own, event("go")], some);
    expect(jobs[0]).toMatchObject({ sourceEventId: "mine", dedupeKey: "k", submittedBy: "route" });
    expect(jobs[0]?.payload).toEqual({
      ...{ type: "go", payload: {}, dedupe_key: "k", event_id: "mine", source: "it" },
      timestamp: "1970-01-01T00:00:00.000Z",
    });
    expect(jobs.at(-1)).toMatchObject({ sourceEventId: "j.1", dedupeKey: null });
  });
});

describe("a job without events (R2):", () => {
  const plain = sampleCatalog("[{ name: p, on: go, steps: [{ id: a, uses: a }, { id: b, uses: b }] }]");
  const at = { pipeline: "p", stepId: "a" };

  test("its successors hear that it succeeded, with or without a text", () => {
    const { jobs } = follows(ended(at), [], plain, "did it");
    expect(places(jobs)).toEqual(["p/b=b"]);
    expect(jobs[0]?.payload).toMatchObject({ type: "gateway.step.succeeded", payload: { result: "did it" } });
    expect(follows(ended(at), [], plain).jobs).toHaveLength(1);
  });

  test("without successors nothing follows", () => {
    expect(follows(ended({ pipeline: "p", stepId: "b" }), [], plain, "x").jobs).toEqual([]);
    expect(follows(ended(), [], plain, "x").jobs).toEqual([]);
  });

  test("in an agent's pipeline a text resumes the agent, and silence is an error result", () => {
    const from = ended(tool, agentContext(agentic));
    expect(places(follows(from, [], catalog, "text").jobs)).toEqual(["tool-x/resume=agentic-loop"]);
    const { jobs } = follows(from, []);
    expect(places(jobs)).toEqual(["/=agentic-loop"]);
    expect(jobs[0]?.payload).toMatchObject({
      type: "agentic.tool_result",
      payload: { status: "error", error: { code: "tool_no_event", retryable: false } },
    });
  });
});

describe("contexts", () => {
  const noise = { url: "http://a", content: "C" };

  test("isolated: nothing of step 1 reaches the tool of step 2 but its own correlation (R5)", () => {
    const resume = ended(
      { plugin: "agentic-loop", pipeline: "tool-x", stepId: "resume" },
      agentContext(agentic, noise),
    );
    const { jobs } = follows(resume, [request({ step: 2 })]);
    expect(jobs[0]?.context.body).toEqual({ agentic: { ...agentic, step: 2 } });
    expect(jobs[0]?.context.replyTo).toBe("agentic-loop");
  });

  test("accumulate: everything reaches it, and nulls hide what they name (R5)", () => {
    const all = sampleCatalog(tools, { mode: "accumulate" });
    const from = agentContext(agentic, { ...noise, origin_user: "u" });
    const resume = ended({ plugin: "agentic-loop", pipeline: "tool-x", stepId: "resume" }, from);
    const sent = request({ step: 2, url: null, origin_user: "other" });
    expect(follows(resume, [sent], all).jobs[0]?.context.body).toEqual({
      ...{ url: null, content: "C", origin_user: "u", run_id: "R", step: 2, tool: "x", attempt: 1 },
      agentic: { ...agentic, step: 2 },
    });
  });

  test.each(["isolated", "accumulate"] as const)("%s: a tool cannot change the correlation (R6)", (mode) => {
    const of = sampleCatalog(
      `${tools}
- { name: side, on: x.done, steps: [{ id: a, uses: agentic-loop }] }
- { name: claim, on: x.claim, steps: [{ id: a, uses: agentic-loop, baggage: { agentic.run_id: payload.run_id } }] }`,
      { mode },
    );
    const forged = { agentic: { run_id: "EVIL", step: 9, tool: "y" }, run_id: "EVIL", step: 9, tool: "y" };
    const from = ended(tool, agentContext(agentic));
    for (const type of ["x.done", "x.claim"]) {
      const { jobs } = follows(from, [event(type, forged)], of);
      expect(jobs).toHaveLength(2);
      for (const job of jobs) expect(job.context.body["agentic"]).toEqual(agentic);
      for (const job of jobs) expect(job.context.replyTo).toBe("agentic-loop");
    }
  });

  test("correlation is read from the request's own block, else from its flat keys", () => {
    const block = { v: 1, run_id: "B", step: 3, tool: "x", attempt: 2, workspace_ref: "job:w", junk: 1 };
    const { jobs } = follows(ended({ plugin: "agentic-loop" }), [
      request({ agentic: block }),
      request({ step: "4" }),
    ]);
    const { junk: _, ...kept } = block;
    expect(jobs.map(({ context }) => context.body)).toEqual([
      { agentic: kept },
      { agentic: { ...agentic, step: 4 } },
    ]);
  });

  test("what the agent says at its end carries no step's correlation", () => {
    const from = ended(
      { plugin: "agentic-loop", pipeline: "tool-x", stepId: "resume" },
      agentContext(agentic),
    );
    const { jobs } = follows(from, [event("agent.completed")]);
    expect(places(jobs)).toEqual(["done/tell=notify"]);
    expect(jobs[0]?.context).toMatchObject({ body: {}, replyTo: null });
  });

  const node = (baggage: readonly [string, string][]) => ({
    ...{ id: "s", plugin: "p", with: new Map(), next: [], source: null },
    baggage: new Map(
      baggage.map(([to, from]) => {
        const [source = "", ...path] = from.split(".");
        return [to, { from: source as "payload" | "context", path }] as const;
      }),
    ),
  });

  test("baggage is claimed once, by path, and a missing source fails the job that emitted", () => {
    const from = { id: "c", body: { a: { b: 1 }, flat: 0 }, replyTo: null };
    const claims = node([
      ["a.b", "payload.x"],
      ["a.c", "payload.deep.1.k"],
      ["n", "context.flat"],
      ["flat.x", "payload.x"],
    ]);
    const payload = { x: 2, deep: [0, { k: "v" }] };
    expect(hop(from, { node: claims, payload, mode: "isolated" })).toMatchObject({
      body: { a: { b: 1, c: "v" }, n: 0, flat: 0 },
    });
    expect(hop(from, { node: node([["z", "payload.none"]]), payload, mode: "isolated" })).toMatchObject({
      code: "baggage-missing",
    });
    expect(hop(from, { node: node([]), payload, mode: "isolated" })).toBe(from);
  });

  test("more than 1 MiB is too large", () => {
    const large = hop(
      { id: null, body: {}, replyTo: null },
      { node: node([["a", "payload.a"]]), payload: { a: "x".repeat(1_048_576) }, mode: "isolated" },
    );
    expect(large).toMatchObject({ code: "context-too-large" });
  });

  test.each<[string, JsonObject]>([
    ["{context.a.b}", { value: { n: 1 } }],
    ["n is {context.a.b.n}!", { value: "n is 1!" }],
    ["{payload.t} {context.a.b}", { value: 'text {"n":1}' }],
    ["{context.none}", { missing: "context.none" }],
    ["x {payload.none}", { missing: "payload.none" }],
    ["{other.a} {}", { value: "{other.a} {}" }],
    ["{context.__proto__}", { missing: "context.__proto__" }],
  ])("the template %s", (template, made) => {
    expect(filled(template, { context: { a: { b: { n: 1 } } }, payload: { t: "text" } })).toEqual(made);
  });
});

describe("what is never routed (X2):", () => {
  test("an agent that starts itself", () => {
    const { jobs, dropped } = follows(ended({ plugin: "agentic-loop" }), [event("agentic.start")]);
    expect(jobs).toEqual([]);
    expect(dropped).toEqual([{ event: "agentic.start", target: "start/agent", reason: "self-trigger" }]);
  });

  test("a start that comes out of an agent's pipeline; the agent hears of its tool all the same", () => {
    const { jobs, dropped } = follows(ended(tool, agentContext(agentic)), [
      event("agentic.start", { goal: "g" }),
    ]);
    expect(dropped).toMatchObject([{ reason: "start-inside-agent" }]);
    expect(jobs.map(({ payload }) => payload["type"])).toEqual(["agentic.tool_result"]);
  });

  test("a tool that asks for tools in the agent's name", () => {
    const other = `${tools}- { name: tool-y, on: agentic.tool_request.y, steps: [{ id: tool, uses: y }] }`;
    const forged = request({ tool: "y" }, "agentic.tool_request.y");
    const { jobs, dropped } = follows(
      ended(tool, agentContext(agentic)),
      [forged],
      sampleCatalog(other),
      "text",
    );
    expect(dropped).toMatchObject([{ reason: "request-inside-agent" }]);
    expect(places(jobs)).toEqual(["tool-x/resume=agentic-loop"]);
    expect(jobs[0]?.payload["type"]).toBe("gateway.step.succeeded");
  });

  test.each(["agent.completed", "agent.escalated"])("a tool that says `%s` in the agent's place", (type) => {
    const told = sampleCatalog(`${tools}- { name: end, on: ${type}, steps: [{ id: tell, uses: sink }] }`);
    const forged = follows(ended(tool, agentContext(agentic)), [event(type)], told);
    expect(forged.dropped).toContainEqual({ event: type, target: "end/tell", reason: "end-inside-agent" });
    expect(places(forged.jobs)).toEqual(["tool-x/resume=agentic-loop"]);
    const own = { plugin: "agentic-loop", pipeline: "tool-x", stepId: "resume" };
    expect(places(follows(ended(own, agentContext(agentic)), [event(type)], told).jobs)).toContain(
      "end/tell=sink",
    );
  });

  test("other plugins may follow themselves, unless they are told not to", () => {
    const loop = "[{ name: p, on: again, steps: [{ id: a, uses: it }] }]";
    expect(follows(ended(), [event("again")], sampleCatalog(loop)).jobs).toHaveLength(1);
    const never = sampleCatalog(loop, { hasNoSelfTrigger: () => true });
    expect(follows(ended(), [event("again")], never)).toMatchObject({ jobs: [], dropped: [{}] });
  });

  test("the agent may be the next step of its own pipeline, and start what others do for it", () => {
    const own = sampleCatalog(
      "[{ name: p, on: go, steps: [{ id: a, uses: agentic-loop }, { id: b, uses: agentic-loop }] }]",
    );
    expect(
      follows(ended({ plugin: "agentic-loop", pipeline: "p", stepId: "a" }), [event("x")], own).jobs,
    ).toHaveLength(1);
    expect(follows(ended({ plugin: "mail" }), [event("agentic.start")]).jobs).toHaveLength(1);
  });
});

describe("error results (N1):", () => {
  const failure = (code: string, retry: boolean): JobFailure => ({
    kind: "failed",
    code,
    message: "m".repeat(600),
    retry,
  });
  const ending = (job: Partial<Job>, context = agentContext(agentic)) => ({
    ...ended({ ...tool, attempt: 4, ...job }, context),
    ...{ state: "{}", random: () => 0, backoffMs: 30_000 },
  });

  test.each([
    ["an error document", "tool_failed", true, "failed", "tool_failed", true],
    ["an error document that is final", "tool_failed", false, "failed", "tool_failed", false],
    ["broken output", "tool_broken", true, "failed", "tool_broken", true],
    ["a timeout", "tool_timeout", true, "timed_out", "tool_timeout", true],
    ["a limit", "stdout-too-large", false, "failed", "stdout-too-large", false],
    ["a plugin that is gone", "unknown-plugin", false, "failed", "tool_broken", false],
  ])("%s", (_, code, retry, status, told, retryable) => {
    const outcome = outcomeOf(ending({ id: "j" }), failure(code, retry), catalog);
    expect(outcome).toMatchObject({
      kind: "ended",
      status,
      code,
      jobs: [{ plugin: "agentic-loop", submittedBy: "gateway" }],
    });
    const [job] = outcome.kind === "ended" ? outcome.jobs : [];
    expect(job?.payload).toEqual({
      ...{ type: "agentic.tool_result", event_id: "j.result", source: "gateway" },
      ...{ dedupe_key: "agentic:run:R:step:1:result", timestamp: "1970-01-01T00:00:00.000Z" },
      payload: {
        ...{ run_id: "R", step: 1, tool: "x", attempt: 1, status: "error", result: null },
        error: { code: told, message: "m".repeat(500), retryable },
        completed_at: "1970-01-01T00:00:00.000Z",
      },
    });
  });

  test("a job that died with its gateway", () => {
    expect(crashOutcome(ended({ ...tool, attempt: 3 }, agentContext(agentic)), catalog)).toMatchObject({
      kind: "again",
      at: null,
    });
    expect(crashOutcome(ended({ ...tool, attempt: 4 }, agentContext(agentic)), catalog)).toMatchObject({
      ...{ kind: "ended", status: "dead" },
      jobs: [{ payload: { payload: { error: { code: "tool_dead", retryable: true } } } }],
    });
  });

  test("none while attempts are left, none for the agent's own jobs, none outside an agent's pipeline", () => {
    expect(outcomeOf(ending({ attempt: 1 }), failure("tool_failed", true), catalog)).toEqual({
      ...{ kind: "again", code: "tool_failed", message: "m".repeat(600), at: 30_000 },
    });
    const own = ending({ plugin: "agentic-loop", stepId: "resume" });
    expect(outcomeOf(own, failure("tool_failed", false), catalog)).toMatchObject({ kind: "ended", jobs: [] });
    expect(resultFor(ended(tool), { code: "c", message: "m", retryable: true }, catalog)).toBeUndefined();
  });

  test("the key of a later attempt names it (Q5)", () => {
    const second = ending({}, agentContext({ ...agentic, attempt: 2 }));
    expect(outcomeOf(second, failure("tool_failed", false), catalog)).toMatchObject({
      jobs: [{ dedupeKey: "agentic:run:R:step:1:attempt:2:result" }],
    });
  });

  test("a request that leads nowhere is answered to the agent that made it", () => {
    const { jobs } = follows(ended({ plugin: "agentic-loop" }), [
      request({ tool: "z" }, "agentic.tool_request.z"),
    ]);
    expect(jobs).toMatchObject([
      {
        plugin: "agentic-loop",
        payload: { payload: { tool: "z", error: { code: "tool_unroutable", retryable: false } } },
      },
    ]);
    expect(follows(ended({ plugin: "agentic-loop" }), [event("agentic.tool_request.z")]).jobs).toEqual([]);
  });

  test("a request for the agent itself is answered as leading nowhere", () => {
    const own = sampleCatalog(
      "[{ name: p, on: agentic.tool_request.agentic-loop, steps: [{ id: a, uses: agentic-loop }] }]",
    );
    const sent = request({ tool: "agentic-loop" }, "agentic.tool_request.agentic-loop");
    const { jobs, dropped } = follows(ended({ plugin: "agentic-loop" }), [sent], own);
    expect(dropped).toHaveLength(1);
    expect(jobs).toMatchObject([{ payload: { type: "agentic.tool_result" } }]);
  });

  test("limits of what follows are failures that are final", () => {
    const claims = sampleCatalog(
      "[{ name: p, on: go, steps: [{ id: a, uses: a, baggage: { x: payload.x } }] }]",
    );
    const success = {
      kind: "ok",
      result: undefined,
      events: [event("go")],
      stateUpdates: {},
      logs: [],
    } as const;
    expect(outcomeOf(ending({ attempt: 1 }), success, claims)).toMatchObject({
      kind: "ended",
      code: "baggage-missing",
    });
  });
});

test("the wait before an attempt doubles, is spread, and ends at an hour (Q3)", () => {
  expect([1, 2, 3].map((attempt) => backoff(30_000, attempt, () => 0))).toEqual([30_000, 60_000, 120_000]);
  expect(backoff(30_000, 1, () => 1)).toBe(37_500);
  expect(backoff(30_000, 2, () => 0.5)).toBe(63_750);
  expect(backoff(30_000, 20, () => 1)).toBe(3_600_000);
});

test("state is merged without losing keys of strange names", () => {
  const updates = JSON.parse('{"__proto__":{"a":1},"b":2}') as JsonObject;
  expect(mergedState('{"constructor":1}', updates)).toBe('{"constructor":1,"__proto__":{"a":1},"b":2}');
  expect(mergedState("{}", {})).toBeUndefined();
});
