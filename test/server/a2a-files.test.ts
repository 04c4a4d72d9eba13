// Files that clients of A2A send: kept as they came, named to the run, and given back by their hash.

import { createHash, randomBytes } from "node:crypto";
import type { Part, Task } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { answerTask } from "../../src/server/a2a/answer-task.ts";
import { saidTo, sayAnswer } from "../../src/server/answer-question.ts";
import { beginRun } from "../../src/server/begin-run.ts";
import type { OpenQuestion } from "../../src/server/open-questions.ts";
import { restingRun, standingRun } from "../../src/server/resting-run.ts";
import { somebodyHere } from "../../src/server/scope.ts";
import {
  BINDINGS,
  clientOf,
  data,
  desk,
  ending,
  message,
  rpc,
  send,
  servedDesk,
  started,
  text,
  texts,
} from "./a2a-served.ts";
import { asks, pack, start } from "./sample-pack.ts";
import { type Served, servedParts } from "./served.ts";

/** The clerk also takes pictures and one kind of document. */
const open = desk.replace(
  "      tags: [desk, help]\n",
  "$&      input_modes: [text/plain, image/*, application/pdf]\n",
);

const file = (bytes: Buffer, mediaType: string, filename = ""): Part => ({
  ...{ content: { $case: "raw", value: bytes }, metadata: undefined, filename, mediaType },
});

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const inputOf = async (server: Served, run: string): Promise<string> => {
  const [first] = await server.store.rows(run, { from: 1, to: 1, limit: 1 });
  const fact = first?.facts.find(({ type }) => type === "started");
  return fact?.type === "started" ? fact.input : "";
};

