// Fed the recorded responses of another gateway's plugins, ours makes the recorded requests (FX-2).

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { get, isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { gatewayFolder, openGateway } from "./gateway-folder.ts";

const recorded = new URL("../../../shared/gateway/fixtures/feb17/loop/", import.meta.url);
const isAbsent = !existsSync(recorded);

const read = (name: string): JsonObject =>
  JSON.parse(readFileSync(new URL(name, recorded), "utf8")) as JsonObject;

/** Answers with the next of its recorded responses, and keeps what it was asked. */
const player = (folder: string, name: string): string => `#!${process.execPath}
const fs = require("node:fs");
const request = fs.readFileSync(0, "utf8");
const done = fs.readdirSync("${folder}").filter((file) => file.startsWith("asked-"));
const own = done.filter((file) => file.endsWith("-${name}")).length;
fs.writeFileSync("${folder}/asked-" + String(done.length).padStart(3, "0") + "-${name}", request);
const answers = JSON.parse(fs.readFileSync("${folder}/answers-${name}", "utf8"));
process.stdout.write(JSON.stringify(answers[own] ?? { status: "ok" }));
process.exitCode = ${name === "exit3" ? 3 : 0};
`;

/** Without what may differ: ids, times, where files are, what ours adds. */
function comparable(request: JsonObject): Json {
  const { job_id: _j, deadline_at: _d, workspace_dir: _w, payload: _p, context, event, ...rest } = request;
  const { agentic: _a, ...kept } = (context ?? {}) as JsonObject;
  const { event_id: _e, timestamp: _t, payload, ...about } = event as JsonObject;
  const { agentic: _b, ...own } = payload as JsonObject;
  return { ...rest, context: kept, event: { ...about, payload: own } };
}

describe.skipIf(isAbsent)("recorded exchanges of another gateway", () => {
  test("are made again: the loop, its leaks in accumulate mode, two events, and a split", async () => {
    const names = readdirSync(recorded)
      .filter((name) => name.endsWith("-handle.request.json"))
      .toSorted();
    const pairs = names.map((name) => {
      const plugin = /^\d+-(.*)-handle/.exec(name)?.[1] ?? "";
      return {
        number: name.slice(0, 3),
        plugin,
        request: read(name),
        response: read(name.replace("request", "response")),
      };
    });
    const plugins = [...new Set([...pairs.map(({ plugin }) => plugin), "sink2"])];
    const wires = gatewayFolder({});
    const config = parse(readFileSync(new URL("config.yaml", recorded), "utf8")) as JsonObject;
    const { pipelines } = parse(readFileSync(new URL("pipelines.yaml", recorded), "utf8")) as {
      pipelines: JsonObject[];
    };
    // No polls: the recording's requests of events only.
    const entries = {
      "agentic-loop": { config: get(get(get(config, "plugins"), "agentic-loop"), "config") ?? {} },
    };
    const folder = gatewayFolder({
      plugins: Object.fromEntries(plugins.map((name) => [name, player(wires, name)])),
      config: { router: { context: "accumulate" }, plugins: entries },
      pipelines,
    });
    for (const name of plugins) {
      const own = pairs.filter(({ plugin }) => plugin === name);
      const answers = own.map(({ response }) => response);
      // The one request that the recording lacks: after 020 the agent hears of a tool without events.
      if (name === "agentic-loop")
        answers.splice(own.findIndex(({ number }) => number === "019") + 1, 0, { status: "ok" });
      writeFileSync(join(wires, `answers-${name}`), JSON.stringify(answers));
    }
    const opened = openGateway(folder);
    const start = async (number: string, how: () => string) => {
      expect(pairs.some((pair) => pair.number === number)).toBe(true);
      how();
      await opened.settled();
    };
    const payloadOf = (number: string): JsonObject => {
      const payload = get(get(pairs.find((pair) => pair.number === number)?.request, "event"), "payload");
      return isObject(payload) ? payload : {};
    };
    await start("009", () => opened.trigger("start", payloadOf("009")));
    for (const number of ["014", "019", "021"])
      await start(number, () => opened.command("agentic-loop", "handle", payloadOf(number)));
    await start("027", () => opened.trigger("splitter", payloadOf("027")));
    await start("029", () => opened.trigger("exit3", payloadOf("029")));

    const asked = readdirSync(wires)
      .filter((name) => name.startsWith("asked-"))
      .toSorted();
    const requests = asked.map((name) => JSON.parse(readFileSync(join(wires, name), "utf8")) as JsonObject);
    const added = asked.flatMap((name, index) => (isAddition(name, requests[index]) ? [index] : []));
    expect(added.map((index) => asked[index]?.slice("asked-000-".length))).toEqual(["agentic-loop", "sink2"]);
    const ours = requests.filter((_, index) => !added.includes(index));
    const sent = pairs.toSorted((a, b) => (a.number < b.number ? -1 : 1));
    expect(ours.map(comparable)).toEqual(sent.map(({ request }) => comparable(request)));
    expect(opened.jobs().every(({ status }) => status === "succeeded")).toBe(true);
  });
});

const isAddition = (name: string, request: JsonObject | undefined): boolean =>
  name.endsWith("-sink2") || get(get(request, "event"), "type") === "gateway.step.succeeded";
