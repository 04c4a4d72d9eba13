// Where processes share a store: a run that moves on leaves no open span behind, and its segments are linked
// across the processes.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readScript } from "../../src/adapter/script/read-script.ts";
import { noTools, scriptedModel } from "../../src/adapter/script/scripted.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { ModelPort } from "../../src/engine/ports.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { digestOf } from "../../src/pack/link.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { Telemetry } from "../../src/telemetry/telemetry.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "../postgres-server.ts";
import { exportedHere } from "./exported.ts";
import { ends, looping, text } from "./looping-pack.ts";

const collector = exportedHere();

describe.skipIf(postgresMissing() !== undefined)("a run in a database", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const clock = systemClock();
  const answers = scriptedModel(readScript({ states: { ...ends, work: [{ event: "Done" }] } }).script, clock);

  /** As another process has it. */
  async function engine(model: ModelPort, options: { takes?: number; idle?: boolean } = {}): Promise<Engine> {
    const store = await openPostgresStore(server.url());
    const portsOf = () => Promise.resolve({ model, tools: noTools });
    return new Engine({ store, clock, portsOf, observer: new Telemetry(), ...options });
  }

  /** Never answers; `asked` resolves when it is asked. */
  function silent() {
    const asked = Promise.withResolvers<void>();
    const call: ModelPort["call"] = (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("given up")));
        asked.resolve();
      });
    return { asked: asked.promise, model: { call } };
  }

  async function begin(one: Engine, id: string): Promise<void> {
    const program = looping();
    const input = { mode: "autonomous", variables: { task: "tides" }, input: "" } as const;
    const request = { id, program, digest: digestOf(program), source: text, setup: {}, input };
    expect((await one.start(request)).kind).toBe("done");
  }

  async function segmentsOf(run: string, count: number) {
    const spans = await collector().segments(run, count);
    const found = spans.filter(({ name }) => name.startsWith("invoke_workflow"));
    return found
      .map(({ attributes, links, spanId }) => ({
        spanId,
        number: Number(attributes["promptpack.segment"]),
        status: attributes["promptpack.status"],
        links: links.map((link) => link.spanId),
      }))
      .sort((a, b) => a.number - b.number);
  }

  test("that another process takes ends its segment here; there it goes on linked to it", async () => {
    const slow = silent();
    await using first = await engine(slow.model);
    await begin(first, "r_moves");
    await slow.asked;
    await server.run("UPDATE packloop.head SET driver = NULL");
    const [lost] = await segmentsOf("r_moves", 1);
    expect(lost).toMatchObject({ number: 1, status: "stopped" });
    await using second = await engine(answers, { takes: 1 });
    await second.drive();
    const [, next] = await segmentsOf("r_moves", 2);
    expect(next).toMatchObject({ number: 2, status: "completed", links: [lost?.spanId] });
    const visits = collector().spans("r_moves");
    expect(visits.filter(({ name }) => name === "invoke_agent Worker")).toHaveLength(2);
  });

  test("that another process ends does not go on here either", async () => {
    const slow = silent();
    await using first = await engine(slow.model);
    await begin(first, "r_ended");
    await slow.asked;
    await using other = await engine(answers, { idle: true });
    await other.submit("r_ended", { type: "cancel", at: clock.now(), by: "alice", reason: "" });
    const [here, there] = await segmentsOf("r_ended", 2);
    expect(here).toMatchObject({ number: 1, status: "stopped" });
    expect(there).toMatchObject({ number: 2, status: "cancelled", links: [here?.spanId] });
  });

  test("that is moved by who does not drive it leaves no open segment with them", async () => {
    await using giver = await engine(answers, { idle: true });
    await begin(giver, "r_given");
    const [given] = await segmentsOf("r_given", 1);
    expect(given).toMatchObject({ number: 1, status: "stopped" });
  });
});