const got = async (server: Served, hash: string): Promise<{ response: Response; bytes: Buffer }> => {
  const response = await fetch(`${server.url}/api/blobs/${hash}`);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

describe.each(BINDINGS)("a file over %s", (binding) => {
  test("is named to the run where it stood, kept byte for byte, and shown by reference", async () => {
    const server = await servedDesk({ script: ending, pack: open });
    const client = await clientOf(server, { binding });
    const bytes = randomBytes(40_000);
    const parts = [text("Before."), file(bytes, "application/pdf", "Bericht ü.pdf"), text("After.")];
    const of = message([...parts, data({ who: "Ada" })]);
    const task = await started(client, of);
    const hash = sha256(bytes);
    expect(await inputOf(server, task.id)).toBe(
      `Before.\n[file Bericht ü.pdf, application/pdf, 40000 bytes: /api/blobs/${hash}]\nAfter.`,
    );
    const { response, bytes: back } = await got(server, hash);
    expect(back.equals(bytes)).toBe(true);
    expect(response.headers.get("content-type")).toBe("application/pdf");
    expect(response.headers.get("content-disposition")).toBe(
      "attachment; filename*=UTF-8''Bericht%20%C3%BC.pdf",
    );
    expect(response.headers.get("content-security-policy")).toContain("sandbox");
    const [first] = (await client.getTask({ tenant: "", id: task.id })).history;
    expect(first?.parts.find(({ content }) => content?.$case === "url")).toMatchObject({
      content: { value: `/api/blobs/${hash}` },
      ...{ filename: "Bericht ü.pdf", mediaType: "application/pdf", metadata: { sha256: hash } },
    });
    const again = await started(client, of);
    expect(again.id).toBe(task.id);
  });
});

test("a file of text is what it says, and can be had as it was sent", async () => {
  const server = await servedDesk({ script: ending });
  const client = await clientOf(server);
  const page = Buffer.from("<script>alert(1)</script>");
  const task = await started(
    client,
    message([file(page, "text/html; charset=utf-8", "a.html"), data({ who: "Ada" })]),
  );
  expect(await inputOf(server, task.id)).toBe("<script>alert(1)</script>");
  const { response, bytes } = await got(server, sha256(page));
  expect(bytes.equals(page)).toBe(true);
  expect(response.headers.get("content-disposition")).toMatch(/^attachment/);
});

test("a picture is taken where the card lists pictures, and refused where it does not", async () => {
  const picture = file(randomBytes(10), "image/png");
  const parts = [picture, data({ who: "Ada" })];
  const server = await servedDesk({ script: ending, pack: open });
  expect((await started(await clientOf(server), message(parts))).id).not.toBe("");
  const plain = await servedDesk({ script: ending });
  await expect(started(await clientOf(plain), message(parts))).rejects.toThrow(/`image\/png` is not taken/);
  expect((await plain.get("/api/runs")).body["items"]).toEqual([]);
});

const wire = (part: JsonObject): JsonObject => ({
  ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
  params: {
    message: { messageId: "m", role: "ROLE_USER", parts: [part, { data: { who: "Ada" } }] },
  },
});

test("what is too large, too much or wrongly named is refused in words, and nothing is kept or started", async () => {
  const server = await servedDesk({ script: ending, pack: open });
  const large = Buffer.alloc(5_000_001, 1);
  const raw = (bytes: Buffer, more: JsonObject = {}): JsonObject => ({
    ...{ raw: bytes.toString("base64"), mediaType: "application/pdf" },
    ...more,
  });
  const said = async (part: JsonObject): Promise<JsonObject> =>
    (await rpc(server, wire(part))).body["error"] as JsonObject;
  expect(await said(raw(large))).toMatchObject({
    code: -32602,
    message: expect.stringContaining("is a file of 5000001 bytes (5000000 are taken at most)"),
  });
  expect(await said(raw(Buffer.from("x"), { filename: "a\r\nb" }))).toMatchObject({ code: -32602 });
  expect(await said(raw(Buffer.from("x"), { mediaType: "image/x\r\ny: z" }))).toMatchObject({ code: -32005 });
  const many = { ...wire({ text: "x" }) };
  const parts = Array.from({ length: 21 }, () => raw(Buffer.from("x")));
  (many["params"] as { message: { parts: unknown } }).message.parts = parts;
  expect((await rpc(server, many)).body["error"]).toMatchObject({
    message: expect.stringContaining("20 files"),
  });
  expect((await server.get("/api/runs")).body["items"]).toEqual([]);
  expect((await got(server, sha256(large))).response.status).toBe(404);
});

test("a file of a start that is rejected, and of a run that is removed, is gone", async () => {
  const server = await servedDesk({ script: ending, pack: open });
  const client = await clientOf(server);
  const bytes = randomBytes(100);
  const rejected = (await client.sendMessage(send(message([file(bytes, "image/png")])))) as Task;
  expect(rejected.id).toMatch(/^rejected-/);
  expect((await got(server, sha256(bytes))).response.status).toBe(404);
  const task = await started(client, message([file(bytes, "image/png"), data({ who: "Ada" })]));
  expect((await got(server, sha256(bytes))).response.status).toBe(200);
  await server.call("DELETE", `/api/runs/${task.id}`);
  expect((await got(server, sha256(bytes))).response.status).toBe(404);
});

test("a file sent to a run that waits for a message is said with it", async () => {
  const talk = { states: { work: [{ text: "Hello?" }, { text: "Seen." }] } };
  const server = await servedDesk({ script: talk, pack: open });
  const client = await clientOf(server);
  const asked = {
    ...send(message([text("Hi."), data({ who: "Ada" })])),
    metadata: { mode: "conversational" },
  };
  const { id: taskId } = (await client.sendMessage(asked)) as Task;
  const picture = randomBytes(20);
  const beside = [file(picture, "image/png"), data({ text: "Look." })];
  const refused = (await client.sendMessage(send(message(beside, { taskId })))) as Task;
  expect(refused.metadata?.["not_taken"]).toMatch(/a file is said with text/);
  await client.sendMessage(send(message([text("Look."), file(picture, "image/png", "p.png")], { taskId })));
  const { history } = await client.getTask({ tenant: "", id: taskId });
  const said = history.find(({ parts }) => texts(parts)[0]?.startsWith("Look."));
  expect(texts(said?.parts)).toEqual([
    `Look.\n[file p.png, image/png, 20 bytes: /api/blobs/${sha256(picture)}]`,
  ]);
  expect(said?.parts.at(-1)?.filename).toBe("p.png");
});

test("a file of an answer that came too late is gone, and does not stand for one that comes under the same id", async () => {
  const parts = await servedParts();
  const loop = pack.replace("Yes: end, No: work", "Yes: end, No: gate");
  const { record } = await beginRun(parts, somebodyHere, { ...start(asks), pack: loop, requestHash: "" });
  const before = await restingRun(parts, record.run, AbortSignal.timeout(60_000));
  const question = before.questions[0] as OpenQuestion;
  const now = { by: "ann", at: parts.clock.now() };
  await sayAnswer(parts, question, saidTo(question, { event: "No" }, now));
  const answer = (word: string, messageId: string) => ({
    message: { ...message([file(Buffer.from(word), "text/plain", `${word}.txt`)]), messageId },
    inputModes: ["text/plain"],
    principal: somebodyHere,
  });
  const late = await answerTask(parts, { seen: before, ...answer("yes", "m") });
  expect(late).toEqual({ kind: "not-taken", why: "somebody else has answered meanwhile" });
  const hash = sha256(Buffer.from("yes"));
  expect(await parts.blobs.find(parts.store, hash, parts.clock.now())).toBeUndefined();
  const seen = await standingRun(parts, record.run);
  expect(await answerTask(parts, { seen, ...answer("no", "m") })).toEqual({ kind: "taken" });
  const kept = parts.blobs.files.ofMessage({ run: record.run, message: "m" });
  expect(kept.map(({ name }) => name)).toEqual(["no.txt"]);
});
