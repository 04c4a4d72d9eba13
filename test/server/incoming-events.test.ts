// CloudEvents that others send to a run, made by the package of those who made the standard.

import { CloudEvent, HTTP } from "cloudevents";
import { describe, expect, test } from "vitest";
import { served } from "./served.ts";
import { waiting } from "./started-run.ts";

const event = (more: Readonly<Record<string, unknown>> = {}) =>
  new CloudEvent({ type: "com.example.review.No", source: "/reviews/7", id: "e-1", ...more });

const modes = {
  structured: (one: CloudEvent<unknown>) => HTTP.structured(one),
  binary: (one: CloudEvent<unknown>) => HTTP.binary(one),
};

async function waitingRun() {
  const server = await served();
  const run = await waiting(server);
  const send = (one: CloudEvent<unknown>, mode: keyof typeof modes = "structured") => {
    const { headers, body } = modes[mode](one);
    const raw = body === undefined || body === null ? {} : { raw: String(body) };
    return server.call("POST", `/api/runs/${run}/events`, {
      headers: headers as Record<string, string>,
      ...raw,
    });
  };
  return { server, run, send };
}

describe.each(["structured", "binary"] as const)("in %s mode", (mode) => {
  test("the last part of the type is the event, and the data what it says", async () => {
    const { server, run, send } = await waitingRun();
    const data = { context: "look again", artifacts: { note: "dark" } };
    const sent = await send(event({ datacontenttype: "application/json", data }), mode);
    expect(sent.status).toBe(200);
    const trace = (await server.get(`/api/runs/${run}/trace`)).body as unknown as { event: string }[];
    const row = trace.find((one) => one.event === "No");
    expect(row).toMatchObject({ to: "work", by: "/reviews/7", artifacts: { note: "dark" } });
    const { body } = await server.get(`/api/runs/${run}/facts?limit=200`);
    const facts = (body["items"] as { fact: { context?: string } }[]).map(({ fact }) => fact.context);
    expect(facts).toContain("look again");
  });

  test("id and source together are taken once", async () => {
    const { server, run, send } = await waitingRun();
    expect((await send(event(), mode)).body).not.toHaveProperty("ignored");
    await server.until(run, ({ status }) => status === "waiting");
    expect((await send(event(), mode)).body).toMatchObject({ ignored: true });
    expect((await send(event({ source: "/reviews/8" }), mode)).body).not.toHaveProperty("ignored");
    await server.until(run, ({ status }) => status === "waiting");
    expect((await send(event({ id: "e-2" }), mode)).body).not.toHaveProperty("ignored");
  });

  test("packloopevent names the event whatever the type says", async () => {
    const { server, run, send } = await waitingRun();
    const sent = await send(event({ type: "com.example.done", packloopevent: "Yes" }), mode);
    expect(sent.status).toBe(200);
    expect((await server.until(run, ({ status }) => status === "completed")).state).toBe("end");
  });

  test("one that is not allowed is refused like any other", async () => {
    const { send } = await waitingRun();
    const { status, body } = await send(event({ type: "Maybe" }), mode);
    expect([status, body["code"], body["allowed_events"]]).toEqual([409, "event-not-allowed", ["Yes", "No"]]);
  });
});

test("plain text and base64 are the context", async () => {
  const { server, run, send } = await waitingRun();
  await send(event({ datacontenttype: "text/plain", data: "please" }), "binary");
  const facts = (await server.get(`/api/runs/${run}/facts`)).body["items"] as {
    fact: { context?: string };
  }[];
  expect(facts.findLast(({ fact }) => fact.context !== undefined)?.fact.context).toBe("please");
});

test("what is no CloudEvent is refused, and the run stays as it was", async () => {
  const { server, run } = await waitingRun();
  const before = (await server.get(`/api/runs/${run}`)).body;
  const good = { specversion: "1.0", id: "1", source: "s", type: "a.No" };
  const cases: readonly unknown[] = [
    { ...good, specversion: "0.3" },
    { ...good, id: "" },
    { ...good, source: 3 },
    { ...good, type: undefined },
    { ...good, type: "a." },
    { ...good, packloopevent: "" },
    { ...good, data: { context: 3 } },
    { ...good, data: { artifacts: [] } },
    { ...good, data_base64: {} },
    [],
    null,
  ];
  const headers = { "content-type": "application/cloudevents+json" };
  for (const one of cases) {
    const sent = await server.call("POST", `/api/runs/${run}/events`, { headers, raw: JSON.stringify(one) });
    expect([one, sent.status, sent.body["code"]]).toEqual([one, 400, "bad-request"]);
  }
  const broken = await server.call("POST", `/api/runs/${run}/events`, { headers, raw: "{" });
  expect(broken.body["code"]).toBe("bad-json");
  const binary = { "ce-specversion": "1.0", "ce-id": "1", "ce-source": "s", "ce-type": "%E0%A4%A" };
  expect((await server.call("POST", `/api/runs/${run}/events`, { headers: binary })).status).toBe(400);
  const batch = { "content-type": "application/cloudevents-batch+json" };
  expect((await server.call("POST", `/api/runs/${run}/events`, { headers: batch, raw: "[]" })).status).toBe(
    400,
  );
  expect((await server.get(`/api/runs/${run}`)).body).toEqual(before);
});
