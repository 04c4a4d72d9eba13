// A2A 0.3 for those who still speak it, where the server was told to.

import { randomUUID } from "node:crypto";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { clientOf, request, rpc, servedDesk, started } from "./a2a-served.ts";

const NONE = { "a2a-version": "" };

const old = (method: string, params: JsonObject) => ({ jsonrpc: "2.0", id: 1, method, params });

const said = (more: JsonObject = {}): JsonObject => ({
  message: {
    ...{ kind: "message", messageId: randomUUID(), role: "user" },
    parts: [
      { kind: "text", text: "Please." },
      { kind: "data", data: { who: "Ada" } },
    ],
    ...more,
  },
});

test("a client of 0.3 sends, answers and reads in its own words", async () => {
  const server = await servedDesk({ a2aCompat: true });
  const { body } = await rpc(server, old("message/send", said()), NONE);
  const task = body["result"] as unknown as { id: string; kind: string; status: JsonObject };
  expect([task.kind, task.status["state"]]).toEqual(["task", "input-required"]);
  const yes = said({ taskId: task.id, parts: [{ kind: "text", text: "yes" }] });
  const done = await rpc(server, old("message/send", yes), NONE);
  expect(done.body["result"]).toMatchObject({ id: task.id, status: { state: "completed" } });
  const found = await rpc(server, old("tasks/get", { id: task.id }), NONE);
  expect(found.body["result"]).toMatchObject({ kind: "task", status: { state: "completed" } });
  const missing = await rpc(server, old("tasks/get", { id: "none" }), NONE);
  expect(missing.body["error"]).toMatchObject({ code: -32001 });
});

test("the package's own client of 0.3 works with the card it is given", async () => {
  const { url } = await servedDesk({ a2aCompat: true });
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as JsonObject;
  expect(card).toMatchObject({ protocolVersion: "0.3", url: `${url}/a2a/desk/clerk` });
  const legacyCompat = { enabled: true };
  const plain: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete("a2a-version");
    return fetch(input, { ...init, headers });
  };
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl: plain, legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: plain, legacyCompat }),
  }).createFromUrl(url);
  const task = await started(client, request());
  expect(task.status?.state).toBe(6);
});

test("1.0 is spoken beside it", async () => {
  const server = await servedDesk({ a2aCompat: true });
  const task = await started(await clientOf(server));
  expect(task.status?.state).toBe(6);
});

test("0.3 is refused where the server was not told to speak it", async () => {
  const { body } = await rpc(await servedDesk(), old("message/send", said()), NONE);
  expect(body["error"]).toMatchObject({ code: -32009 });
});
