// What becomes of single calls on a cassette: faults, attempts, calls that are put off, calls that come again.

import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCassette } from "../../../src/adapter/cassette/cassette.ts";
import { beginCassette } from "../../../src/adapter/cassette/cassette-file.ts";
import { recording } from "../../../src/adapter/cassette/recording.ts";
import { type CallContext, Fault, type ToolAnswer, type ToolPort } from "../../../src/engine/ports.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "packloop-cassette-"));
  file = join(folder, "run.cassette");
  beginCassette(file, { pack: { id: "p", version: "1.0.0" }, host: {}, gated: [] });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const context = (more: Partial<CallContext> = {}): CallContext => ({
  ...{ run: "r", step: 1, key: "r/1", attempt: 1, state: "work", prompt: "p", nth: 0 },
  signal: new AbortController().signal,
  ...more,
});

const model = { call: () => Promise.reject(new Fault("http_400", "too long", { retry: "never" })) };

/** Tools that answer, or throw, in the order given. */
function toolsOf(...answers: readonly (ToolAnswer | Error)[]): ToolPort {
  const left = [...answers];
  return {
    knows: () => true,
    isSafe: () => false,
    call: async () => {
      const next = left.shift();
      if (next === undefined || next instanceof Error) throw next ?? new Error("asked too often");
      return next;
    },
  };
}

const record = (tools: ToolPort, warn: (line: string) => void = () => undefined) =>
  recording({ model, tools }, file, { clean: (value) => value, warn });

const ok = (value: string): ToolAnswer => ({ ok: true, value });

describe("on a cassette", () => {
  test("a provider's error is an error again", async () => {
    const request = {
      ...{ provider: "default", system: "s", messages: [], tools: [], parameters: {} },
      toolChoice: "none" as const,
    };
    await expect(record(toolsOf()).model.call(request, context())).rejects.toThrow("too long");
    await expect(readCassette(file).model.call(request, context())).rejects.toMatchObject({
      code: "http_400",
      message: "too long",
      retry: "never",
    });
  });

  test("of several attempts the last one counts", async () => {
    const tools = record(toolsOf(new Fault("busy", "later", { retry: "later" }), ok("done"))).tools;
    await expect(tools.call("save", {}, context())).rejects.toThrow("later");
    await tools.call("save", {}, context({ attempt: 2 }));
    expect(await readCassette(file).tools.call("save", {}, context())).toEqual(ok("done"));
  });

  test("a call that may have been carried out is in doubt again", async () => {
    const tools = record(toolsOf(new Fault("lost", "no answer", { retry: "unknown" }))).tools;
    await expect(tools.call("save", {}, context())).rejects.toThrow("no answer");
    const replayed = readCassette(file).tools;
    expect(replayed.isSafe("save")).toBe(false);
    await expect(replayed.call("save", {}, context())).rejects.toMatchObject({ retry: "unknown" });
  });

  test("a call that slept answers at once, one that waits for somebody waits again", async () => {
    const later = { deferred: true } as const;
    const tools = record(toolsOf({ ...later, until: 5, handle: 1 }, ok("rested"), later)).tools;
    await tools.call("sleep", {}, context());
    await tools.call("sleep", {}, context({ handle: 1 }));
    await tools.call("order", {}, context({ step: 2 }));
    const replayed = readCassette(file).tools;
    expect(await replayed.call("sleep", {}, context())).toEqual(ok("rested"));
    expect(await replayed.call("order", {}, context({ step: 2 }))).toEqual(later);
  });

  test("a question to a person is asked again, without its time, and has no answer of its own", async () => {
    const asked = { deferred: true, question: "which?", until: 5, handle: 1 } as const;
    await record(toolsOf(asked)).tools.call("ask", {}, context());
    const replayed = readCassette(file).tools;
    expect(await replayed.call("ask", {}, context())).toEqual({ deferred: true, question: "which?" });
    await expect(replayed.call("ask", {}, context({ input: "this" }))).rejects.toThrow(
      "recorded step 1 was never answered",
    );
  });

  test("a call that was given up is not kept", async () => {
    const abort = new AbortController();
    const tools = record(toolsOf(ok("too late"))).tools;
    abort.abort();
    await tools.call("save", {}, context({ signal: abort.signal }));
    expect(readCassette(file).tools.knows("save")).toBe(false);
  });

  test("the same question is answered as often as it was, also when steps have moved", async () => {
    const tools = record(toolsOf(ok("first"), ok("second"))).tools;
    await tools.call("look", {}, context({ step: 3, nth: 0 }));
    await tools.call("look", {}, context({ step: 5, nth: 1 }));
    const replayed = readCassette(file).tools;
    const asked = (step: number, nth: number) => replayed.call("look", {}, context({ step, nth }));
    expect([await asked(3, 0), await asked(5, 1)]).toEqual([ok("first"), ok("second")]);
    expect([await asked(13, 0), await asked(15, 1)]).toEqual([ok("first"), ok("second")]);
    expect(await asked(17, 2)).toEqual(ok("second"));
  });

  test("the same question of two children has the answer of each", async () => {
    const tools = record(toolsOf(ok("first"), ok("second"))).tools;
    await tools.call("look", {}, context({ run: "r_a/3" }));
    await tools.call("look", {}, context({ run: "r_a/5" }));
    const replayed = readCassette(file).tools;
    expect(await replayed.call("look", {}, context({ run: "r_b/3" }))).toEqual(ok("first"));
    expect(await replayed.call("look", {}, context({ run: "r_b/5" }))).toEqual(ok("second"));
  });

  test("after the first question that is not there every other one fails with it", async () => {
    await record(toolsOf(ok("a"))).tools.call("look", { at: 1 }, context());
    const replayed = readCassette(file).tools;
    await expect(replayed.call("look", { at: 2 }, context())).rejects.toThrow(
      "differs at /args/at: `1` became `2`",
    );
    await expect(replayed.call("look", { at: 1 }, context())).rejects.toThrow(
      "differs at /args/at: `1` became `2`",
    );
  });

  test("nothing is added after the file could not be written once", async () => {
    const warnings: string[] = [];
    const tools = record(toolsOf(ok("a"), ok("b")), (line) => warnings.push(line)).tools;
    rmSync(folder, { recursive: true });
    expect(await tools.call("look", {}, context())).toEqual(ok("a"));
    expect(await tools.call("look", {}, context({ step: 2 }))).toEqual(ok("b"));
    expect(warnings).toEqual([`\`${file}\` is not recorded to any more: no such file (the run goes on)`]);
  });
});

test("a cassette that was begun for a run that never started may be begun again", () => {
  const terms = { pack: { id: "q", version: "1.0.0" }, host: {}, gated: ["save"] };
  beginCassette(file, terms);
  expect(readCassette(file).terms).toMatchObject(terms);
  appendFileSync(file, "{}\n");
  expect(() => beginCassette(file, terms)).toThrow("exists already");
});
